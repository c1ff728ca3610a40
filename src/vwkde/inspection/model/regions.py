"""Regions of a map: where it comes up to a level."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Box:
    """A part of an image, in pixels: the first row and column, and those after the last."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        """How many pixels it holds."""
        return max(self.bottom - self.top, 0) * max(self.right - self.left, 0)

    def common(self, other: "Box") -> "Box":
        """Return what lies in both; it has no area if they do not meet."""
        return Box(
            max(self.top, other.top),
            max(self.left, other.left),
            min(self.bottom, other.bottom),
            min(self.right, other.right),
        )


@dataclass(frozen=True, eq=False)
class Region:
    """Neighbouring pixels of a map: the box about them, which pixels of it they are, and the largest value there."""

    box: Box
    mask: Mask
    peak: float

    def within(self, box: Box) -> Mask:
        """Return which pixels of a smaller box belong to the region."""
        top, left = self.box.top, self.box.left
        return self.mask[box.top - top : box.bottom - top, box.left - left : box.right - left]

    def on(self, shape: tuple[int, ...]) -> Mask:
        """Return which pixels of the whole map belong to the region."""
        found = np.zeros(shape, dtype=bool)
        found[self.box.top : self.box.bottom, self.box.left : self.box.right] = self.mask
        return found


def near_peak(values: NDArray[np.floating], share: float) -> float:
    """Return the level that is this share of the largest value; below it even where that is negative."""
    peak = float(values.max())
    return peak - (1 - share) * abs(peak)


def find_regions(values: NDArray[np.floating], level: float) -> list[Region]:
    """Return the regions where the values reach the level, the highest first, and of equal ones the larger."""
    labels, count = ndimage.label(values >= level, np.ones((3, 3)))
    peaks = np.atleast_1d(ndimage.maximum(values, labels, range(1, count + 1)))
    places = ndimage.find_objects(labels)
    found = [
        Region(Box(rows.start, columns.start, rows.stop, columns.stop), labels[rows, columns] == place, float(peak))
        for place, (peak, (rows, columns)) in enumerate(zip(peaks, places, strict=True), start=1)
    ]
    return sorted(found, key=lambda region: (-region.peak, -np.count_nonzero(region.mask)))


def box_about(mask: Mask) -> Box:
    """Return the box about all that is true, of no size where nothing is."""
    if not mask.any():
        return Box(0, 0, 0, 0)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return Box(int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1)
