"""The layouts that a folder can have, one function each: it returns the layout, or None if the folder has another."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from vwkde.inspection.data.files import find_images, list_files, list_folders, list_images
from vwkde.inspection.data.layouts import Item, Layout, LayoutError
from vwkde.inspection.data.masks import MaskFile, read_ellipses
from vwkde.inspection.data.named_masks import GOOD, defective_items, folders_by_name, items_of, lone_masks

T = TypeVar("T")

_DEFECTIVE_ENDING = "_def"
"""Ending of the name of a folder of defective images, in DAGM's first release."""

_TRUTH, _TESTS = ("ground_truth", "masks", "mask"), ("test", "test_public")
"""Names of folders of masks and of test images; the first one that exists counts."""
_GOOD_TESTS = tuple(name for good in GOOD for name in (f"{good}_test", f"test_{good}"))
"""Names of folders of good images that are tested, not learnt."""

_LABELS = "labels.txt"
"""The file of ellipses in such a folder."""


def flat_layout(root: Path) -> Layout | None:
    """Return images directly in a folder: all are good, and the same images are to be tested, without labels."""
    images = list_images(root)
    if not images:
        return None
    items = items_of(root, images)
    return Layout("flat", tuple(replace(item, defective=False) for item in items), items)


def folders_layout(root: Path) -> Layout | None:
    """Return `good/` next to folders of defective images; also with the names that anomalib's users give them."""
    folders = folders_by_name(root)
    good, truth = _first(folders, GOOD), _first(folders, _TRUTH)
    if good is None:
        return None
    if list_images(root):
        raise LayoutError(
            f"{root}: there are images in {good.name}/ and in the folder itself; move the good ones there and the "
            "others into a folder next to it."
        )
    others = [folder for folder in list_folders(root) if folder not in (good, truth)]
    tested = [item for folder in others for item in _tested_items(root, folder, truth, _GOOD_TESTS)]
    return Layout("folders", _good_items(root, good), tuple(tested), lone_masks(root, truth, tested))


def mvtec_layout(root: Path) -> Layout | None:
    """Return MVTec's train, test and ground truth; also as in BTech, where good is ok, and in MVTec's later sets."""
    folders = folders_by_name(root)
    good = _first(folders_by_name(folders["train"]), GOOD) if "train" in folders else None
    if good is None:
        return None
    tests, truth = _first(folders, _TESTS), _first(folders, _TRUTH)
    if tests is not None and truth is None:
        truth = _first(folders_by_name(tests), _TRUTH)
    kinds = [folder for folder in list_folders(tests) if folder != truth] if tests is not None else []
    test = [item for folder in kinds for item in _tested_items(root, folder, truth, GOOD)]
    return Layout("mvtec", _good_items(root, good), tuple(test), lone_masks(root, truth, test))


def dagm_second_layout(root: Path) -> Layout | None:
    """Return DAGM's second release: training and test images, each with a folder of label images."""
    folders = folders_by_name(root)
    if not {"train", "test"} <= set(folders):
        return None
    train, test = folders["train"], folders["test"]
    if not any("label" in folders_by_name(folder) for folder in (train, test)):
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


def _tested_items(root: Path, folder: Path, truth: Path | None, good: Iterable[str]) -> list[Item]:
    """Return the images of a folder to be tested: good if it has one of these names, otherwise defective."""
    if folder.name.casefold() in good:
        return list(items_of(root, list_images(folder), defective=False))
    return defective_items(root, folder, truth)


def _good_items(root: Path, folder: Path) -> tuple[Item, ...]:
    return items_of(root, find_images(folder), defective=False)


def _labelled_items(root: Path, folder: Path) -> tuple[Item, ...]:
    """Return the images of a folder: defective with a label image, good without, unknown if there are no labels."""
    items = items_of(root, list_images(folder))
    labels = folders_by_name(folder).get("label")
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
    items = items_of(folder.parent, find_images(folder), defective=True)
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
