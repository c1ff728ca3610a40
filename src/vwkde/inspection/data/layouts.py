"""What a folder of images means: which images are good, which are to be tested, and where their defects lie.

`recognise` looks at the names in a folder, opens no image, and knows these layouts:

    flat      images directly in the folder: all are good, and the same images are there to be tested, without labels
    folders   good/ and other folders of images: all that are not in good/ are defective
    mvtec     train/good/, test/<defect>/ with test/good/ for the good ones, ground_truth/<defect>/<image>_mask.png
    dagm      <class>/ of good images beside <class>_def/ of defective ones, with ellipses in <class>_def/labels.txt
    dagm-2    Train/ and Test/ with a mask Label/<image>_label.PNG for each image that is defective

Names of folders may be written with capitals or without. Hidden files, and files that are no images, are passed over.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vwkde.inspection.data.images import ImageError, find_images, list_files, list_folders, list_images
from vwkde.inspection.data.masks import MaskFile, MaskSource, read_ellipses

KNOWN_LAYOUTS = {
    "flat": "images directly in the folder",
    "folders": "good/ and folders of defective images",
    "mvtec": "train/good/, test/<defect>/, ground_truth/<defect>/",
    "dagm": "<class>/ beside <class>_def/ with labels.txt",
    "dagm-2": "Train/ and Test/ with Label/",
}
"""The kinds of layout, each with a few words."""

_DEFECTIVE_ENDING = "_def"
"""What the name of a folder of defective images ends in, in DAGM's first release."""

_LABELS = "labels.txt"
"""The file of ellipses in such a folder."""

_NAMES_SHOWN = 3
"""Names that a description gives as examples."""


class LayoutError(ImageError):
    """The images of a folder cannot be told apart; told in one line."""


class UnknownLayoutError(LayoutError):
    """There is no layout that a folder has."""


@dataclass(frozen=True)
class Item:
    """One image: its file, its name in reports, whether it is defective (None: not known), and its mask, if any.

    The name is the path below the folder that was recognised, with slashes. For DAGM's first release, whose two folders
    lie side by side, it is the path below the folder that holds both.
    """

    path: Path
    name: str
    defective: bool | None = None
    mask: MaskSource | None = None


@dataclass(frozen=True)
class Layout:
    """The images of a folder: those to fit on, all good, and those to test."""

    kind: str
    good: tuple[Item, ...]
    test: tuple[Item, ...]

    @property
    def labelled(self) -> bool:
        """Whether it is known of each image to be tested if it is defective."""
        return bool(self.test) and all(item.defective is not None for item in self.test)

    @property
    def without_mask(self) -> tuple[Item, ...]:
        """The defective images that have no mask."""
        return tuple(item for item in self.test if item.defective and item.mask is None)

    def divided(self, share: float, seed: int) -> "Layout":
        """Return a layout in which a random share of the good images is there to be tested, and not to fit on."""
        count = round(share * len(self.good)) if 0 < share < 1 else 0
        if not 0 < count < len(self.good):
            raise LayoutError(
                f"A share of {share:g} of {len(self.good)} good images cannot be set aside for testing: "
                "some must go and some must stay."
            )
        chosen = set(np.random.default_rng(seed).permutation(len(self.good))[:count].tolist())
        moved = (replace(item, defective=False) for index, item in enumerate(self.good) if index in chosen)
        good_paths = {item.path for item in self.good}
        return replace(
            self,
            good=tuple(item for index, item in enumerate(self.good) if index not in chosen),
            test=(*moved, *(item for item in self.test if item.path not in good_paths)),
        )


def recognise(root: Path) -> Layout:
    """Return the images of a folder that holds one layout, or one folder with a layout among its folders."""
    layouts = recognise_all(root)
    if len(layouts) > 1:
        names = _some(list(layouts))
        raise LayoutError(f"{root}: the folder holds {len(layouts)} data sets ({names}); name one of them.")
    return next(iter(layouts.values()))


def recognise_all(root: Path) -> dict[str, Layout]:
    """Return each layout of a folder by its name: that of the folder itself, or those of the classes that it holds."""
    root = Path(os.path.abspath(root))
    if layout := _mvtec(root) or _dagm_second(root) or _folders(root):
        return {root.name: layout}
    if layouts := _classes(root):
        return layouts
    if layout := _dagm_first(root) or _flat(root):
        return {root.name: layout}
    raise UnknownLayoutError(
        f"{root}: no images in a known layout, but {_contents(root)}; known are {_known_layouts()}."
    )


def describe(layout: Layout) -> str:
    """Return a few lines on what was recognised."""
    lines = [f"layout   {layout.kind} ({KNOWN_LAYOUTS[layout.kind]})", f"to fit   {_count(layout.good)}"]
    states = [item.defective for item in layout.test]
    kinds = {"good": states.count(False), "defective": states.count(True), "without label": states.count(None)}
    kinds["with mask"] = sum(item.mask is not None for item in layout.test)
    parts = ", ".join(f"{count} {kind}" for kind, count in kinds.items() if count)
    lines.append(f"to test  {_count(layout.test)}")
    if parts:
        lines.append(f"         {parts}")
    if layout.without_mask:
        lines.append(f"no mask  {_count(layout.without_mask)}")
    return "\n".join(lines)


def _flat(root: Path) -> Layout | None:
    images = list_images(root)
    if not images:
        return None
    items = _items(root, images)
    return Layout("flat", tuple(replace(item, defective=False) for item in items), items)


def _folders(root: Path) -> Layout | None:
    folders = _folders_by_name(root)
    good = folders.get("good")
    if good is None:
        return None
    if list_images(root):
        raise LayoutError(
            f"{root}: there are images in good/ and in the folder itself; move the good ones into good/ and the others "
            "into a folder beside it."
        )
    truth = folders.get("ground_truth")
    others = (folder for folder in list_folders(root) if folder not in (good, truth))
    defective = tuple(item for folder in others for item in _defective_items(root, folder, truth))
    return Layout("folders", _good_items(root, good), defective)


def _mvtec(root: Path) -> Layout | None:
    folders = _folders_by_name(root)
    train = _folders_by_name(folders["train"]) if "train" in folders else {}
    if "good" not in train:
        return None
    truth = folders.get("ground_truth")
    test: list[Item] = []
    for folder in list_folders(folders["test"]) if "test" in folders else ():
        if folder.name.casefold() == "good":
            test += _items(root, list_images(folder), defective=False)
        else:
            test += _defective_items(root, folder, truth)
    return Layout("mvtec", _good_items(root, train["good"]), tuple(test))


def _dagm_second(root: Path) -> Layout | None:
    folders = _folders_by_name(root)
    if not {"train", "test"} <= set(folders):
        return None
    train, test = folders["train"], folders["test"]
    if not any("label" in _folders_by_name(folder) for folder in (train, test)):
        return None
    good = [item for item in _labelled_items(root, train) if not item.defective]
    if not good:
        raise LayoutError(f"{train}: every image has a label, so that there is no good one to fit on.")
    return Layout("dagm-2", tuple(replace(item, defective=False) for item in good), _labelled_items(root, test))


def _dagm_first(root: Path) -> Layout | None:
    """Return the pair of folders that this one belongs to; the defective ones alone are nothing to fit on."""
    if _is_defective(root):
        return Layout("dagm", (), _ellipse_items(root))
    beside = root.parent / (root.name + _DEFECTIVE_ENDING)
    if not beside.is_dir() or not _is_defective(beside):
        return None
    return Layout("dagm", _good_items(root.parent, root), _ellipse_items(beside))


def _classes(root: Path) -> dict[str, Layout]:
    """Return the layouts of a folder's folders, where those are of a kind that comes as one of several classes.

    Folders that may not be read are an error, unless there are images beside them.
    """
    beside_images = bool(list_images(root))
    layouts: dict[str, Layout] = {}
    for folder in list_folders(root):
        if beside_images and not os.access(folder, os.R_OK | os.X_OK):
            continue
        if layout := _mvtec(folder) or _dagm_second(folder):
            layouts[folder.name] = _named_below(root, layout)
        elif not _is_defective(folder) and (layout := _dagm_first(folder)):
            layouts[folder.name] = layout
    if layouts and beside_images:
        raise LayoutError(
            f"{root}: there are images in the folder itself and in its folders ({_some(list(layouts))}); "
            "name one of these, or move the others away."
        )
    return layouts


def _named_below(root: Path, layout: Layout) -> Layout:
    def renamed(items: Iterable[Item]) -> tuple[Item, ...]:
        return tuple(replace(item, name=_name(root, item.path)) for item in items)

    return replace(layout, good=renamed(layout.good), test=renamed(layout.test))


def _items(root: Path, paths: Iterable[Path], defective: bool | None = None) -> tuple[Item, ...]:
    return tuple(Item(path, _name(root, path), defective) for path in paths)


def _good_items(root: Path, folder: Path) -> tuple[Item, ...]:
    return _items(root, find_images(folder), defective=False)


def _defective_items(root: Path, folder: Path, truth: Path | None) -> list[Item]:
    """Return the images of a defect's folder with their masks, which are named <image>_mask or as the image."""
    of_defect = _folders_by_name(truth).get(folder.name.casefold()) if truth else None
    masks = {path.stem.casefold(): MaskFile(path) for path in (list_images(of_defect) if of_defect else ())}
    items = []
    for item in _items(root, list_images(folder), defective=True):
        stem = item.path.stem.casefold()
        items.append(replace(item, mask=masks.get(f"{stem}_mask", masks.get(stem))))
    return items


def _labelled_items(root: Path, folder: Path) -> tuple[Item, ...]:
    """Return the images of a folder: defective with a label image, good without, of unknown kind if there are none."""
    items = _items(root, list_images(folder))
    labels = _folders_by_name(folder).get("label")
    if labels is None:
        return items
    masks = {path.stem.casefold().removesuffix("_label"): path for path in list_images(labels)}
    if alone := set(masks) - {item.path.stem.casefold() for item in items}:
        label = masks[min(alone)]
        raise LayoutError(f"{label}: there is no image for this label; add the image or remove the label.")
    found = [(item, masks.get(item.path.stem.casefold())) for item in items]
    return tuple(replace(item, defective=bool(path), mask=MaskFile(path) if path else None) for item, path in found)


def _ellipse_items(folder: Path) -> tuple[Item, ...]:
    labels = _labels_file(folder)
    masks = read_ellipses(labels) if labels else {}
    items = _items(folder.parent, find_images(folder), defective=True)
    return tuple(replace(item, mask=masks.get(_number(item.path))) for item in items)


def _number(path: Path) -> int | None:
    return int(path.stem) if path.stem.isdecimal() else None


def _is_defective(folder: Path) -> bool:
    return folder.name.casefold().endswith(_DEFECTIVE_ENDING) and _labels_file(folder) is not None


def _labels_file(folder: Path) -> Path | None:
    return next((path for path in list_files(folder) if path.name.casefold() == _LABELS), None)


def _folders_by_name(folder: Path) -> dict[str, Path]:
    return {path.name.casefold(): path for path in list_folders(folder)}


def _name(root: Path, path: Path) -> str:
    return path.relative_to(root).as_posix()


def _contents(folder: Path) -> str:
    """Return in words what a folder holds."""
    folders, files = list_folders(folder), list_files(folder)
    parts = [
        f"{len(paths)} {kind}{'s' * (len(paths) > 1)} ({_some([path.name for path in paths])})"
        for kind, paths in (("folder", folders), ("other file", files))
        if paths
    ]
    return " and ".join(parts) or "nothing at all"


def _known_layouts() -> str:
    return "; ".join(f"{kind}: {words}" for kind, words in KNOWN_LAYOUTS.items())


def _count(items: tuple[Item, ...]) -> str:
    if not items:
        return "no images"
    return f"{len(items):,} image{'s' * (len(items) > 1)}: {_some([item.name for item in items])}"


def _some(names: list[str]) -> str:
    return ", ".join([*names[:_NAMES_SHOWN], "…"] if len(names) > _NAMES_SHOWN else names)
