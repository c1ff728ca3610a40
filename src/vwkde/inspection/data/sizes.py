"""The sizes of image files: whether they have one size, and which size suits them all if not."""

from collections import Counter
from collections.abc import Sequence
from statistics import median

from vwkde._runtime.progress import track
from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.images import read_shape
from vwkde.inspection.data.layouts import Item

_NEARLY_ALL = 0.9
"""If this share of the images has one size, the others are mistakes."""


def size_for_all(items: Sequence[Item]) -> tuple[int, int] | None:
    """Return the median height and width of image files of different sizes; None if nearly all have one size.

    Only headers are read. Files that cannot be read do not count.
    """
    shapes: Counter[tuple[int, int]] = Counter()
    for item in track(items, "reading sizes", len(items)):
        try:
            shapes[read_shape(item.path)] += 1
        except ImageError:  # reported later, when the image is read
            continue
    if not shapes or max(shapes.values()) >= _NEARLY_ALL * shapes.total():
        return None
    heights, widths = zip(*shapes.elements(), strict=True)
    return round(median(heights)), round(median(widths))
