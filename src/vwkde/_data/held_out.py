"""A sample without each of its folds, for models that need only moments.

The moments of all folds but one are those of the folds together. So each row is read once for all of them, where copies
of the other rows would be made for every fold and model.
"""

from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.moments import WeightedMoments, weighted_moments_of
from vwkde._data.sample import Sample, fourth_power

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MANY_ROWS = 50_000
"""Rows from which copies of them take longer than everything else."""


@dataclass(frozen=True, kw_only=True)
class OtherFolds(Sample):
    """A sample without one of its folds, described by moments: it has no points of its own.

    `kept` are the rows of the `whole` sample that are in the other folds.
    """

    whole: Sample
    kept: Ints
    moments: WeightedMoments

    @property
    def total(self) -> int:
        """The number of rows."""
        return len(self.kept)

    @property
    def total_weight(self) -> float:
        """The weight of all rows."""
        return self.moments.weight

    @property
    def effective_rows(self) -> float:
        """How many independent, equally weighted rows the sample is worth."""
        weight = self.whole.weight[self.kept]
        return float(self.total_weight**2 / (weight @ weight) / self.copies)

    @property
    def weighted_moments(self) -> WeightedMoments:
        """The moments of all rows, and their total weight."""
        return self.moments

    def fourth_moment(self, mean: Floats, root: Floats) -> float:
        """Return the mean of ‖√weight · (x − mean) · root‖⁴ over the rows, whose weights have mean one."""
        whole, total = self.whole, 0.0
        for part in parallel.split(len(self.kept), parallel.rows_at_a_time(whole.points.shape[1])):
            rows = self.kept[part]
            total += fourth_power(whole.points[rows], whole.weight[rows], mean, root)
        return total * self.total / self.total_weight**2


def moments_suffice(sample: Sample) -> bool:
    """Return whether a sample is large, and moments tell all that Gaussians need of it: not if rows are dependent."""
    dependent = sample.group is not None or sample.pairs is not None
    return not dependent and sample.rest is None and min(len(sample), sample.effective_rows) >= _MANY_ROWS


def without_each_fold(sample: Sample, fold: Ints, count: int) -> list[OtherFolds]:
    """Return the sample without each of its folds."""

    def moments_in(number: int) -> WeightedMoments:
        rows = np.flatnonzero(fold == number)
        return weighted_moments_of(sample.points[rows], sample.weight[rows])

    parts = parallel.run(moments_in, range(count))
    return [
        _without(sample, np.flatnonzero(fold != number), parts[:number] + parts[number + 1 :])
        for number in range(count)
    ]


def _without(sample: Sample, kept: Ints, parts: list[WeightedMoments]) -> OtherFolds:
    none = slice(0)
    return OtherFolds(
        sample.points[none],
        sample.weight[none],
        sample.rows[none],
        sample.copies,
        whole=sample,
        kept=kept,
        moments=reduce(WeightedMoments.plus, parts),
    )
