"""Patches of one size on an image and on smaller copies of it, and how their values become a map of the pixels."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.filters.interpolation import interpolation

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Shape = tuple[int, int]

BLUR = 1.0
"""Standard deviation, in pixels, of the Gaussian that smooths an image before every second pixel is kept."""
TRUNCATE = 3.0
"""Standard deviations after which that Gaussian is cut off."""


@dataclass(frozen=True)
class Pyramid:
    """Square patches on an image, on the image of half the size, and so on.

    A copy is used if its shorter side has room for two patches. Where the image would have too many patches, the first
    copies are left out.

    Parameters
    ----------
    size : int, default=32
        Side of a patch in every copy, in pixels. Patches start half a side apart.
    scales : int, default=4
        Maximum number of copies, counting the image itself.
    most : int, default=4096
        Maximum number of patches of one copy.
    """

    size: int = 32
    scales: int = 4
    most: int = 4_096

    @property
    def surroundings(self) -> bool:
        """Whether a map shows the surroundings of each place, too: a patch shows single peaks."""
        return True

    @property
    def step(self) -> int:
        """Distance between the starts of neighbouring patches, in pixels."""
        return self.size // 2

    def shape(self, image_shape: tuple[int, ...]) -> Shape:
        """Return the number of patches of all copies together, and 1.

        Raises
        ------
        ValueError
            If the shape is not that of a gray image at least as large as a patch.
        """
        return sum(rows * columns for rows, columns in self.grids(image_shape)), 1

    def grids(self, image_shape: tuple[int, ...]) -> list[Shape]:
        """Return the number of rows and of columns of patches on each copy that is used."""
        high, wide = self.padded(image_shape)
        halvings = self.halvings(image_shape)
        return [((high >> k) // self.step - 1, (wide >> k) // self.step - 1) for k in halvings]

    def halvings(self, image_shape: tuple[int, ...]) -> range:
        """Return how often the image is halved for each copy that is used."""
        if len(image_shape) != 2 or min(image_shape) < self.size:
            raise ValueError(
                f"An image must be gray and at least {self.size} × {self.size} pixels. Got shape {image_shape} instead."
            )
        first = 0
        while (image_shape[0] >> first) * (image_shape[1] >> first) > self.most * self.step**2:
            first += 1
        last = first
        while last - first < self.scales - 1 and min(image_shape) >> (last + 1) >= 2 * self.size:
            last += 1
        return range(first, last + 1)

    def padded(self, image_shape: tuple[int, ...]) -> Shape:
        """Return the shape of an image that is extended so that patches fill every copy."""
        unit = self.step << self.halvings(image_shape)[-1]
        high, wide = (max(-(-side // unit), 2) * unit for side in image_shape)
        return high, wide

    def extended(self, image: Singles) -> Singles:
        """Return an image, mirrored at its lower and right edges up to the shape of `padded`."""
        extra = [(0, wanted - side) for wanted, side in zip(self.padded(image.shape), image.shape, strict=True)]
        return np.pad(image, extra, mode="symmetric")

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of pixels: the mean over the copies, each interpolated between the centres of its patches."""
        total = np.zeros(image_shape)
        grids = self.grids(image_shape)
        for k, grid, place in zip(self.halvings(image_shape), grids, places_in_turn(grids), strict=True):
            total += _interpolated(values[place].reshape(grid), image_shape, self.step << k)
        return total / len(grids)

    def places(self, image_shape: tuple[int, ...]) -> list[slice]:
        """Return where the patches of each copy are among all patches."""
        return places_in_turn(self.grids(image_shape))


PYRAMID = Pyramid()
"""The patches of the features named `multiscale`."""


def places_in_turn(grids: Sequence[Shape]) -> list[slice]:
    """Return where the values of each grid are, if those of all grids follow each other."""
    ends = np.cumsum([0, *(rows * columns for rows, columns in grids)])
    return [slice(int(start), int(end)) for start, end in pairwise(ends)]


def halved(image: Singles) -> Singles:
    """Return an image of half the size: smoothed, then every second pixel."""
    rows = ndimage.gaussian_filter1d(image, BLUR, axis=0, mode="mirror", truncate=TRUNCATE)[::2]
    return np.asarray(ndimage.gaussian_filter1d(rows, BLUR, axis=1, mode="mirror", truncate=TRUNCATE)[:, ::2])


def _interpolated(values: Floats, shape: tuple[int, ...], step: int) -> Floats:
    """Return values at patches, `step` apart, at all pixels; the first centre is one step from the edge."""
    along_rows, along_columns = (
        interpolation(side, count, step, 1.0) for side, count in zip(shape, values.shape, strict=True)
    )
    return np.asarray(along_rows @ values @ along_columns.T)
