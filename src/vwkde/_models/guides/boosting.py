"""The guide named "boosting": the log odds of boosted trees.

The trees see each column in steps, between quantiles of its values. scikit-learn would find these by itself, but takes
very long to do so for many columns of rows with different weights.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.guides.few_trees import Plan, fit_few_trees
from vwkde._models.guides.kind import Fit
from vwkde._models.guides.many_trees import fit_many_trees

Floats = NDArray[np.float64]

_STEPS, _FINE_STEPS = 63, 255
"""Steps of a column: so few that a tree is grown quickly, and as many as trees of many rows can use."""
_FEW_ROWS, _FEW_COLUMNS = 1_000, 10
"""Rows of both samples, and columns, up to which trees are grown without compiled loops."""
_ROUNDING = 1e-12


BOOSTING = Plan(60, 8, _STEPS)
_LARGER = {
    2_000: (Plan(150, 16, _STEPS),),
    10_000: (Plan(150, 16, _FINE_STEPS), Plan(400, 31, _FINE_STEPS)),
}
"""Larger trees, and more of them, by the rows of the smaller sample from which they may be worth their time."""


@dataclass(frozen=True)
class OnSteps:
    """A guide that sees the number of the step that each value is on; `edges` are those between the steps."""

    edges: tuple[Floats, ...]
    guide: Any

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return self.guide(self.place(x))

    def place(self, x: Floats) -> Floats:
        """Return the steps that the trees see."""
        return _numbers(x, self.edges)


def boosting_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return boosted trees, and more and larger ones if there are many rows."""
    rows = min(numerator.effective_rows, denominator.effective_rows)
    larger = [kinds for fewest, kinds in _LARGER.items() if rows >= fewest]
    return tuple(partial(fit_boosting, kind) for kind in (BOOSTING, *(larger[-1] if larger else ())))


def fit_boosting(plan: Plan, numerator: Sample, denominator: Sample) -> OnSteps:
    """Return the guide from boosted trees; those of few numbers are the same, but need not wait for the compiler."""
    few = len(numerator) + len(denominator) <= _FEW_ROWS and numerator.points.shape[1] <= _FEW_COLUMNS
    return fit_on_steps(partial(fit_few_trees if few else fit_many_trees, plan), plan.steps, numerator, denominator)


def fit_on_steps(fit: Fit, steps: int, numerator: Sample, denominator: Sample) -> OnSteps:
    """Return the guide that is fitted to the numbers of the steps, of which a column has at most so many."""
    samples = numerator, denominator
    weight = np.concatenate([sample.weight / sample.weight.sum() for sample in samples])
    edges = tuple(_edges(column, weight, steps) for column in np.concatenate([sample.points for sample in samples]).T)
    p, q = (replace(sample, points=_numbers(sample.points, edges)) for sample in samples)
    return OnSteps(edges, fit(p, q))


def _edges(column: Floats, weight: Floats, steps: int) -> Floats:
    """Return the midpoints between the values of a column, or quantiles if they are many."""
    values, place = np.unique(column, return_inverse=True)
    if len(values) <= steps:
        return np.asarray((values[1:] + values[:-1]) / 2)
    mass = np.cumsum(np.bincount(place.ravel(), weights=weight))
    wanted = mass[-1] * np.arange(1, steps) / steps
    below, above = (np.searchsorted(mass, wanted * (1 + by)) for by in (-_ROUNDING, _ROUNDING))
    return np.unique((values[below] + values[above]) / 2)


def _numbers(x: Floats, edges: tuple[Floats, ...]) -> Floats:
    columns = [np.searchsorted(each, column) for each, column in zip(edges, x.T, strict=True)]
    return np.column_stack(columns).astype(np.float64)
