"""Where the patches of an image are, and how their values become a map of its pixels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PatchGrid:
    """Square patches, each a step from the last; as in the paper, none starts at the very last place.

    An image of 512 pixels a side has 30 × 30 patches of 32 pixels, which start at 0, 16 … 464.
    """

    size: int = 32
    step: int = 16

    def starts(self, side: int) -> NDArray[np.intp]:
        """Return where patches start along a side of so many pixels."""
        return np.arange(0, max(side - self.size, 1), self.step)

    def shape(self, image_shape: tuple[int, ...]) -> tuple[int, int]:
        """Return the numbers of patches, down and across."""
        if len(image_shape) != 2 or min(image_shape) < self.size:
            raise ValueError(
                f"An image must be gray and at least {self.size} pixels a side. Got shape {image_shape} instead."
            )
        return len(self.starts(image_shape[0])), len(self.starts(image_shape[1]))

    def sums(self, values: Floats) -> Floats:
        """Return the sum of an image's values over every patch, (down, across)."""
        table = np.pad(values, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
        tops, lefts = (self.starts(side) for side in values.shape)
        down, across = np.ix_(tops, lefts)
        size = self.size
        inner = table[down + size, across + size] - table[down, across + size] - table[down + size, across]
        return inner + table[down, across]

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of the pixels: each has the mean of the patches over it, or is like the nearest that has one."""
        rows, columns = self.shape(image_shape)
        tops, lefts = self.starts(image_shape[0]), self.starts(image_shape[1])
        along_rows, along_columns = self._covers(tops), self._covers(lefts)
        total = along_rows.T @ values.reshape(rows, columns) @ along_columns
        count = np.outer(along_rows.sum(axis=0), along_columns.sum(axis=0))
        pad = ((0, image_shape[0] - total.shape[0]), (0, image_shape[1] - total.shape[1]))
        return np.pad(total / count, pad, mode="edge")

    def _covers(self, starts: NDArray[np.intp]) -> Floats:
        """Return one where a patch covers a pixel, (patches, pixels up to the last covered)."""
        pixels = np.arange(starts[-1] + self.size)
        return ((pixels >= starts[:, None]) & (pixels < starts[:, None] + self.size)).astype(np.float64)
