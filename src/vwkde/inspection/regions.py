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


@dataclass(frozen=True, eq=False)
class Region:
    """Neighbouring pixels of a map, with the largest value among them and the box about them."""

    mask: Mask
    peak: float
    box: Box


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
        Region(labels == place, float(peak), Box(rows.start, columns.start, rows.stop, columns.stop))
        for place, (peak, (rows, columns)) in enumerate(zip(peaks, places, strict=True), start=1)
    ]
    return sorted(found, key=lambda region: (-region.peak, -np.count_nonzero(region.mask)))
