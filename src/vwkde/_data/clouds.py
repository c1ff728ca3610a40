"""Samples as whitening sees them: only summaries, so the rows may be in memory, in files or on a cluster."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.moments import Moments, WeightedMoments, weighted_moments_of
from vwkde._data.streams import Stream
from vwkde._data.validation import Array

Floats = NDArray[np.float64]


class Cloud(Protocol):
    """A sample, described by summaries."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    def largest(self) -> Floats:
        """Return the largest absolute value of each column."""

    def moments(self, place: Callable[[Array], Floats]) -> Moments:
        """Return the moments of the rows in other coordinates."""

    def given(self) -> Array:
        """Return the rows that are in memory, as they were given."""

    def some(self, place: Callable[[Array], Floats]) -> Floats:
        """Return the rows that are in memory, in other coordinates."""


@dataclass(frozen=True)
class InMemory:
    """Rows in memory and their positive weights, which have mean one."""

    values: Array
    weight: Floats

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.values)

    def largest(self) -> Floats:
        """Return the largest absolute value of each column."""
        sizes = parallel.run_over_rows(lambda rows: np.abs(self.values[rows]).max(axis=0), self.rows, self._at_a_time)
        return np.max(sizes, axis=0)

    def moments(self, place: Callable[[Array], Floats]) -> Moments:
        """Return the moments of the rows in other coordinates."""
        parts = parallel.run_over_rows(
            lambda rows: weighted_moments_of(place(self.values[rows]), self.weight[rows]), self.rows, self._at_a_time
        )
        together = reduce(WeightedMoments.plus, parts)
        return Moments(together.mean, together.scatter)

    @property
    def _at_a_time(self) -> int:
        return parallel.rows_at_a_time(self.values.shape[1])

    def given(self) -> Array:
        """Return the rows as they were given."""
        return self.values

    def some(self, place: Callable[[Array], Floats]) -> Floats:
        """Return the rows in other coordinates."""
        return place(self.values)


@dataclass(frozen=True)
class StreamCloud:
    """A stream as whitening sees it, with some of its rows in memory."""

    stream: Stream
    in_memory: Array

    @property
    def rows(self) -> int:
        """The number of rows that have a weight."""
        return len(self.stream) if self.stream.weight is None else int(np.count_nonzero(self.stream.weight))

    def largest(self) -> Floats:
        """Return the largest absolute value of each column."""
        return self.stream.look.largest

    def moments(self, place: Callable[[Array], Floats]) -> Moments:
        """Return the moments of the rows in other coordinates."""
        moments = self.stream.moments(place)
        return Moments(moments.mean, moments.scatter * (self.rows / moments.weight))

    def given(self) -> Array:
        """Return the rows that are in memory, as they were given."""
        return self.in_memory

    def some(self, place: Callable[[Array], Floats]) -> Floats:
        """Return the rows that are in memory, in other coordinates."""
        return place(self.in_memory)
