"""Smooth log ratios without each fold, for little more than the price of one.

Gradient and curvature of a log likelihood are sums over rows. At a start that models share they are computed once for
each fold, and each model takes one step of Newton's method by the sums over its own folds. The start has seen the rows
of one fold only. The model without that fold has another start.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._models.folds import draw_rows
from vwkde.weighting._smooth import (
    Samples,
    Slopes,
    SmoothLogRatio,
    fit_smooth,
    fit_start,
    make_problem,
    most_rows,
    ridge_of,
    slopes_at,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_FEWEST_ROWS = 4_000
"""Rows of each sample in a fold from which its start is so good that one step is enough."""
_TRIED_ROWS = 4_000
"""Rows of each sample on which a step must be a gain."""


@dataclass(frozen=True)
class Folds:
    """Two samples, the fold of each of their rows, and the number of folds."""

    samples: Samples
    of_rows: tuple[Ints, Ints]
    count: int

    def without(self, fold: int) -> Samples:
        """Return the rows of all folds but one."""
        return self._part(*(rows != fold for rows in self.of_rows))

    def alone(self, fold: int) -> Samples:
        """Return the rows of one fold."""
        return self._part(*(rows == fold for rows in self.of_rows))

    def _part(self, numerator: NDArray[np.bool_], denominator: NDArray[np.bool_]) -> Samples:
        return self.samples[0].subset(numerator), self.samples[1].subset(denominator)


def fit_smooth_without_folds(folds: Folds) -> list[SmoothLogRatio]:
    """Return, for each fold, the log ratio by the rows of all others."""
    numbers = range(folds.count)
    if min(np.bincount(rows, minlength=folds.count).min() for rows in folds.of_rows) < _FEWEST_ROWS:
        return parallel.run(lambda fold: fit_smooth(*folds.without(fold)), numbers, "guides")
    starts = parallel.run(lambda fold: fit_start(folds.alone(fold), np.random.default_rng(0)), range(2), "guides")
    summed = [(begun, fold) for begun in range(2) for fold in numbers if fold or not begun]
    slopes = dict(zip(summed, parallel.run(lambda each: _slopes(folds, starts[each[0]], each[1]), summed), strict=True))

    def finish(held_out: int) -> SmoothLogRatio:
        begun = int(held_out == 0)
        own = [slopes[begun, fold] for fold in numbers if fold != held_out]
        tried = next(fold for fold in numbers if fold not in (held_out, begun))
        return _one_step(starts[begun], own, folds.alone(tried))

    return parallel.run(finish, numbers)


def _slopes(folds: Folds, start: SmoothLogRatio, fold: int) -> tuple[Slopes, Slopes]:
    """Return the slopes of the rows of a fold, of each sample by itself, at the start."""
    most = most_rows(start.basis) // (folds.count - 1)
    sides = []
    for sample, rows, label in zip(folds.samples, folds.of_rows, (1.0, 0.0), strict=True):
        chosen = draw_rows(np.flatnonzero(rows == fold), most, np.random.default_rng(0))
        terms = start.basis(sample.points[chosen])
        label_of = np.full(len(chosen), label, dtype=np.float32)
        weight = sample.weight[chosen].astype(np.float32)
        sides.append(slopes_at(terms, label_of, weight, start.coefficients.astype(np.float32) @ terms))
    return sides[0], sides[1]


def _one_step(start: SmoothLogRatio, slopes: list[tuple[Slopes, Slopes]], tried: Samples) -> SmoothLogRatio:
    """Return the log ratio one step after the start, by the slopes of several folds, as far as it is a gain."""
    rows = sum(side.rows for fold in slopes for side in fold)
    ridge = ridge_of(len(start.coefficients), rows)
    gradient, curvature = -ridge * start.coefficients, np.diag(ridge)
    for side in zip(*slopes, strict=True):
        share = rows / (2 * sum(each.weight for each in side))  # both samples count the same
        for each in side:
            gradient += share * each.gradient
            curvature += share * each.curvature
    random = np.random.default_rng(0)
    problem = make_problem(start.basis, (tried[0].thinned(_TRIED_ROWS, random), tried[1].thinned(_TRIED_ROWS, random)))
    problem = replace(problem, ridge=ridge * len(problem.label) / rows)
    step = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
    return SmoothLogRatio(start.basis, problem.moved(start.coefficients, step)[0])
