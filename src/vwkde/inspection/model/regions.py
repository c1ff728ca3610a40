"""Regions of a map: where it reaches a level."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Box:
    """A rectangle of pixels in an image.

    Attributes
    ----------
    top, left : int
        The first row and the first column.
    bottom, right : int
        The row after the last, and the column after the last.

    Examples
    --------
    >>> box = Box(top=0, left=0, bottom=4, right=5)
    >>> box.area, box.common(Box(2, 3, 9, 9))
    (20, Box(top=2, left=3, bottom=4, right=5))
    """

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        """The number of pixels."""
        return max(self.bottom - self.top, 0) * max(self.right - self.left, 0)

    def common(self, other: "Box") -> "Box":
        """Return the intersection with another box.

        Parameters
        ----------
        other : Box
            The other box.

        Returns
        -------
        Box
            Of area 0 if the two do not meet.
        """
        return Box(
            max(self.top, other.top),
            max(self.left, other.left),
            min(self.bottom, other.bottom),
            min(self.right, other.right),
        )


@dataclass(frozen=True, eq=False)
class Region:
    """Connected pixels of a map.

    Attributes
    ----------
    box : Box
        The smallest box around the pixels.
    mask : ndarray of bool, of the shape of the box
        True for the pixels of the box that belong to the region.
    peak : float
        The largest value of the map in the region.
    """

    box: Box
    mask: Mask
    peak: float

    def within(self, box: Box) -> Mask:
        """Return which pixels of a smaller box belong to the region.

        Parameters
        ----------
        box : Box
            A box inside the box of the region.

        Returns
        -------
        ndarray of bool, of the shape of that box
        """
        top, left = self.box.top, self.box.left
        return self.mask[box.top - top : box.bottom - top, box.left - left : box.right - left]

    def outlined(self, values: NDArray[np.floating], level: float) -> "Region":
        """Return the part of the region where a map reaches a level, which the peak reaches.

        Parameters
        ----------
        values : ndarray of shape (height, width)
            The map.
        level : float
            A value of the map, at most that of the peak.

        Returns
        -------
        Region
            It need not be connected.
        """
        top, left = self.box.top, self.box.left
        mask = self.mask & (values[top : self.box.bottom, left : self.box.right] >= level)
        part = box_about(mask)
        box = Box(top + part.top, left + part.left, top + part.bottom, left + part.right)
        return Region(box, mask[part.top : part.bottom, part.left : part.right], self.peak)

    def on(self, shape: tuple[int, ...]) -> Mask:
        """Return which pixels of the whole map belong to the region.

        Parameters
        ----------
        shape : tuple of int
            The shape of the map, (height, width).

        Returns
        -------
        ndarray of bool, of that shape
        """
        whole = np.zeros(shape, dtype=bool)
        whole[self.box.top : self.box.bottom, self.box.left : self.box.right] = self.mask
        return whole


def near_peak(values: NDArray[np.floating], share: float) -> float:
    """Return the level at this share of the largest value, and below that value even if it is negative."""
    peak = float(values.max())
    return peak - (1 - share) * abs(peak)


def find_regions(values: NDArray[np.floating], level: float) -> list[Region]:
    """Return the regions where the values reach the level: highest peak first, then the largest."""
    labels, _ = ndimage.label(values >= level, np.ones((3, 3)))
    regions = []
    for place, (rows, columns) in enumerate(ndimage.find_objects(labels), start=1):
        mask = labels[rows, columns] == place
        box = Box(rows.start, columns.start, rows.stop, columns.stop)
        regions.append(Region(box, mask, float(values[rows, columns][mask].max())))
    return sorted(regions, key=lambda region: (-region.peak, -np.count_nonzero(region.mask)))


def outlined_regions(values: NDArray[np.floating], level: float, share: float) -> list[Region]:
    """Return the regions where the values reach the level, each down to this share of the way up to its largest value.

    A strong defect makes the values high far around it; its outline is where they are nearly as high as in its core.
    The way starts at the median of all values: where they are high everywhere, a thin crack is to stay thin. What is
    connected at the level stays one region.
    """
    middle = float(np.median(values))
    return [region.outlined(values, middle + share * (region.peak - middle)) for region in find_regions(values, level)]


def box_about(mask: Mask) -> Box:
    """Return the smallest box around all true pixels; an empty box if there are none."""
    if not mask.any():
        return Box(0, 0, 0, 0)
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return Box(int(rows[0]), int(columns[0]), int(rows[-1]) + 1, int(columns[-1]) + 1)
