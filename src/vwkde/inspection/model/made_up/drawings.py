"""Some good images with made-up defects, measured as new images are: they show how well a map outlines defects."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.made_up.defects import with_defects

Singles = NDArray[np.float32]
Halves = NDArray[np.float16]
Mask = NDArray[np.bool_]

_DEFECTS = 3
"""Number of defects of a drawing."""
_FIRST, _EVERY = 10, 5
"""There is a drawing on each of the first good images, and on every fifth: a folder may have one kind after another."""
_STREAM = 1
"""Added to the seed of an image: the defects are not those from which weights of marks are learnt."""


@dataclass(frozen=True, eq=False)
class Drawing:
    """What was measured of a good image with made-up defects: features of patches, and marks.

    `where` has a mask for each defect, of the shape at which images are measured.
    """

    features: Singles
    marks: Halves
    where: list[Mask]


def has_drawing(number: int) -> bool:
    """Return whether defects are drawn on a good image, given its number."""
    return number < _FIRST or number % _EVERY == 0


def drawn(image: Singles, number: int) -> tuple[Singles, list[Mask]]:
    """Return a good image with some made-up defects, and where each of them is, given its number."""
    return with_defects(image, np.random.default_rng([number, _STREAM]), _DEFECTS, image)
