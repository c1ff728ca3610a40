"""A sample without each of its folds, for models that need only moments.

The moments of all folds but one are those of the folds together. So each row is read once for all of them, where copies
of the other rows would be made for every fold and model.
"""

from dataclasses import dataclass
from functools import reduce
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.moments import WeightedMoments, weighted_moments_of
from vwkde._data.sample import Sample, fourth_power
from vwkde._models.folds import known_folds, known_rows_of_folds

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MANY_ROWS = 50_000
"""Rows from which copies of them take longer than everything else."""
_MOST_ROWS = 50_000
"""Rows that a fourth moment comes from: it tells only how far to shrink a covariance that all rows know well."""


@dataclass(frozen=True, kw_only=True)
class OtherFolds(Sample):
    """A sample without one of its folds, described by moments: it has no points of its own.

    `folds` are those of the rows of the `whole` sample, and `left_out` is the number of that fold.
    """

    whole: Sample
    folds: Ints
    left_out: int
    about: "_About"

    @property
    def total(self) -> int:
        """The number of rows."""
        return self.about.rows

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.about.moments.weight

    @property
    def effective_rows(self) -> float:
        """How many independent, equally weighted rows the sample is worth."""
        return self.total_weight**2 / self.about.squared_weight / self.copies

    @property
    def weighted_moments(self) -> WeightedMoments:
        """The moments of all rows, and their total weight."""
        return self.about.moments

    def fourth_moment(self, mean: Floats, root: Floats) -> float:
        """Return the mean of ‖√weight · (x − mean) · root‖⁴ over the rows, if their weights have mean one.

        It comes from some rows at all distances from the centre, where there are very many.
        """
        whole, every = self.whole, max(1, len(self.whole) // _MOST_ROWS)
        some = slice(None, None, every)
        counted = np.where(self.folds[some] == self.left_out, 0.0, whole.weight[some])
        share = counted.sum() / self.total_weight
        return fourth_power(whole.points[some], counted, mean, root) * self.total / self.total_weight**2 / share


class _About(NamedTuple):
    """The number of some rows, their moments and the sum of their squared weights."""

    rows: int
    moments: WeightedMoments
    squared_weight: float

    def plus(self, other: "_About") -> "_About":
        squared_weight = self.squared_weight + other.squared_weight
        return _About(self.rows + other.rows, self.moments.plus(other.moments), squared_weight)


def moments_suffice(sample: Sample) -> bool:
    """Return whether a sample is large, and moments tell all that Gaussians need of it: not if rows are dependent."""
    dependent = sample.group is not None or sample.pairs is not None
    return not dependent and sample.rest is None and min(len(sample), sample.effective_rows) >= _MANY_ROWS


def without_each_fold(sample: Sample, count: int, seed: int) -> list[OtherFolds]:
    """Return the sample without each of the folds that are dealt with this seed; it remembers their moments."""
    folds = known_folds(sample, count, seed)
    rows_of_folds = known_rows_of_folds(sample, count, seed)
    about = sample.remember(("moments of folds", count, seed), lambda: _about_each(sample, rows_of_folds))
    none = slice(0)
    return [
        OtherFolds(
            sample.points[none],
            sample.weight[none],
            sample.rows[none],
            sample.copies,
            whole=sample,
            folds=folds,
            left_out=number,
            about=reduce(_About.plus, about[:number] + about[number + 1 :]),
        )
        for number in range(count)
    ]


def _about_each(sample: Sample, rows_of_folds: list[Ints]) -> list[_About]:
    size = parallel.rows_at_a_time(sample.points.shape[1])
    blocks = [[rows[part] for part in parallel.split(len(rows), size) or [slice(0)]] for rows in rows_of_folds]
    parts = iter(parallel.run(lambda rows: _about(sample, rows), list(chain(*blocks))))
    return [reduce(_About.plus, islice(parts, len(of_fold))) for of_fold in blocks]


def _about(sample: Sample, rows: Ints) -> _About:
    points, weight = sample.points[rows], sample.weight[rows]
    if not weight.any():
        return _About(len(rows), WeightedMoments(0.0, np.zeros(points.shape[1]), np.zeros((points.shape[1],) * 2)), 0.0)
    return _About(len(rows), weighted_moments_of(points, weight), float(weight @ weight))
