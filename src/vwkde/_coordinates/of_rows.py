"""Columns that tell of a row as a whole: its place along a direction and its distance from some, and what is equal.

The columns of a row are often readings of one thing: what they have in common, and how far they are from it, is small
in every one of them and clear in all. A value that is repeated in the next column, or many values at a limit of
detection, say something that no map of single columns keeps.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.derived import Derived, Standard
from vwkde._data.validation import Array

Floats = NDArray[np.float64]

_FAR = 10.0
"""Distance from the middle of a column beyond which values do not count in directions."""
_MOST_DIRECTIONS = 3
_LEAST_REPEATED, _MOST_REPEATED = 0.01, 0.99
"""Shares of the rows between which a value, or an equality, is neither rare nor the rule."""


@dataclass(frozen=True)
class Direction:
    """The place of a row along a direction of some columns."""

    columns: tuple[Standard, ...]
    axis: Floats

    def __call__(self, x: Array) -> Floats:
        """Return its values at rows as given."""
        return np.asarray(_standard(x, self.columns) @ self.axis)


@dataclass(frozen=True)
class Distance:
    """The distance of a row from the plane of some directions, which are orthogonal, through the middle of columns."""

    columns: tuple[Standard, ...]
    axes: Floats

    def __call__(self, x: Array) -> Floats:
        """Return its values at rows as given."""
        z = _standard(x, self.columns)
        return np.asarray(np.linalg.norm(z - (z @ self.axes) @ self.axes.T, axis=1))


@dataclass(frozen=True)
class Repeated:
    """How often a value of a row is repeated in the next of some columns, and how many different values it has."""

    columns: tuple[int, ...]

    def __call__(self, x: Array) -> Floats:
        """Return both at rows as given."""
        values = np.asarray(x[:, list(self.columns)])
        again = np.count_nonzero(values[:, 1:] == values[:, :-1], axis=1)
        ordered = np.sort(values, axis=1)
        different = 1 + np.count_nonzero(ordered[:, 1:] != ordered[:, :-1], axis=1)
        return np.column_stack([again, different]).astype(np.float64)


@dataclass(frozen=True)
class Equal:
    """Whether two columns are equal."""

    first: int
    second: int

    def __call__(self, x: Array) -> Floats:
        """Return one at rows as given where they are, and zero elsewhere."""
        return np.asarray(x[:, self.first] == x[:, self.second], dtype=np.float64)


@dataclass(frozen=True)
class AtLimits:
    """How many columns of a row have a value that is frequent: a limit of detection, or zero."""

    columns: tuple[int, ...]
    values: Floats

    def __call__(self, x: Array) -> Floats:
        """Return how many, at rows as given."""
        return np.count_nonzero(np.asarray(x[:, list(self.columns)]) == self.values, axis=1).astype(np.float64)


def directions(x: Floats, columns: Sequence[Standard]) -> Iterator[Derived]:
    """Yield the mean of columns in their own units and their main directions, and the distances from these."""
    columns = tuple(columns)
    z = _standard(x, columns)
    z -= z.mean(axis=0)
    axes = np.linalg.eigh(z.T @ z)[1][:, : -_MOST_DIRECTIONS - 1 : -1]
    mean = np.full((len(columns), 1), len(columns) ** -0.5)
    yield from (Direction(columns, axis) for axis in np.column_stack([mean, axes]).T)
    yield from (Distance(columns, axes[:, :count]) for count in (1, _MOST_DIRECTIONS) if count < len(columns))


def repeated(x: Floats) -> Repeated | None:
    """Return how often values of a row are repeated; None if the columns have hardly any values in common."""
    found = Repeated(tuple(range(x.shape[1])))
    return found if _is_frequent(found(x)[:, 1] < x.shape[1]) else None


def equal(x: Floats, first: int, second: int) -> Equal | None:
    """Return whether two columns are equal; None if hardly any rows, or nearly all, are."""
    return Equal(first, second) if _is_frequent(x[:, first] == x[:, second]) else None


def at_limits(x: Floats, fewest_values: int) -> AtLimits | None:
    """Return how many columns have their smallest or their largest value; None if fewer than two have it often.

    Columns have at least so many different values: of those with fewer each is frequent.
    """
    columns, values = [], []
    for number, column in enumerate(x.T):
        ends = [end for end in (column.min(), column.max()) if _is_frequent(column == end)]
        if ends and len(np.unique(column)) >= fewest_values:
            columns.append(number)
            values.append(max(ends, key=lambda end: np.count_nonzero(column == end)))
    return AtLimits(tuple(columns), np.array(values)) if len(columns) > 1 else None


def _is_frequent(flags: NDArray[np.bool_]) -> bool:
    return bool(_LEAST_REPEATED <= flags.mean() <= _MOST_REPEATED)


def _standard(x: Array, columns: Sequence[Standard]) -> Floats:
    """Return columns in their own units; what lies far out is moved closer."""
    return np.column_stack([np.clip(column(x), -_FAR, _FAR) for column in columns])
