"""The marks of made-up defects on a good image, at some of their places."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.made_up.defects import with_defects
from vwkde.inspection.model.made_up.shapes import Random
from vwkde.inspection.model.marks.strengths import CELL, MARKS
from vwkde.inspection.model.marks.weighing import parents

Singles = NDArray[np.float32]
Halves = NDArray[np.float16]

_DEFECTS = 3
"""Number of defects of a drawing."""
_DRAWINGS, _FIRST = 4, 40
"""Number of drawings on each of the first good images; on later ones there is one. Of few images, a single drawing on
each would show too few defects to learn from, and of many, the time counts."""
_PLACES = 150
"""Maximum number of places of a drawing."""
MOST_PLACES = _DRAWINGS * _PLACES
"""Maximum number of places of an image."""


@dataclass(frozen=True, eq=False)
class MadeUpMarks:
    """Marks at places of made-up defects, (kinds, copies, places), and the cells where these are, (copies, places)."""

    marks: Halves
    cells: NDArray[np.intp]


def marks_of_defects(image: Singles, number: int) -> MadeUpMarks:
    """Return the marks at some places of made-up defects on an image, given its number, which is the seed, too."""
    random = np.random.default_rng(number)
    small = MARKS.small(image)
    drawings = [_drawn(small, random) for _ in range(_DRAWINGS if number < _FIRST else 1)]
    marks, cells = (np.concatenate(parts, axis=-1) for parts in zip(*drawings, strict=True))
    order = random.permutation(cells.shape[1])
    return MadeUpMarks(marks[..., order], cells[:, order])


def _drawn(small: Singles, random: Random) -> tuple[Halves, NDArray[np.intp]]:
    """Return the marks at some places of some defects, and the cells where these are."""
    defective, where = with_defects(small, random, _DEFECTS, small)
    inside = [random.permutation(np.flatnonzero(mask[::CELL, ::CELL])) for mask in where]
    each = _PLACES // len(inside)  # a thin line counts as much as a large blob
    cells = parents(np.concatenate([places[:each] for places in inside]), small.shape)
    return MARKS(defective)[:, cells].astype(np.float16), cells
