"""Layouts in which every image, good or not, has a mask next to it, or in a tree of its own: Kolektor's and VisA's."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from vwkde.inspection.data.files import list_folders, list_images
from vwkde.inspection.data.layouts import Item, Layout, LayoutError
from vwkde.inspection.data.masks import MaskFile
from vwkde.inspection.data.named_masks import defective_items, folders_by_name, items_of, lone_masks

_ENDINGS = ("_label", "_gt")
"""What follows the name of an image in the name of a mask next to it."""


def kolektor_layout(root: Path) -> Layout | None:
    """Return KolektorSDD: folders of images, each with a mask <image>_label next to it, black if the image is good."""
    if list_images(root):
        return None
    folders = [folder for folder in list_folders(root) if _is_labelled(list_images(folder))]
    if not folders or "train" in folders_by_name(root) or len(folders) < len(list_folders(root)):
        return None
    items = [item for folder in folders for item in _labelled(root, list_images(folder))]
    return Layout("kolektor", *_parts(root, items))


def kolektor_second_layout(root: Path) -> Layout | None:
    """Return KolektorSDD2: train/ and test/ of images, each with a mask <image>_GT next to it."""
    folders = folders_by_name(root)
    if not {"train", "test"} <= set(folders) or not _is_labelled(list_images(folders["train"])):
        return None
    learnt, tested = (_labelled(root, list_images(folders[name])) for name in ("train", "test"))
    return Layout("kolektor-2", _parts(root, learnt)[0], tuple(tested))


def visa_layout(root: Path) -> Layout | None:
    """Return a class of VisA: Data/Images/Normal/, Data/Images/Anomaly/ and Data/Masks/Anomaly/."""
    data = folders_by_name(root).get("data")
    parts = folders_by_name(data) if data is not None else {}
    images = folders_by_name(parts["images"]) if "images" in parts else {}
    if not {"normal", "anomaly"} <= set(images):
        return None
    truth = parts.get("masks")
    bad = defective_items(root, images["anomaly"], truth)
    good = items_of(root, list_images(images["normal"]), defective=False)
    return Layout("visa", good, tuple(bad), lone_masks(root, truth, bad))


def _parts(root: Path, items: Iterable[Item]) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
    """Return the good images and the defective ones."""
    good = tuple(item for item in items if not item.defective)
    if not good:
        raise LayoutError(f"{root}: no image has a black mask, so there is no good image to fit on.")
    return good, tuple(item for item in items if item.defective)


def _is_labelled(paths: list[Path]) -> bool:
    """Return whether images and masks are mixed, a mask for each image."""
    masks = [path for path in paths if _image_of(path) is not None]
    return bool(masks) and 2 * len(masks) == len(paths)


def _labelled(root: Path, paths: list[Path]) -> list[Item]:
    """Return images with their masks: defective if the mask is not black anywhere."""
    masks = {image: MaskFile(path) for path in paths if (image := _image_of(path)) is not None}
    items = []
    for item in items_of(root, (path for path in paths if _image_of(path) is None)):
        mask = masks.get(item.path.stem.casefold())
        if mask is None:
            raise LayoutError(
                f"{item.path}: there is no mask for this image, but for others; add it or move the image."
            )
        is_bad = bool(mask.read().any())
        items.append(replace(item, defective=is_bad, mask=mask if is_bad else None))
    return items


def _image_of(path: Path) -> str | None:
    """Return the name of the image to which a mask belongs; None if this is no mask."""
    stem = path.stem.casefold()
    return next((stem.removesuffix(ending) for ending in _ENDINGS if stem.endswith(ending)), None)
