"""Which images of a folder are checked."""

from contextlib import suppress
from pathlib import Path

from vwkde.inspection.data.files import find_images
from vwkde.inspection.data.layouts import Item, LayoutError, UnknownLayoutError
from vwkde.inspection.data.named_masks import mask_files
from vwkde.inspection.data.recognise import recognise_all
from vwkde.inspection.runs.earlier import without_overlays

_DIVIDED, _LABELLED = ("mvtec", "dagm-2", "kolektor-2"), ("kolektor", "visa")
"""Layouts that have images to test, and those in which masks are next to all other images."""


def images_to_check(path: Path) -> tuple[Item, ...]:
    """Return the images to check: the test images of a data set, or all of a folder but masks and pictures of runs."""
    if path.is_file():
        return (Item(path, path.name),)
    masks: set[Path] = set()
    with suppress(UnknownLayoutError):
        layouts = recognise_all(path).values()
        if all(layout.kind in _DIVIDED and layout.test for layout in layouts):
            return tuple(item for layout in layouts for item in layout.test)
        if all(layout.kind in _LABELLED for layout in layouts):
            return tuple(item for layout in layouts for item in (*layout.good, *layout.test))
        masks = {path for layout in layouts for item in layout.test for path in mask_files(item)}
    images = [each for each in without_overlays(find_images(path, recursive=True)) if each.absolute() not in masks]
    if not images:
        raise LayoutError(f"{path}: there are only masks, or pictures of earlier runs. Give a folder of images.")
    return tuple(Item(each, each.relative_to(path).as_posix()) for each in images)
