"""Samples as whitening sees them: by summaries, so that their rows may live anywhere."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._data.moments import Moments, moments_of
from vwkde._data.streams import Stream
from vwkde._data.validation import Array

Floats = NDArray[np.float64]


class Cloud(Protocol):
    """A sample by its summaries."""

    @property
    def rows(self) -> int:
        """The number of rows."""

    def largest(self) -> Floats:
        """Return the largest absolute value of each column."""

    def moments(self, place: Callable[[Array], Floats]) -> Moments:
        """Return the moments of the rows in other coordinates."""

    def some(self, place: Callable[[Array], Floats]) -> Floats:
        """Return rows in other coordinates: all where they are few."""


@dataclass(frozen=True)
class InMemory:
    """Rows at hand, and their weights, of mean one."""

    values: Array
    weight: Floats

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.values)

    def largest(self) -> Floats:
        """Return the largest absolute value of each column."""
        return np.abs(self.values).max(axis=0)

    def moments(self, place: Callable[[Array], Floats]) -> Moments:
        """Return the moments of the rows in other coordinates."""
        return moments_of(place(self.values), self.weight)

    def some(self, place: Callable[[Array], Floats]) -> Floats:
        """Return the rows in other coordinates."""
        return place(self.values)


@dataclass(frozen=True)
class StreamCloud:
    """A stream as whitening sees it, with some of its rows at hand."""

    stream: Stream
    at_hand: Array

    @property
    def rows(self) -> int:
        """The number of rows."""
        return len(self.stream)

    def largest(self) -> Floats:
        """Return the largest absolute value of each column."""
        return self.stream.look.largest

    def moments(self, place: Callable[[Array], Floats]) -> Moments:
        """Return the moments of the rows in other coordinates."""
        found = self.stream.moments(place)
        return Moments(found.mean, found.scatter * (self.rows / found.weight))

    def some(self, place: Callable[[Array], Floats]) -> Floats:
        """Return the rows at hand in other coordinates."""
        return place(self.at_hand)
