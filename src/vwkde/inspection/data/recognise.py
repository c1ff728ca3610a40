"""What a folder of images means: which images are good, which are to be tested, and where their defects are.

`recognise` looks only at the names in a folder and opens no image, but Kolektor's masks. It knows these layouts, which
include those that anomalib reads:

    flat        images directly in the folder: all are good, and the same images are to be tested, without labels
    folders     good/ (or normal/, ok/) and other folders of images, which are defective, but for good_test/; masks in
                ground_truth/ or masks/
    mvtec       train/good/, test/<defect>/ with test/good/ for the good ones, ground_truth/<defect>/<image>_mask.png,
                or a folder of masks for each image; also BTech's, where good is ok
    visa        Data/Images/Normal/, Data/Images/Anomaly/, Data/Masks/Anomaly/
    kolektor    folders of images, a mask <image>_label next to each, black if it is good
    kolektor-2  train/ and test/ of images, a mask <image>_GT next to each
    dagm        <class>/ of good images next to <class>_def/ of defective ones, with ellipses in <class>_def/labels.txt
    dagm-2      Train/ and Test/ with a mask Label/<image>_label.PNG for each image that is defective

The case of folder names does not matter. Hidden files and files that are not images are skipped.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from vwkde.inspection.data.files import list_files, list_folders, list_images
from vwkde.inspection.data.labelled_layouts import kolektor_layout, kolektor_second_layout, visa_layout
from vwkde.inspection.data.layout_kinds import (
    dagm_first_layout,
    dagm_second_layout,
    flat_layout,
    folders_layout,
    holds_defects,
    mvtec_layout,
)
from vwkde.inspection.data.layouts import KNOWN_LAYOUTS, Item, Layout, LayoutError, UnknownLayoutError, some
from vwkde.inspection.data.named_masks import relative_name


def recognise(root: Path) -> Layout:
    """Return the images of a folder that has one layout, or that contains one folder with a layout."""
    layouts = recognise_all(root)
    if len(layouts) > 1:
        names = some(list(layouts))
        raise LayoutError(f"{root}: the folder contains {len(layouts)} data sets ({names}); choose one of them.")
    return next(iter(layouts.values()))


def recognise_all(root: Path) -> dict[str, Layout]:
    """Return the layouts of a folder by name: that of the folder itself, or those of the classes in it."""
    root = Path(os.path.abspath(root))
    if layout := _one_of_several(root) or folders_layout(root) or kolektor_layout(root):
        return {root.name: layout}
    if layouts := _classes(root):
        return layouts
    if layout := dagm_first_layout(root) or flat_layout(root):
        return {root.name: layout}
    contents = _contents(root)
    found = f"no images in a known layout, but {contents}" if contents else "the folder is empty"
    raise UnknownLayoutError(f"{root}: {found}. The known layouts are: {_known_layouts()}.")


def _one_of_several(root: Path) -> Layout | None:
    """Return the layout of a folder that may be one class of several."""
    kinds = mvtec_layout, dagm_second_layout, kolektor_second_layout, visa_layout
    return next((layout for kind in kinds if (layout := kind(root)) is not None), None)


def _classes(root: Path) -> dict[str, Layout]:
    """Return the layouts of a folder's folders, for the kinds of layout that come as one of several classes.

    A folder that may not be read is an error, except when there are images next to it.
    """
    has_images = bool(list_images(root))
    layouts: dict[str, Layout] = {}
    for folder in list_folders(root):
        if has_images and not os.access(folder, os.R_OK | os.X_OK):
            continue
        if layout := _one_of_several(folder):
            layouts[folder.name] = _named_below(root, layout)
        elif not holds_defects(folder) and (layout := dagm_first_layout(folder)):
            layouts[folder.name] = layout
    if layouts and has_images:
        raise LayoutError(
            f"{root}: there are images in the folder itself and in its folders ({some(list(layouts))}); "
            "choose one of these, or move the other images away."
        )
    return layouts


def _named_below(root: Path, layout: Layout) -> Layout:
    def renamed(items: Iterable[Item]) -> tuple[Item, ...]:
        return tuple(replace(item, name=relative_name(root, item.path)) for item in items)

    return replace(layout, good=renamed(layout.good), test=renamed(layout.test))


def _contents(folder: Path) -> str:
    """Describe the contents of a folder; an empty text if it is empty."""
    folders, files = list_folders(folder), list_files(folder)
    parts = [
        f"{len(paths)} {kind}{'s' * (len(paths) > 1)} ({some([path.name for path in paths])})"
        for kind, paths in (("folder", folders), ("other file", files))
        if paths
    ]
    return " and ".join(parts)


def _known_layouts() -> str:
    return "; ".join(f"{kind}: {words}" for kind, words in KNOWN_LAYOUTS.items())
