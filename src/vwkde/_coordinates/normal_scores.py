"""An invertible map of every column that makes the pooled sample normal.

The map changes neither ratio nor divergence, but skewed and heavy-tailed data become shapes that one bandwidth fits.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from vwkde._compute import parallel
from vwkde._coordinates.whitening import Whitening, whiten_blocks
from vwkde._data.validation import Array
from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]

_TAIL = 0.1
"""The outermost tenth of a column sets the slope of its map beyond the data."""
_FARTHEST = 1e12
"""Values beyond the data farther out than this many widths of that tenth are all alike."""


_MOST_KNOTS = 5_000
"""Knots of a map: more would hardly change it, and looking them up would take longer."""
_ATOM = 1 / _MOST_KNOTS
"""Share of the rows from which a value is always a knot."""


@dataclass(frozen=True)
class NormalScores:
    """One increasing, piecewise linear map per column: its knots and their images."""

    knots: tuple[Floats, ...]
    scores: tuple[Floats, ...]

    def __call__(self, x: Array) -> Floats:
        """Return the points in the new coordinates."""
        result = np.empty((len(x), len(self.knots)))

        def work(rows: slice) -> None:
            columns = np.asarray(x[rows], dtype=np.float64).T
            for number, column in enumerate(zip(columns, self.knots, self.scores, strict=True)):
                result[rows, number] = _interpolate(*column)

        parallel.run_over_rows(work, len(x), parallel.rows_at_a_time(len(self.knots)))
        return result


@dataclass(frozen=True)
class WhitenedScores:
    """Normal scores followed by the affine map that whitens them."""

    scores: Callable[[Array], Floats]
    whitening: Whitening

    def __call__(self, x: Array) -> Floats:
        """Return the points in the new coordinates."""
        return self.whitening(self.scores(x))


def fit_scores_in_blocks(values: Array, weight: Floats, split: int) -> tuple[WhitenedScores, int]:
    """Return the map to normal scores, the columns before `split` and the others whitened separately, and its split."""
    scores = fit_normal_scores(values, values, (weight, weight))
    with without(DegenerateDataWarning):
        whitening, new_split = whiten_blocks(scores(values), weight, split, None)
    return WhitenedScores(scores, whitening), new_split


def fit_normal_scores(numerator: Array, denominator: Array, weights: tuple[Floats, Floats]) -> NormalScores:
    """Return the map from the ranks of the pooled sample, in which both samples have equal weight."""
    weight = np.concatenate([w / w.sum() for w in weights]) / 2
    pairs = list(zip(numerator.T, denominator.T, strict=True))
    columns = parallel.run(lambda pair: _scores(np.concatenate(pair).astype(np.float64), weight), pairs)
    return NormalScores(*(tuple(part) for part in zip(*columns, strict=True)))


def _scores(column: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the distinct values of a column and the normal quantiles of their mid-ranks."""
    order = np.argsort(column)
    values = column[order]
    last = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
    up_to = np.cumsum(weight[order])[last]
    values, mass = values[last], np.diff(up_to, prepend=0.0)
    counts = mass > 0
    values, mass, rank = values[counts], mass[counts], (up_to - mass / 2)[counts]
    if len(values) > _MOST_KNOTS:
        even = np.linspace(0, len(values) - 1, _MOST_KNOTS).astype(np.intp)
        knots = np.union1d(even, np.flatnonzero(mass > _ATOM))
        values, rank = values[knots], rank[knots]
    return values, ndtri(rank)


def _interpolate(x: Floats, knots: Floats, scores: Floats) -> Floats:
    result = np.interp(x, knots, scores)
    if len(knots) == 1:
        return result
    inner = max(1, int(_TAIL * len(knots)))
    for edge, inside, beyond in ((0, inner, x < knots[0]), (-1, -1 - inner, x > knots[-1])):
        with np.errstate(over="ignore"):
            steps = np.minimum((x[beyond] - knots[edge]) / (knots[edge] - knots[inside]), _FARTHEST)
        result[beyond] = scores[edge] + (scores[edge] - scores[inside]) * steps
    return result
