"""Single marks on an image and on smaller copies of it: where they are measured, and how they become a map."""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.filters.interpolation import enlarged, shrunk, working_shape
from vwkde.inspection.model.filters.pyramid import halved, places_in_turn
from vwkde.inspection.model.marks.filters import strengths

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Shape = tuple[int, int]

_MOST = 2**16
"""Maximum number of pixels of the largest copy: smaller marks than one of its pixels can hardly be seen."""
_LEAST = 16
"""Minimum length of the shorter side of a copy, in pixels."""
_COPIES = 4
CELL = 2
"""Side of a cell, in pixels of its copy. Of the pixels in a cell, the strongest counts."""
SURROUNDINGS = 12.0
"""Standard deviation, in pixels, of the surroundings whose brightness is subtracted."""
SURROUNDINGS_CUT = 3.0
"""Standard deviations after which surroundings are cut off."""
EVEN = 0.01
"""Added to the contrast of an image before it is divided by it: a few gray levels of 256."""
ASKED = 2_000
"""About how many cells of a copy say what is usual in an image; evenly spaced ones."""
USUAL = 0.5, 0.75
"""Shares of these cells that are below the middle and below the upper end of what is usual."""
LEAST_USUAL = 0.01
"""Minimum distance of these two, in units of the contrast, for images without any detail."""


@dataclass(frozen=True)
class Marks:
    """Cells of two by two pixels, on an image of at most 2¹⁶ pixels and on up to three copies, each half as large."""

    def __call__(self, image: Singles) -> Singles:
        """Return how strong each kind of mark is in every cell of every copy, (kinds, cells), in units of the image."""
        copy = evened(self.small(image))
        cells = []
        for number in range(len(self.shapes(image.shape))):
            copy = halved(copy) if number else copy
            strongest = _strongest(strengths(copy))
            cells.append(_unusual(strongest.reshape(len(strongest), -1)))
        return np.concatenate(cells, axis=1)

    def small(self, image: Singles) -> Singles:
        """Return the largest copy of an image."""
        return shrunk(image.astype(np.float32), self.shapes(image.shape)[0])

    def grids(self, image_shape: tuple[int, ...]) -> list[Shape]:
        """Return the number of rows and of columns of cells on each copy."""
        return [(-(-high // CELL), -(-wide // CELL)) for high, wide in self.shapes(image_shape)]

    def cells(self, image_shape: tuple[int, ...]) -> list[slice]:
        """Return where the cells of each copy are among all cells."""
        return places_in_turn(self.grids(image_shape))

    def spread(self, values: NDArray[np.floating], image_shape: tuple[int, ...]) -> Floats:
        """Return a map of pixels: the mean over the copies, each interpolated between its cells."""
        places = zip(self.cells(image_shape), self.grids(image_shape), strict=True)
        return np.mean([enlarged(values[cells].reshape(grid), image_shape) for cells, grid in places], axis=0)

    def shapes(self, image_shape: tuple[int, ...]) -> list[Shape]:
        """Return the shape of each copy."""
        shapes = [working_shape(image_shape, _MOST)]
        while len(shapes) < _COPIES and min(shapes[-1]) >= 2 * _LEAST:
            high, wide = shapes[-1]
            shapes.append((-(-high // 2), -(-wide // 2)))
        return shapes


MARKS = Marks()


def evened(image: Singles) -> Singles:
    """Return an image without slow changes of brightness, divided by its contrast."""
    detail = image - ndimage.gaussian_filter(image, SURROUNDINGS, mode="mirror", truncate=SURROUNDINGS_CUT)
    return np.asarray(detail / (np.sqrt(np.mean(detail**2)) + EVEN), dtype=np.float32)


def _unusual(cells: Singles) -> Singles:
    """Return how far marks, (kinds, cells), are above the middle of the image, in units of what is usual in it.

    A defect is small, so most of an image says what kind of surface it shows. A coarse and a fine one, or a calm and a
    busy one, thereby become comparable.
    """
    some = cells[:, :: every(cells.shape[1])]
    places = ranks(some.shape[1])
    middle, upper = np.partition(some, places, axis=1)[:, places].T
    return (cells - middle[:, None]) / np.maximum(upper - middle, LEAST_USUAL)[:, None]


def every(count: int) -> int:
    """Return the step through the cells of a copy of which some say what is usual."""
    return max(1, count // ASKED)


def ranks(count: int) -> list[int]:
    """Return the ranks of the middle and of the upper end among some cells."""
    return [int(share * (count - 1)) for share in USUAL]


def _strongest(values: Singles) -> Singles:
    """Return the largest value in every cell of the last two axes; cells at the lower and right edge may be cut."""
    padded = np.pad(values, [(0, 0), *((0, -side % CELL) for side in values.shape[1:])], mode="edge")
    rows = reduce(np.maximum, (padded[:, first::CELL] for first in range(CELL)))
    return reduce(np.maximum, (rows[..., first::CELL] for first in range(CELL)))
