"""How strongly the marks around a place say that it is part of a defect, learnt from made-up defects.

A weak line that shows in one kind of mark only is as rare as chance; one that shows in several kinds, on several copies
of the image, is not. How much each kind says on which copy depends on the surface. So a logistic regression tells
places of made-up defects from places of good images. It sees the strongest and the mean response over directions, each
by a line that bends at a few values of good images and ends at the last: marks that are stronger than nearly all those
of good images say no more than these. No line falls: a mark never speaks against a defect.

The sum over copies is taken at the cells of the largest copy, so each copy can be weighed at its own cells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.optimize
import scipy.special
from numpy.typing import NDArray

from vwkde.inspection.model.interpolation import enlarged
from vwkde.inspection.model.mark_filters import DIRECTIONS, KINDS
from vwkde.inspection.model.marks import MARKS

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Places = NDArray[np.intp]

_SIGNED = KINDS // 2
_LINES = [1 + 2 * direction for direction in range(DIRECTIONS)]
_EDGES = [2 + 2 * direction for direction in range(DIRECTIONS)]
DIRECTED = (
    _LINES,
    [_SIGNED + line for line in _LINES],
    [*_EDGES, *(_SIGNED + edge for edge in _EDGES)],
)
"""Kinds of marks that differ in direction only: bright lines, dark lines, and edges."""
SINGLE = [kind for kind in range(KINDS) if not any(kind in group for group in DIRECTED)]
"""Kinds of marks without a direction."""
POOLED = 2 * len(DIRECTED) + len(SINGLE)
"""Number of responses of a cell that are weighed."""
_BENDS = 0.5, 0.9, 0.99, 0.999
"""Shares of places of good images that are below the values where lines start, bend and end."""
PIECES = len(_BENDS) - 1
_RIDGE = 1e-3
"""Penalty on the squares of slopes, of columns with unit spread, for each place: many columns say nearly the same."""
_LEAST = 1e-6
"""Minimum spread of a column."""


@dataclass(frozen=True, eq=False)
class Weighing:
    """Where lines bend, (copies, bends, responses), and how steep they are between, (copies, pieces, responses)."""

    bends: Singles
    slopes: Singles

    def __call__(self, standardised: NDArray[np.floating], image_shape: tuple[int, ...]) -> Singles:
        """Return the evidence at the cells of the largest copy, given standardised marks, (kinds, cells)."""
        grids = MARKS.grids(image_shape)
        total = np.zeros(grids[0])
        for number, (cells, grid) in enumerate(zip(MARKS.cells(image_shape), grids, strict=True)):
            responses = pooled(standardised[:, cells])
            parts = _pieces(responses.T, self.bends[number])
            total += enlarged((parts * self.slopes[number]).sum(axis=(1, 2)).reshape(grid), grids[0])
        return total.ravel().astype(np.float32)


def pooled(standardised: NDArray[np.floating]) -> Singles:
    """Return the responses that are weighed, (responses, …), of standardised marks, (kinds, …)."""
    marks = np.arcsinh(standardised.astype(np.float32))
    over_directions = [way(marks[group], axis=0) for group in DIRECTED for way in (np.max, np.mean)]
    return np.concatenate([np.stack(over_directions), marks[SINGLE]])


def parents(cells: Places, image_shape: tuple[int, ...]) -> Places:
    """Return the cell of every copy, (copies, places), that covers the centre of cells of the largest copy."""
    copies, grids = MARKS.cells(image_shape), MARKS.grids(image_shape)
    rows, columns = np.divmod(cells, grids[0][1])
    return np.stack(
        [
            copy.start + np.minimum(rows >> number, grid[0] - 1) * grid[1] + np.minimum(columns >> number, grid[1] - 1)
            for number, (copy, grid) in enumerate(zip(copies, grids, strict=True))
        ]
    )


def fit_weighing(good: Sequence[Singles], defective: Sequence[Singles]) -> Weighing:
    """Return how to weigh marks, given responses at places of good images and of defects.

    Both are (responses, copies, places), one for each image.
    """
    without, within = (np.concatenate(parts, axis=2).transpose(2, 1, 0) for parts in (good, defective))
    bends = np.quantile(without, _BENDS, axis=0).transpose(1, 0, 2).astype(np.float32)
    if not len(within):
        return Weighing(bends, np.zeros((len(bends), PIECES, POOLED), dtype=np.float32))
    places = np.concatenate([without, within])
    columns = np.stack([_pieces(places[:, copy], each) for copy, each in enumerate(bends)], axis=1)
    scale = np.maximum(columns.std(axis=0), _LEAST)
    slopes = _slopes((columns / scale).reshape(len(places), -1), np.repeat([-1.0, 1.0], [len(without), len(within)]))
    return Weighing(bends, (slopes.reshape(scale.shape) / scale).astype(np.float32))


def _slopes(columns: Singles, labels: Floats) -> Floats:
    """Return the slopes, none negative, of the logistic regression of labels, −1 or 1, on columns."""
    signed = np.column_stack([columns, np.ones(len(columns))]) * labels[:, None]

    def loss(slopes: Floats) -> tuple[float, Floats]:
        margin = signed @ slopes
        penalised = np.append(slopes[:-1], 0.0)
        gradient = _RIDGE * penalised - scipy.special.expit(-margin) @ signed / len(signed)
        return float(np.logaddexp(0, -margin).mean() + _RIDGE / 2 * penalised @ penalised), gradient

    bounds = [(0.0, None)] * columns.shape[1] + [(None, None)]
    start = np.zeros(columns.shape[1] + 1)
    settings = {"maxiter": 300, "ftol": 1e-10, "gtol": 1e-7}
    return np.asarray(scipy.optimize.minimize(loss, start, jac=True, bounds=bounds, options=settings).x[:-1])


def _pieces(responses: Singles, bends: Singles) -> Singles:
    """Return how far responses, (places, responses), are along the pieces of lines, (places, pieces, responses)."""
    lower, upper = bends[:-1], bends[1:]
    return np.minimum(np.maximum(responses[:, None] - lower, 0), upper - lower)
