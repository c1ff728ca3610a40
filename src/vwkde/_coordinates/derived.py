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

from vwkde._coordinates.normal_scores import NormalScores
from vwkde._data.validation import Array

Floats = NDArray[np.float64]

_KNOTS = np.linspace(-2.8, 2.8, 9)
"""Normal scores at which shared curves bend."""
_QUANTILES = 201
"""Values by which normal scores are known."""
_BESIDE = 3
"""Different values on each side of a value that show how often it should occur."""
_FEWEST_VALUES = 12
_FEWEST_EQUAL = 5
"""Rows of the most frequent value with which a column may have heaps."""
_PERIODS = ((-np.pi, 2 * np.pi), (0.0, 2 * np.pi), (-180.0, 360.0), (0.0, 360.0), (0.0, 24.0))
"""Where angles begin, and their periods: radians, degrees, and hours of the day."""
_NEAR_THE_END = 0.05
"""Part of a period in which a column must have values at both ends."""
_ALIKE = 3.0
"""Factor by which the numbers of rows at both ends of a period may differ."""


class Derived(Protocol):
    """A column, or a few, made of others."""

    def __call__(self, x: Array) -> Floats:
        """Return the values at rows as given, of shape (n,) or (n, k)."""


@dataclass(frozen=True)
class Combination:
    """The sum of two columns, each times a factor; a negative one makes it a difference."""

    columns: tuple[int, int]
    factors: tuple[float, float]

    def __call__(self, x: Array) -> Floats:
        """Return its values at rows as given."""
        (first, second), (a, b) = self.columns, self.factors
        return np.asarray(a * x[:, first] + b * x[:, second], dtype=np.float64)


@dataclass(frozen=True)
class Parts:
    """Values of which a row has several: some columns, the steps from one to the next, or all distances of two."""

    columns: tuple[int, ...]
    kind: Literal["columns", "steps", "distances"]

    def __call__(self, x: Array) -> Iterator[Floats]:
        """Return the values at rows as given, one part after the other."""
        values = [np.asarray(x[:, column], dtype=np.float64) for column in self.columns]
        if self.kind == "columns":
            yield from values
        elif self.kind == "steps":
            yield from (after - before for before, after in pairwise(values))
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
        hats = [np.maximum(0.0, 1 - np.abs(np.interp(part, self.quantiles, places) - knots)) for part in self.parts(x)]
        return np.mean(hats, axis=0).T


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
        """Return the further columns alone."""
        return self.scores(values_of(self.derived, x))


@dataclass(frozen=True)
class OnCircles:
    """Coordinates in which the cosine and the sine of an angle replace it."""

    coordinates: Callable[[Array], Floats]
    periods: dict[int, float]
    """The periods of the columns that are angles."""

    def __call__(self, x: Array) -> Floats:
        """Return the other columns, and the places on the circles."""
        return np.column_stack([np.delete(self.coordinates(x), list(self.periods), axis=1), self.places(x)])

    def places(self, x: Array) -> Floats:
        """Return the places on the circles alone, with variance one where all angles are equally likely."""
        turns = np.asarray(x[:, list(self.periods)], dtype=np.float64) * (
            2 * np.pi / np.array([*self.periods.values()])
        )
        return np.sqrt(2) * np.column_stack([np.cos(turns), np.sin(turns)])


def values_of(derived: Sequence[Derived], x: Array) -> Floats:
    """Return the values of derived columns at rows as given."""
    return np.column_stack([each(x) for each in derived])


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
    """Return the period of a column that looks like an angle: it fills a known period, alike at both ends."""
    for start, period in _PERIODS:
        part = (column - start) / period
        below, above = np.count_nonzero(part < _NEAR_THE_END), np.count_nonzero(part > 1 - _NEAR_THE_END)
        inside = part.min() > -1e-6 and part.max() < 1 + 1e-6
        if inside and below and above and max(below, above) <= _ALIKE * min(below, above):
            return period
    return None
