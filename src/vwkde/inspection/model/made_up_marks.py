"""The marks of made-up defects on a good image, at some of their places."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.made_up import with_defects
from vwkde.inspection.model.marks import CELL, MARKS
from vwkde.inspection.model.weighing import parents

Singles = NDArray[np.float32]
Halves = NDArray[np.float16]

_DEFECTS = 3
"""Number of defects of an image."""
PLACES = 150
"""Maximum number of places of an image."""


@dataclass(frozen=True, eq=False)
class MadeUpMarks:
    """Marks at places of made-up defects, (kinds, copies, places), and the cells where these are, (copies, places)."""

    marks: Halves
    cells: NDArray[np.intp]


def marks_of_defects(image: Singles, seed: int) -> MadeUpMarks:
    """Return the marks at some places of made-up defects on an image."""
    random = np.random.default_rng(seed)
    small = MARKS.small(image)
    defective, where = with_defects(small, random, _DEFECTS, small)
    inside = [random.permutation(np.flatnonzero(mask[::CELL, ::CELL])) for mask in where]
    each = PLACES // len(inside)  # a thin line counts as much as a large blob
    cells = parents(random.permutation(np.concatenate([places[:each] for places in inside])), image.shape)
    return MadeUpMarks(MARKS(defective)[:, cells].astype(np.float16), cells)
