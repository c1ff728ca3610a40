"""The masks of images: files that are named like the images, or a folder of masks for each image."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from vwkde.inspection.data.files import list_folders, list_images
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.data.masks import MaskFile, MaskSource, MaskUnion

GOOD = ("good", "normal", "ok")
"""Names of folders of good images."""
_ENDINGS = ("_mask", "", "_label", "_gt")
"""What may follow the name of an image in the name of its mask."""


def items_of(root: Path, paths: Iterable[Path], defective: bool | None = None) -> tuple[Item, ...]:
    """Return images, with names below a folder."""
    return tuple(Item(path, relative_name(root, path), defective) for path in paths)


def defective_items(root: Path, folder: Path, truth: Path | None) -> list[Item]:
    """Return the images of a defect's folder with their masks, which are named <image>_mask, say, or like the image.

    Masks are in a folder of the defect's name or, if there is none, all in one. There may be a folder for each image.
    """
    of_defect = folders_by_name(truth).get(folder.name.casefold(), truth) if truth else None
    masks = _masks_in(of_defect) if of_defect else {}
    items = items_of(root, list_images(folder), defective=True)
    return [replace(item, mask=mask_named(item.path, masks)) for item in items]


def mask_named(path: Path, masks: Mapping[str, MaskSource]) -> MaskSource | None:
    """Return the mask that is named like an image, of masks by their names without suffix."""
    stem = path.stem.casefold()
    return next((masks[name] for name in (f"{stem}{ending}" for ending in _ENDINGS) if name in masks), None)


def lone_masks(root: Path, truth: Path | None, items: Iterable[Item]) -> tuple[str, ...]:
    """Return the masks that belong to no image; those of good images are not looked at."""
    used = {path for item in items for path in mask_files(item)}
    folders = [truth, *(each for each in list_folders(truth) if each.name.casefold() not in GOOD)] if truth else []
    return tuple(relative_name(root, path) for each in folders for path in list_images(each) if path not in used)


def mask_files(item: Item) -> list[Path]:
    """Return the files of the mask of an image, if it is in files."""
    parts = item.mask.parts if isinstance(item.mask, MaskUnion) else (item.mask,)
    return [part.path for part in parts if isinstance(part, MaskFile)]


def folders_by_name(folder: Path) -> dict[str, Path]:
    """Return the folders in a folder by their names in lower case."""
    return {path.name.casefold(): path for path in list_folders(folder)}


def relative_name(root: Path, path: Path) -> str:
    """Return the name of an image in reports."""
    return path.relative_to(root).as_posix()


def _masks_in(folder: Path) -> dict[str, MaskSource]:
    masks: dict[str, MaskSource] = {
        each.name.casefold(): MaskUnion(tuple(MaskFile(path) for path in files))
        for each in list_folders(folder)
        if (files := list_images(each))
    }
    return masks | {path.stem.casefold(): MaskFile(path) for path in list_images(folder)}
