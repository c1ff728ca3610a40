"""Where the patches of an image are, and how their values become a map of its pixels."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FLAT = 1e-7
"""Below this standard deviation, the values of a patch count as equal: skewness and kurtosis are 0."""


class Grid(Protocol):
    """Where the patches of an image are."""

    def shape(self, image_shape: tuple[int, ...]) -> tuple[int, int]:
        """Return the number of rows and of columns of patches."""

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return values at all patches as a map of the pixels."""


class GridOnCopies(Grid, Protocol):
    """Where the patches of an image and of its copies are."""

    @property
    def surroundings(self) -> bool:
        """Whether a map shows the surroundings of each place, too; False if values at patches are smooth already."""

    def places(self, image_shape: tuple[int, ...]) -> list[slice]:
        """Return where the patches of each copy are among all patches."""


@dataclass(frozen=True)
class PatchGrid:
    """Square patches on a regular grid.

    As in the paper, no patch starts at the last possible place: an image of 512 × 512 pixels has 30 × 30 patches of
    32 pixels, which start at 0, 16, …, 464. No patch covers the last 16 pixels. With `whole`, patches reach the edge.

    Parameters
    ----------
    size : int, default=32
        Side of a patch, in pixels.
    step : int, default=16
        Distance between the starts of neighbouring patches, in pixels.
    whole : bool, default=False
        Whether to add patches that end at the edge.

    Examples
    --------
    >>> from vwkde.inspection import PAPER_GRID
    >>> PAPER_GRID.shape((512, 512))
    (30, 30)
    """

    size: int = 32
    step: int = 16
    whole: bool = False

    def starts(self, side: int) -> NDArray[np.intp]:
        """Return where patches start along a side of the image.

        Parameters
        ----------
        side : int
            Length of the side, in pixels.

        Returns
        -------
        ndarray of int
            The first pixel of each patch.
        """
        last = side - self.size
        starts = np.arange(0, max(last, 1), self.step)
        return np.append(starts, last) if self.whole and last > 0 else starts

    def shape(self, image_shape: tuple[int, ...]) -> tuple[int, int]:
        """Return the number of patches in each direction.

        Parameters
        ----------
        image_shape : tuple of int
            The shape of the image, (height, width).

        Returns
        -------
        tuple of int
            The numbers of rows and of columns of patches.

        Raises
        ------
        ValueError
            If the shape is not that of a gray image at least as large as a patch.
        """
        if len(image_shape) != 2 or min(image_shape) < self.size:
            raise ValueError(
                f"An image must be gray and at least {self.size} × {self.size} pixels. Got shape {image_shape} instead."
            )
        return len(self.starts(image_shape[0])), len(self.starts(image_shape[1]))

    def sums(self, values: Floats) -> Floats:
        """Return the sum of an image's values over every patch, (rows, columns)."""
        table = np.pad(values, ((1, 0), (1, 0))).cumsum(axis=0).cumsum(axis=1)
        tops, lefts = (self.starts(side) for side in values.shape)
        down, across = np.ix_(tops, lefts)
        size = self.size
        inner = table[down + size, across + size] - table[down, across + size] - table[down + size, across]
        return inner + table[down, across]

    def means(self, values: NDArray[np.floating]) -> Floats:
        """Return the mean of an image's values over every patch, (rows, columns)."""
        along_rows, along_columns = (self.covers(self.starts(side)).astype(values.dtype) for side in values.shape)
        inner = along_rows @ values[: along_rows.shape[1], : along_columns.shape[1]] @ along_columns.T
        return inner.astype(np.float64) / self.size**2

    def maxima(self, values: NDArray[np.floating]) -> Floats:
        """Return the largest of an image's values in every patch, (rows, columns)."""
        tops, lefts = (self.starts(side) for side in values.shape)
        by_rows = sliding_window_view(values, self.size, axis=0)[tops].max(axis=-1)
        return sliding_window_view(by_rows, self.size, axis=1)[:, lefts].max(axis=-1).astype(np.float64)

    def moments(self, values: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return mean, standard deviation, skewness and kurtosis over every patch, each (rows, columns)."""
        centre = values.mean()  # central moments from powers of small numbers lose less precision
        first, second, third, fourth = (self.sums((values - centre) ** power) / self.size**2 for power in (1, 2, 3, 4))
        deviation = np.sqrt(np.maximum(second - first**2, 0))
        skew = third - 3 * first * second + 2 * first**3
        kurt = fourth - 4 * first * third + 6 * first**2 * second - 3 * first**4
        flat = deviation <= FLAT
        safe = np.where(flat, 1.0, deviation)
        return first + centre, deviation, np.where(flat, 0, skew / safe**3), np.where(flat, 0, kurt / safe**4)

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of pixels: the mean of the patches over each pixel, extended to pixels that no patch covers."""
        rows, columns = self.shape(image_shape)
        tops, lefts = self.starts(image_shape[0]), self.starts(image_shape[1])
        along_rows, along_columns = self.covers(tops), self.covers(lefts)
        total = along_rows.T @ values.reshape(rows, columns) @ along_columns
        count = np.outer(along_rows.sum(axis=0), along_columns.sum(axis=0))
        pad = ((0, image_shape[0] - total.shape[0]), (0, image_shape[1] - total.shape[1]))
        return np.pad(total / count, pad, mode="edge")

    def covers(self, starts: NDArray[np.intp]) -> Floats:
        """Return one where a patch covers a pixel, (patches, pixels up to the last covered)."""
        pixels = np.arange(starts[-1] + self.size)
        return ((pixels >= starts[:, None]) & (pixels < starts[:, None] + self.size)).astype(np.float64)


PAPER_GRID = PatchGrid()
"""The paper's grid; a function that is given as `features` must return one entry for each of its patches."""
WHOLE_GRID = PatchGrid(whole=True)
