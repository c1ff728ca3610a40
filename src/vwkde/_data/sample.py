"""A sample inside the package: whitened, weighted, in canonical order.

If a sample does not fit into memory, randomly drawn rows are kept there: its points. The other rows are its rest, and
sums over them are computed in passes.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.moments import Moments, WeightedMoments, weighted_moments_of
from vwkde._data.order import canonical_order
from vwkde._data.pairs import Pairs
from vwkde._data.streams import Piece, Stream
from vwkde._data.validation import Array
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
T = TypeVar("T")

_MOMENTS = "moments of the points"
_ROUNDING = 1e-9
"""Relative difference below which numbers may differ by rounding only."""


@dataclass(frozen=True)
class Rest:
    """The rows of a sample that are not in memory, and the coordinates of its points."""

    stream: Stream
    coordinates: Callable[[Array], Floats]

    def reduce(self, work: Callable[[Floats, Floats], T], combine: Callable[[T, T], T], stage: str) -> T:
        """Apply the work to points and weights, piece by piece, and return the combined results."""
        return self.stream.reduce(_InCoordinates(self.coordinates, work), combine, stage)

    @lazy
    def moments(self) -> WeightedMoments:
        """The moments of the rows and their total weight."""
        return self.stream.moments(self.coordinates)

    def gather(self) -> None:
        """Compute the moments, in one pass, before several threads ask for them."""
        _ = self.moments


@dataclass(frozen=True)
class _InCoordinates:
    coordinates: Callable[[Array], Floats]
    work: Callable[[Floats, Floats], Any]

    def __call__(self, piece: Piece) -> Any:
        return self.work(self.coordinates(piece.values), piece.weight)


@dataclass(frozen=True)
class Sample:
    """Whitened points with one weight each (mean one), and their row indices in the input.

    Rows may be derived from other rows: `copies` is how many were made from each, and `fold` is the part of the data
    that each comes from, so that whole parts can be held out. For mutual information, `pairs` are the rows of X and Y
    that each is made of. Rows may also belong together: `group` is the number of each row's group. Rows of one group
    share a fold, are left out together, and count as dependent. `deal` is one of two ways to deal folds; see
    `dealt_apart`.
    """

    points: Floats
    weight: Floats
    rows: Ints
    copies: int = 1
    fold: Ints | None = None
    rest: Rest | None = None
    pairs: Pairs | None = None
    group: Ints | None = None
    deal: int = 0

    def __len__(self) -> int:
        """Return the number of points."""
        return len(self.points)

    @property
    def total(self) -> int:
        """The number of rows, in memory or not."""
        return len(self) + (len(self.rest.stream) if self.rest else 0)

    @property
    def total_weight(self) -> float:
        """The weight of all rows, in memory or not."""
        return float(self.weight.sum()) + (self.rest.stream.total_weight if self.rest else 0.0)

    @property
    def made_of(self) -> Pairs:
        """The pairs of a sample that has them."""
        if self.pairs is None:
            raise TypeError("The sample is not made of rows of X and Y.")
        return self.pairs

    @property
    def is_product(self) -> bool:
        """Whether the sample is made of rows of X and Y that are independent of each other."""
        return self.pairs is not None and self.pairs.independent

    @lazy
    def marginals(self) -> "tuple[Sample, Sample] | None":
        """The rows of X and of Y that a sample of their product is made of, each once and with its group."""
        if not self.is_product:
            return None
        x, y = np.split(self.points, [self.made_of.split], axis=1)
        return self._marginal(x, self.made_of.first), self._marginal(y, self.made_of.second)

    def _marginal(self, points: Floats, rows: Ints) -> "Sample":
        own, kept = np.unique(rows, return_index=True)
        group = None if self.made_of.group is None else self.made_of.group[own]
        return Sample(points[kept], np.ones(len(kept)), np.arange(len(kept)), group=group)

    @property
    def without_rest(self) -> "Sample":
        """The sample reduced to its points."""
        return replace(self, rest=None) if self.rest else self

    @property
    def log_weight(self) -> Floats:
        """Return the logarithm of the weights; −inf for points of weight zero."""
        with np.errstate(divide="ignore"):
            return np.log(self.weight)

    @lazy
    def effective_rows(self) -> float:
        """How many independent, equally weighted rows the sample is worth; for a product, the smaller marginal."""
        if self.marginals is not None:
            return min(marginal.effective_rows for marginal in self.marginals)
        if self.rest is None:
            return effective_rows(self.weight) / self.copies / self._design_effect
        squares = float((self.weight**2).sum()) + self.rest.stream.total_squared_weight
        return self.total_weight**2 / squares / self.copies

    @property
    def degrees_of_freedom(self) -> float:
        """Return how many independent deviations from a mean the sample shows, and at least one."""
        groups = np.inf if self.group is None else len(np.unique(self.group))
        return float(max(1.0, min(self.effective_rows, groups) - 1))

    def variance_of_mean(self, values: Floats) -> float:
        """Return the variance of the weighted mean of one value per point."""
        if self.group is not None:
            return variance_of_mean(values, self.weight, self.group)
        return float(np.cov(values, aweights=self.weight) / self.effective_rows)

    @property
    def _design_effect(self) -> float:
        """By how much the groups raise the variance of a mean: on average over means and variances, at least one.

        It is one if the rows of a group are no more alike than other rows, and their number if they are equal.
        """
        if self.group is None:
            return 1.0
        centred = self.points - np.average(self.points, axis=0, weights=self.weight)
        columns = np.concatenate([centred, centred**2], axis=1).T
        apart = [variance_of_mean(each, self.weight) for each in columns]
        together = [variance_of_mean(each, self.weight, self.group) for each in columns]
        return max(1.0, float(np.mean(np.divide(together, np.maximum(apart, np.finfo(np.float64).tiny)))))

    @lazy
    def weighted_moments(self) -> WeightedMoments:
        """The moments of all rows, in memory or not, and their total weight."""
        moments = self.moments_in_memory
        return moments.plus(self.rest.moments) if self.rest else moments

    @property
    def moments_in_memory(self) -> WeightedMoments:
        """The moments of the points, and their total weight."""
        return self.remember(_MOMENTS, lambda: weighted_moments_of(self.points, self.weight))

    def with_moments(self, moments: Moments) -> "Sample":
        """Return the sample, with the moments of its points if they are known, so that they are not computed again."""
        self.remember(_MOMENTS, lambda: WeightedMoments(float(self.weight.sum()), *moments))
        return self

    def mean_and_covariance(self) -> tuple[Floats, Floats]:
        """Return the mean and the unbiased covariance of all rows."""
        weight, mean, scatter = self.weighted_moments
        return mean, scatter / (weight * (1 - 1 / self.effective_rows))

    def remember(self, name: Hashable, compute: Callable[[], T]) -> T:
        """Return what is computed from the rows, and keep it under a name for those who need the same."""
        if name not in self._memory:
            self._memory[name] = compute()
        return cast("T", self._memory[name])

    @lazy
    def _all_count(self) -> bool:
        """Whether no row has a weight of zero."""
        return bool(self.weight.all())

    @lazy
    def _memory(self) -> dict[Hashable, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: without what can be computed again."""
        return {name: value for name, value in self.__dict__.items() if name != "_memory"}

    def points_as(self, dtype: np.dtype[Any]) -> Array:
        """Return the points in some precision."""
        return self.remember(("points", dtype), lambda: parallel.converted(self.points, dtype))

    def fourth_moment(self, mean: Floats, root: Floats) -> float:
        """Return the mean of ‖√weight · (x − mean) · root‖⁴ over the points."""
        return fourth_power(self.points, self.weight, mean, root) / len(self)

    def in_groups(self, group: Ints | None) -> "Sample":
        """Return the same rows in these groups."""
        return replace(self, group=group)

    def subset(self, chosen: NDArray[Any], keep_rest: bool = False) -> "Sample":
        """Return the chosen points, in the same order, as a separate sample; `keep_rest` keeps the rest too."""
        points, weight = self.points[chosen], self.weight[chosen]
        fold, group = (None if each is None else each[chosen] for each in (self.fold, self.group))
        rest = self.rest if keep_rest else None
        pairs, rows = self.pairs and self.pairs.take(chosen), np.arange(len(points))
        return Sample(points, weight / weight.mean(), rows, self.copies, fold, rest, pairs, group, self.deal)

    def thinned(self, most: int, random: np.random.Generator) -> "Sample":
        """Return at most `most` points, drawn at random; `copies` is reduced in proportion."""
        return self.without_rest if len(self) <= most else self._drawn(most, random, np.arange(len(self)))

    def thinned_to(self, rows: Ints, most: float, random: np.random.Generator) -> "Sample":
        """Return at most `most` of these rows, drawn at random: the same as of a subset, which is not copied."""
        return self.subset(rows) if len(rows) <= most else self._drawn(int(most), random, rows)

    def _drawn(self, most: int, random: np.random.Generator, rows: Ints) -> "Sample":
        counted = rows if self._all_count else rows[np.flatnonzero(self.weight[rows])]
        part = self.subset(np.sort(random.choice(counted, min(most, len(counted)), replace=False)))
        return replace(part, copies=max(1, round(self.copies * most / len(rows))))

    def in_given_order(self, values: Floats) -> Floats:
        """Return one value per point in the order of the input rows."""
        result = np.empty_like(values)
        result[self.rows] = values
        return result


def fourth_power(x: Floats, weight: Floats, mean: Floats, root: Floats) -> float:
    """Return the sum of ‖√weight · (x − mean) · root‖⁴ over rows."""
    moved = (x - mean) @ root
    return float(np.sum((weight * np.einsum("ij,ij->i", moved, moved)) ** 2))


def effective_rows(weight: Floats) -> float:
    """Return Kish's effective sample size: how many equally weighted rows carry as much information."""
    return float(weight.sum() ** 2 / (weight @ weight))


def variance_of_mean(terms: Floats, weight: Floats, group: Ints | None = None) -> float:
    """Return the variance of the weighted mean of one term per row; the terms of a group count as one."""
    deviations = terms - weight @ terms / weight.sum()
    deviations *= weight
    if group is None:
        return float(deviations @ deviations / weight.sum() ** 2)
    of_groups = np.bincount(group, weights=deviations)
    groups = len(np.unique(group))
    return float(groups / max(1, groups - 1) * (of_groups**2).sum() / weight.sum() ** 2)


def make_sample(
    points: Floats,
    weight: Floats,
    copies: int = 1,
    fold: Ints | None = None,
    rest: Rest | None = None,
    pairs: Pairs | None = None,
    group: Ints | None = None,
    order: Ints | None = None,
) -> Sample:
    """Return the points in canonical order, which may be known."""
    rows = canonical_order(points) if order is None else order
    fold, group = (None if each is None else each[rows] for each in (fold, group))
    ordered = parallel.take_rows(points, rows)
    return Sample(ordered, weight[rows], rows, copies, fold, rest, pairs and pairs.take(rows), group)


def dealt_apart(numerator: Sample, denominator: Sample) -> tuple[Sample, Sample]:
    """Return the samples with different ways to deal folds, so that those of one tell nothing about those of the other.

    Rows are ordered by their distance from the centre. If equally many rows were dealt alike, rows of the same rank in
    both samples would share a fold. Each fold would then differ as the other folds do, and what a model learns there by
    chance would help it here. Which sample is dealt in which way depends on the data only: that with the rows farther
    out comes second. So nothing but the sign of the log ratio changes if the samples change places.
    """
    p, q = (_mean_square(sample) for sample in (numerator, denominator))
    if abs(p - q) <= _ROUNDING * max(p, q):
        return numerator, denominator
    return _dealt(numerator, int(p > q)), _dealt(denominator, int(q > p))


def _dealt(sample: Sample, deal: int) -> Sample:
    """Return the sample with another way to deal folds; what is known about its points stays known."""
    _, mean, scatter = sample.moments_in_memory
    return replace(sample, deal=deal).with_moments(Moments(mean, scatter))


def _mean_square(sample: Sample) -> float:
    """Return the mean squared distance from the centre."""
    weight, mean, scatter = sample.moments_in_memory
    return float(np.trace(scatter) / weight + mean @ mean)


def make_unordered_sample(points: Floats) -> Sample:
    """Return equally weighted points in the given order, for estimates that do not depend on it."""
    return Sample(points, np.ones(len(points)), np.arange(len(points)))
