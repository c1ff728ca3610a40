"""The columns of two tables side by side, as the tests and the pictures see them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from vwkde._data.ranks import mean_ranks

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MOST_BINS = 64
"""Bins of a column of numbers: so many that its test loses nothing by them."""
_COARSE = 8
"""Bins of the statistic that looks at the shape, not at the order."""
_MOST_LEVELS = 30
"""Categories of a column that are told apart; rarer ones count together."""
_FEATURE_LEVELS = 5
"""Categories of a column whose dependence on other columns is followed."""


@dataclass(frozen=True)
class Column:
    """One column of both tables: numbers, or the numbers of categories; NaN where a value is missing."""

    name: str
    reference: Floats
    current: Floats
    levels: tuple[str, ...] = ()

    @property
    def is_category(self) -> bool:
        """Whether the values are numbers of categories."""
        return bool(self.levels)

    @property
    def pooled(self) -> Floats:
        """The values of both tables, those of the reference first."""
        return np.concatenate([self.reference, self.current])

    def part(self, reference: Ints, current: Ints) -> "Column":
        """Return the same with some rows of each table."""
        return Column(self.name, self.reference[reference], self.current[current], self.levels)


@dataclass(frozen=True)
class Bins:
    """The bin of each pooled row; missing values have the last bin. `coarse` are fewer, wider bins."""

    codes: Ints
    coarse: Ints
    ordered: bool


def bins_of(column: Column) -> Bins:
    """Return the bins of the pooled rows of a column. They do not depend on which row is in which table."""
    values = column.pooled
    missing = np.isnan(values)
    if column.is_category:
        codes = _by_frequency(values, missing)
        return Bins(codes, codes, ordered=False)
    codes, coarse = (_quantile_bins(values, missing, count) for count in (_MOST_BINS, _COARSE))
    return Bins(codes, coarse, ordered=True)


def _by_frequency(values: Floats, missing: NDArray[np.bool_]) -> Ints:
    """Return categories numbered from the most common one; the rarest share a number, missing values have the last."""
    levels, place, counts = np.unique(values[~missing], return_inverse=True, return_counts=True)
    rank = np.empty(len(levels), dtype=np.intp)
    rank[np.argsort(-counts, kind="stable")] = np.arange(len(levels))
    codes = np.full(len(values), min(len(levels), _MOST_LEVELS))
    codes[~missing] = np.minimum(rank, _MOST_LEVELS - 1)[place.ravel()]
    return codes


def _quantile_bins(values: Floats, missing: NDArray[np.bool_], count: int) -> Ints:
    present = values[~missing]
    levels = np.unique(present)
    if len(levels) > count:
        levels = np.unique(np.quantile(present, np.arange(count) / count, method="lower"))
    codes = np.full(len(values), len(levels))
    codes[~missing] = np.searchsorted(levels, present, "right") - 1
    return codes


def features_of(column: Column, folded: bool = False) -> Floats:
    """Return the pooled rows in a few standardised features: normal scores, or indicators of the common categories.

    A missing value is in the middle of each. A column that does not vary has no features. If `folded`, numbers become
    their distance from the median: two columns may go together in their sizes, without signs.
    """
    values = column.pooled
    missing = np.isnan(values)
    if missing.all():
        return np.zeros((len(values), 0))
    features = np.zeros((len(values), 1))
    if column.is_category:
        codes = _by_frequency(values, missing)
        present = np.unique(codes[~missing])
        shown = present[: min(_FEATURE_LEVELS, len(present) - 1)]  # the last one is what the others are not
        features = (codes[:, None] == shown[None, :]).astype(np.float64)
    else:
        features[~missing, 0] = _normal_scores(values[~missing])
        if folded:
            features[~missing, 0] = _normal_scores(np.abs(features[~missing, 0]))
    features = features - features.mean(axis=0)
    spread = features.std(axis=0)
    features = features[:, spread > 0] / spread[spread > 0]
    features[missing] = 0.0
    return np.asarray(features)


def _normal_scores(values: Floats) -> Floats:
    return np.asarray(ndtri((mean_ranks(values) - 0.5) / len(values)))
