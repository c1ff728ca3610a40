"""Columns that are made of others as they were given: sums and differences of two, shared curves, heaps, and circles.

Normal scores of single columns bend what two columns mean together: how far apart they are, for example, or how one
angle follows another. So such columns are made before any map.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from vwkde._compute import parallel
from vwkde._coordinates.normal_scores import NormalScores
from vwkde._data.validation import Array

Floats = NDArray[np.float64]

_KNOTS = np.linspace(-2.8, 2.8, 9)
"""Normal scores at which shared curves bend."""
_QUANTILES = 201
"""Values by which normal scores are known."""
_DIGITS = 9
"""Digits of a sum: equal sums of whole numbers, in any unit, stay equal."""
_FARTHEST = 1e9
"""Largest distance of a value from the middle of its column."""
_FAR, _TINY = 10.0, 1e-9
"""Distances from the middle beyond which values do not count in the slope of a step, and below which steps vanish."""
_SKEWED = 1.5
"""Ratio of the quartiles of a column from which its logarithm is another column."""
_BESIDE = 3
"""Different values on each side of a value that show how often it should occur."""
_FEWEST_VALUES = 12
_FEWEST_EQUAL = 5
"""Rows of the most frequent value with which a column may have heaps."""
_PERIODS = ((-np.pi, 2 * np.pi), (0.0, 2 * np.pi), (-180.0, 360.0), (0.0, 360.0), (0.0, 24.0))
"""Where angles begin, and their periods: radians, degrees, and hours of the day."""
_AT_THE_END, _NEAR_THE_END = 0.01, 0.05
"""Parts of a period at both ends: in the smaller one a column must have a value, in the larger one several."""
_ALIKE, _LEAST_AT_ENDS = 3.0, 0.2
"""Factor by which the numbers of rows near both ends may differ, and how many there must be, in parts of the mean."""
_ROUNDING = 1e-6


class Derived(Protocol):
    """A column, or a few, made of others."""

    def __call__(self, x: Array) -> Floats:
        """Return the values at rows as given, of shape (n,) or (n, k)."""


@dataclass(frozen=True)
class Standard:
    """A column of rows as given, in a unit of its own and around its middle."""

    column: int
    middle: float
    scale: float

    def __call__(self, x: Array) -> Floats:
        """Return its values at rows as given; those of outliers end where nothing overflows."""
        with np.errstate(over="ignore"):
            values = np.asarray(x[:, self.column], dtype=np.float64) / self.scale
        return np.clip(values - self.middle, -_FARTHEST, _FARTHEST)


@dataclass(frozen=True)
class Amount:
    """The logarithm of a column of positive values, so that sums of two are products, and differences quotients."""

    column: int
    least: float

    def __call__(self, x: Array) -> Floats:
        """Return its values at rows as given; no value counts as less than the least one that was seen."""
        return np.log(np.maximum(np.asarray(x[:, self.column], dtype=np.float64), self.least))


@dataclass(frozen=True)
class Combination:
    """The sum of two columns, or their difference if the sign is negative."""

    first: Standard | Amount
    second: Standard | Amount
    sign: Literal[1, -1]

    def __call__(self, x: Array) -> Floats:
        """Return its values at rows as given."""
        return np.round(self.first(x) + self.sign * self.second(x), _DIGITS)


@dataclass(frozen=True)
class Parts:
    """Values of which a row has several: some columns, the steps from one to the next, or all distances of two.

    A step is what a column is beyond a multiple of the one before it, in units of its scale. `slopes` and `scales` are
    those of the steps.
    """

    columns: tuple[Standard, ...]
    kind: Literal["columns", "steps", "distances"]
    slopes: tuple[float, ...] = ()
    scales: tuple[float, ...] = ()

    def __call__(self, x: Array) -> Iterator[Floats]:
        """Return the values at rows as given, one part after the other."""
        values = [column(x) for column in self.columns]
        if self.kind == "columns":
            yield from values
        elif self.kind == "steps":
            for (before, after), slope, scale in zip(pairwise(values), self.slopes, self.scales, strict=True):
                yield (after - slope * before) / scale
        else:
            yield from (np.abs(one - other) for one, other in combinations(values, 2))


@dataclass(frozen=True)
class SharedCurves:
    """Means, over the parts of a row, of hats: of one at a knot, falling to zero at the knots beside it.

    Together they are any piecewise linear curve that all parts share: the law of a step, for example, or of a distance.
    The knots are equally spaced in normal scores, so that tails have some.
    """

    parts: Parts
    quantiles: Floats
    """The values at normal scores from the first knot to the last."""

    def __call__(self, x: Array) -> Floats:
        """Return the means of the hats at rows as given; the middle one is left out, as they add up to one."""
        places = np.linspace(0.0, len(_KNOTS) - 1.0, len(self.quantiles))
        knots = np.delete(np.arange(len(_KNOTS)), len(_KNOTS) // 2)[:, None]
        total, count = np.zeros((len(knots), len(x))), 0
        for part in self.parts(x):
            total += np.maximum(0.0, 1 - np.abs(np.interp(part, self.quantiles, places) - knots))
            count += 1
        return np.asarray(total.T / count)


@dataclass(frozen=True)
class Heaps:
    """How much more often a value occurs in a column than the values beside it, as a logarithm."""

    column: int
    values: Floats
    excess: Floats

    def __call__(self, x: Array) -> Floats:
        """Return its values at rows as given; a value that has not occurred is as rare as the rarest."""
        given = np.asarray(x[:, self.column], dtype=np.float64)
        at = np.minimum(np.searchsorted(self.values, given), len(self.values) - 1)
        return np.where(self.values[at] == given, self.excess[at], self.excess.min())


@dataclass(frozen=True)
class WithDerived:
    """Coordinates with further columns, which are mapped to normal scores."""

    coordinates: Callable[[Array], Floats]
    derived: tuple[Derived, ...]
    scores: NormalScores

    def __call__(self, x: Array) -> Floats:
        """Return the columns and those that are made of them."""
        return np.column_stack([self.coordinates(x), self.further(x)])

    def further(self, x: Array) -> Floats:
        """Return the further columns alone, made from some rows at a time: there may be many distances of a row."""
        blocks = parallel.split(len(x), parallel.rows_at_a_time(x.shape[1]))
        return np.concatenate([self.scores(values_of(self.derived, x[rows])) for rows in blocks])


@dataclass(frozen=True)
class OnCircles:
    """Coordinates in which cosines and sines replace angles: of the angles, or of the differences of all pairs."""

    coordinates: Callable[[Array], Floats]
    periods: dict[int, float]
    """The periods of the columns that are angles."""
    differences: bool = False

    def __call__(self, x: Array) -> Floats:
        """Return the other columns, and the places on the circles."""
        return np.column_stack([np.delete(self.coordinates(x), list(self.periods), axis=1), self.further(x)])

    def further(self, x: Array) -> Floats:
        """Return the places on the circles alone, with variance one where all angles are equally likely."""
        periods = np.array(list(self.periods.values()))
        turns = 2 * np.pi * np.asarray(x[:, list(self.periods)], dtype=np.float64) / periods
        if self.differences:
            first, second = np.triu_indices(turns.shape[1], 1)
            turns = turns[:, first] - turns[:, second]
        return np.sqrt(2) * np.column_stack([np.cos(turns), np.sin(turns)])


def values_of(derived: Sequence[Derived], x: Array) -> Floats:
    """Return the values of derived columns at rows as given."""
    return np.column_stack([each(x) for each in derived])


def standard(x: Floats, column: int) -> Standard | None:
    """Return a column in units of the distance between its quartiles; None if that is zero, or overflows."""
    values = x[:, column]
    unit = float(np.abs(values).max()) or 1.0  # first, so that nothing overflows
    low, middle, high = np.quantile(values / unit, [0.25, 0.5, 0.75])
    scale = float(high - low) * unit
    return Standard(column, float(middle / (high - low)), scale) if 0 < scale < np.inf else None


def amount(x: Floats, column: int) -> Amount | None:
    """Return the logarithm of a column; None if some values are not positive, or if it would hardly bend the column."""
    values = x[:, column]
    least, low, high = np.quantile(values, [0.0, 0.25, 0.75])
    return Amount(column, float(least)) if least > 0 and high > _SKEWED * low else None


def steps_of(x: Floats, columns: Sequence[Standard]) -> Parts | None:
    """Return the steps from a column to the next; None if one of them is a multiple of the one before."""
    slopes, scales = [], []
    for before, after in pairwise([np.clip(column(x), -_FAR, _FAR) for column in columns]):
        slopes.append(float(before @ after / (before @ before)))
        low, high = np.quantile(after - slopes[-1] * before, [0.25, 0.75])
        scales.append(float(high - low))
    return Parts(tuple(columns), "steps", tuple(slopes), tuple(scales)) if min(scales) > _TINY else None


def shared_curves(x: Floats, parts: Parts) -> SharedCurves:
    """Return the curves that parts of the rows share, by the ranks of all of their values."""
    levels = ndtr(np.linspace(_KNOTS[0], _KNOTS[-1], _QUANTILES))
    return SharedCurves(parts, np.quantile(np.concatenate(list(parts(x))), levels))


def find_heaps(column: Floats, number: int) -> Heaps | None:
    """Return the heaps of a column, or None if its values occur about equally often."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) < _FEWEST_VALUES or counts.max() < _FEWEST_EQUAL:
        return None
    beside = np.concatenate([np.ones(_BESIDE), [0.0], np.ones(_BESIDE)])
    around = np.convolve(counts, beside, mode="same") / np.convolve(np.ones(len(counts)), beside, mode="same")
    return Heaps(number, values, np.log((counts + 1) / (around + 1)))


def period_of(column: Floats) -> float | None:
    """Return the period of a column that looks like an angle: it fills a known period, and is alike at both ends."""
    whole = np.array_equal(column, np.round(column))
    for start, period in _PERIODS:
        part, step = (column - start) / period, 1 / period if whole else 0.0
        fills = -_ROUNDING < part.min() < _AT_THE_END and 1 - _AT_THE_END < part.max() + step < 1 + step + _ROUNDING
        ends = np.count_nonzero(part < _NEAR_THE_END), np.count_nonzero(part + step > 1 - _NEAR_THE_END)
        enough = min(ends) >= max(ends) / _ALIKE and min(ends) >= _LEAST_AT_ENDS * _NEAR_THE_END * len(part)
        if fills and enough and part.max() <= 1 + _ROUNDING:
            return period
    return None
