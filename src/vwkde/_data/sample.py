"""A sample inside the package: whitened, weighted, in canonical order.

Of a sample that does not fit into memory some rows are held, drawn at random: its points. The others are its rest, over
which sums are formed in passes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.whitening import canonical_order, moments_of
from vwkde._data.streams import Piece, Stream, WeightedMoments
from vwkde._data.validation import Array

Floats = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True)
class Rest:
    """The rows of a sample that are not held, and the coordinates its points are in."""

    stream: Stream
    coordinates: Callable[[Array], Floats]

    def reduce(self, work: Callable[[Floats, Floats], T], combine: Callable[[T, T], T], stage: str) -> T:
        """Return the combined results of the work on points and weights, piece by piece."""
        return self.stream.reduce(_InCoordinates(self.coordinates, work), combine, stage)

    @cached_property
    def moments(self) -> WeightedMoments:
        """The moments of the rows and their weight."""
        return self.stream.moments(self.coordinates)

    def gather(self) -> None:
        """Find the moments, in one pass, before several threads ask for them."""
        _ = self.moments


@dataclass(frozen=True)
class _InCoordinates:
    coordinates: Callable[[Array], Floats]
    work: Callable[[Floats, Floats], Any]

    def __call__(self, piece: Piece) -> Any:
        return self.work(self.coordinates(piece.values), piece.weight)


@dataclass(frozen=True)
class Sample:
    """Whitened points with one weight each (mean one), and the rows they had when they came in.

    Rows may be made of others: `copies` is how many were made of each, and `fold` is the part of the data that each is
    made of, so that whole parts can be held out.
    """

    points: Floats
    weight: Floats
    rows: NDArray[np.intp]
    copies: int = 1
    fold: NDArray[np.intp] | None = None
    rest: Rest | None = None

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)

    @property
    def total(self) -> int:
        """The number of rows, held or not."""
        return len(self) + (len(self.rest.stream) if self.rest else 0)

    @property
    def total_weight(self) -> float:
        """The weight of all rows, held or not."""
        return float(self.weight.sum()) + (self.rest.stream.total_weight if self.rest else 0.0)

    @property
    def held(self) -> "Sample":
        """The points alone."""
        return replace(self, rest=None) if self.rest else self

    @property
    def log_weight(self) -> Floats:
        """Return the logarithm of the weights; −inf for points that do not count."""
        with np.errstate(divide="ignore"):
            return np.log(self.weight)

    @property
    def effective_rows(self) -> float:
        """Return how many independent, equally weighted rows the sample amounts to."""
        if self.rest is None:
            return effective_rows(self.weight) / self.copies
        squares = float((self.weight**2).sum()) + self.rest.stream.total_squared_weight
        return self.total_weight**2 / squares / self.copies

    def variance_of_mean(self, values: Floats) -> float:
        """Return the variance of the weighted mean of one value per point."""
        return float(np.cov(values, aweights=self.weight) / self.effective_rows)

    @property
    def weighted_moments(self) -> WeightedMoments:
        """The moments of all rows, held or not, and their weight."""
        found = WeightedMoments(float(self.weight.sum()), *moments_of(self.points, self.weight))
        return found.plus(self.rest.moments) if self.rest else found

    def mean_and_covariance(self) -> tuple[Floats, Floats]:
        """Return mean and covariance of all rows, the latter unbiased."""
        weight, mean, scatter = self.weighted_moments
        return mean, scatter / (weight * (1 - 1 / self.effective_rows))

    def subset(self, chosen: NDArray[Any], keep_rest: bool = False) -> "Sample":
        """Return the chosen points, in the order they have here, as a sample of their own, or with the same rest."""
        points, weight = self.points[chosen], self.weight[chosen]
        fold = None if self.fold is None else self.fold[chosen]
        rest = self.rest if keep_rest else None
        return Sample(points, weight / weight.mean(), np.arange(len(points)), self.copies, fold, rest)

    def thinned(self, most: int, random: np.random.Generator) -> "Sample":
        """Return at most so many of the points, drawn at random: of rows made of others, fewer of each."""
        if len(self) <= most:
            return self.held
        counted = np.flatnonzero(self.weight)
        part = self.subset(np.sort(random.choice(counted, min(most, len(counted)), replace=False)))
        return replace(part, copies=max(1, round(self.copies * most / len(self))))

    def in_given_order(self, values: Floats) -> Floats:
        """Return one value per point in the order in which the rows came in."""
        result = np.empty_like(values)
        result[self.rows] = values
        return result


def effective_rows(weight: Floats) -> float:
    """Return how many rows of equal weight would know as much (Kish)."""
    return float(weight.sum() ** 2 / (weight**2).sum())


def make_sample(
    points: Floats,
    weight: Floats,
    copies: int = 1,
    fold: NDArray[np.intp] | None = None,
    rest: Rest | None = None,
) -> Sample:
    """Return the points in canonical order."""
    rows = canonical_order(points)
    return Sample(points[rows], weight[rows], rows, copies, None if fold is None else fold[rows], rest)


def make_unordered_sample(points: Floats) -> Sample:
    """Return points of equal weight in the order they have, for estimates to which the order does not matter."""
    return Sample(points, np.ones(len(points)), np.arange(len(points)))
