"""The features named `combined` and `trained`: texture on several copies of an image, and single marks.

The texture of patches is that of `multiscale`. It shows changes of the grain, but hides a thin crack in the mean over a
patch. Single marks show such cracks, and take into account where on a part they are. Large images are measured at a
smaller size.
"""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.features.multiscale import MultiScale
from vwkde.inspection.model.features.patches import Grid, GridOnCopies
from vwkde.inspection.model.filters.interpolation import enlarged, shrunk, working_shape
from vwkde.inspection.model.filters.pyramid import PYRAMID
from vwkde.inspection.model.made_up.drawings import drawn
from vwkde.inspection.model.marks.made_up import MadeUpMarks, marks_of_defects
from vwkde.inspection.model.marks.strengths import MARKS

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Shape = tuple[int, int]

_MOST = 2**18
"""Maximum number of pixels at which an image is measured, for example 512 × 512."""
_TEXTURE = MultiScale()


@dataclass(frozen=True)
class ShrunkGrid:
    """Patches on an image that was made smaller, by default those of `multiscale`."""

    patches: Grid = PYRAMID

    def shape(self, image_shape: tuple[int, ...]) -> Shape:
        """Return the number of rows and of columns of patches."""
        return self.patches.shape(working(image_shape))

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of pixels."""
        return enlarged(self.patches.spread(values, working(image_shape)), image_shape)


@dataclass(frozen=True)
class Marking:
    """Where and how single marks are measured; `patches` are those whose map is joined with that of marks."""

    patches: GridOnCopies = field(default=PYRAMID, kw_only=True)

    def __call__(self, image: Singles) -> Singles:
        """Return how strong each kind of mark is in every cell, (kinds, cells)."""
        return MARKS(shrunk(image, working(image.shape)))

    def made_up(self, image: Singles, number: int) -> MadeUpMarks:
        """Return the marks of some made-up defects on an image, given its number among all good images."""
        return marks_of_defects(shrunk(image, working(image.shape)), number)

    def drawn(self, image: Singles, number: int) -> tuple[Singles, list[Mask]]:
        """Return an image with made-up defects, at the size at which it is measured, and where each of them is."""
        return drawn(shrunk(image, working(image.shape)), number)

    def small(self, image: Singles) -> Singles:
        """Return an image at the size of the largest copy of marks, at which trained networks see it."""
        return MARKS.small(shrunk(image, working(image.shape)))

    def shape(self, image_shape: tuple[int, ...]) -> Shape:
        """Return the shape at which images of this shape are measured."""
        return working(image_shape)

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of the shape at which an image was measured, as one of its pixels."""
        return enlarged(values, image_shape)


@dataclass(frozen=True)
class Combined:
    """The features of `multiscale`, and single marks, of an image of at most 2¹⁸ pixels.

    If it is `trained`, networks are trained on good images with made-up defects as well.
    """

    components: int | None = _TEXTURE.components
    worst: int | None = _TEXTURE.worst
    scaled: bool = _TEXTURE.scaled
    grid: ShrunkGrid = ShrunkGrid()
    marking: Marking = Marking()
    trained: bool = False

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, as `multiscale` does."""
        return _TEXTURE(shrunk(image, working(image.shape)))


def working(image_shape: tuple[int, ...]) -> Shape:
    """Return the shape at which images of this shape are measured."""
    return working_shape(image_shape, _MOST)
