"""The layouts that a folder can have, one function each: it returns the layout, or None if the folder has another."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from vwkde.inspection.data.files import find_images, list_files, list_folders, list_images
from vwkde.inspection.data.layouts import Item, Layout, LayoutError
from vwkde.inspection.data.masks import MaskFile, read_ellipses

T = TypeVar("T")

_DEFECTIVE_ENDING = "_def"
"""Ending of the name of a folder of defective images, in DAGM's first release."""

_GOOD, _TRUTH = ("good", "normal", "ok"), ("ground_truth", "masks", "mask")
"""Names of folders of good images and of masks; the first one that exists counts."""
_MASK_ENDINGS = ("_mask", "", "_label", "_gt")
"""What may follow the name of an image in the name of its mask."""

_LABELS = "labels.txt"
"""The file of ellipses in such a folder."""


def flat_layout(root: Path) -> Layout | None:
    """Return images directly in a folder: all are good, and the same images are to be tested, without labels."""
    images = list_images(root)
    if not images:
        return None
    items = _items(root, images)
    return Layout("flat", tuple(replace(item, defective=False) for item in items), items)


def folders_layout(root: Path) -> Layout | None:
    """Return `good/` next to folders of defective images; also with the names that anomalib's users give them."""
    folders = _folders_by_name(root)
    good, truth = _first(folders, _GOOD), _first(folders, _TRUTH)
    if good is None:
        return None
    if list_images(root):
        raise LayoutError(
            f"{root}: there are images in {good.name}/ and in the folder itself; move the good ones there and the "
            "others into a folder next to it."
        )
    others = (folder for folder in list_folders(root) if folder not in (good, truth))
    defective = tuple(item for folder in others for item in _defective_items(root, folder, truth))
    return Layout("folders", _good_items(root, good), defective, _lone_masks(root, truth, defective))


def mvtec_layout(root: Path) -> Layout | None:
    """Return MVTec's train, test and ground truth."""
    folders = _folders_by_name(root)
    train = _folders_by_name(folders["train"]) if "train" in folders else {}
    if "good" not in train:
        return None
    truth = _first(folders, _TRUTH)
    test: list[Item] = []
    for folder in list_folders(folders["test"]) if "test" in folders else ():
        if folder.name.casefold() == "good":
            test += _items(root, list_images(folder), defective=False)
        else:
            test += _defective_items(root, folder, truth)
    return Layout("mvtec", _good_items(root, train["good"]), tuple(test), _lone_masks(root, truth, test))


def dagm_second_layout(root: Path) -> Layout | None:
    """Return DAGM's second release: training and test images, each with a folder of label images."""
    folders = _folders_by_name(root)
    if not {"train", "test"} <= set(folders):
        return None
    train, test = folders["train"], folders["test"]
    if not any("label" in _folders_by_name(folder) for folder in (train, test)):
        return None
    good = [item for item in _labelled_items(root, train) if not item.defective]
    if not good:
        raise LayoutError(f"{train}: every image has a label, so there is no good image to fit on.")
    return Layout("dagm-2", tuple(replace(item, defective=False) for item in good), _labelled_items(root, test))


def dagm_first_layout(root: Path) -> Layout | None:
    """Return DAGM's first release: the pair of folders that this one belongs to.

    A folder of defective images gives no images to fit on.
    """
    if holds_defects(root):
        return Layout("dagm", (), _ellipse_items(root))
    defective = root.parent / (root.name + _DEFECTIVE_ENDING)
    if not defective.is_dir() or not holds_defects(defective):
        return None
    return Layout("dagm", _good_items(root.parent, root), _ellipse_items(defective))


def _items(root: Path, paths: Iterable[Path], defective: bool | None = None) -> tuple[Item, ...]:
    return tuple(Item(path, relative_name(root, path), defective) for path in paths)


def _good_items(root: Path, folder: Path) -> tuple[Item, ...]:
    return _items(root, find_images(folder), defective=False)


def _defective_items(root: Path, folder: Path, truth: Path | None) -> list[Item]:
    """Return the images of a defect's folder with their masks, which are named <image>_mask, say, or like the image.

    Masks are in a folder of the defect's name or, if there is none, all in one.
    """
    of_defect = _folders_by_name(truth).get(folder.name.casefold(), truth) if truth else None
    masks = {path.stem.casefold(): MaskFile(path) for path in (list_images(of_defect) if of_defect else ())}
    items = []
    for item in _items(root, list_images(folder), defective=True):
        stem = item.path.stem.casefold()
        items.append(replace(item, mask=_first(masks, [f"{stem}{ending}" for ending in _MASK_ENDINGS])))
    return items


def _lone_masks(root: Path, truth: Path | None, items: Iterable[Item]) -> tuple[str, ...]:
    """Return the masks that belong to no image; those of good images are not looked at."""
    used = {item.mask.path for item in items if isinstance(item.mask, MaskFile)}
    folders = [truth, *(each for each in list_folders(truth) if each.name.casefold() != "good")] if truth else []
    return tuple(relative_name(root, path) for each in folders for path in list_images(each) if path not in used)


def _labelled_items(root: Path, folder: Path) -> tuple[Item, ...]:
    """Return the images of a folder: defective with a label image, good without, unknown if there are no labels."""
    items = _items(root, list_images(folder))
    labels = _folders_by_name(folder).get("label")
    if labels is None:
        return items
    masks = {path.stem.casefold().removesuffix("_label"): path for path in list_images(labels)}
    if alone := set(masks) - {item.path.stem.casefold() for item in items}:
        label = masks[min(alone)]
        raise LayoutError(f"{label}: there is no image for this label; add the image or remove the label.")
    pairs = [(item, masks.get(item.path.stem.casefold())) for item in items]
    return tuple(replace(item, defective=bool(path), mask=MaskFile(path) if path else None) for item, path in pairs)


def _ellipse_items(folder: Path) -> tuple[Item, ...]:
    labels = _labels_file(folder)
    masks = read_ellipses(labels) if labels else {}
    items = _items(folder.parent, find_images(folder), defective=True)
    return tuple(replace(item, mask=masks.get(_number(item.path))) for item in items)


def _number(path: Path) -> int | None:
    return int(path.stem) if path.stem.isdecimal() else None


def holds_defects(folder: Path) -> bool:
    """Return whether a folder contains the defective images of a class in DAGM's first release."""
    return folder.name.casefold().endswith(_DEFECTIVE_ENDING) and _labels_file(folder) is not None


def _labels_file(folder: Path) -> Path | None:
    return next((path for path in list_files(folder) if path.name.casefold() == _LABELS), None)


def _first(found: Mapping[str, T], names: Iterable[str]) -> T | None:
    """Return the first of these names that there is."""
    return next((found[name] for name in names if name in found), None)


def _folders_by_name(folder: Path) -> dict[str, Path]:
    return {path.name.casefold(): path for path in list_folders(folder)}


def relative_name(root: Path, path: Path) -> str:
    """Return the name of an image in reports."""
    return path.relative_to(root).as_posix()
