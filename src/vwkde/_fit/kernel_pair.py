"""Two kernel estimates with one bandwidth: of two samples, or of rows of X and Y and the product of their marginals."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.pairs import places
from vwkde._data.sample import Sample
from vwkde._fit.kernel_estimate import KernelEstimate, Numerics, PointWeight
from vwkde._models.guides.cross_fit import CrossFitted
from vwkde._models.weights.protocol import Weight
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

SOME_ROWS = 200_000
"""Rows of a sample that are enough for the errors of an average over the other one, and for overlap."""


@dataclass(frozen=True)
class LogDensities:
    """Logarithms of α·p for the numerator's and the denominator's density at some points."""

    numerator: Floats
    denominator: Floats

    @property
    def log_ratio(self) -> Floats:
        """Return log p₁/p₂: the weight cancels."""
        return self.numerator - self.denominator


class SomeRows(NamedTuple):
    """The numbers of some rows of a sample, and the log densities there."""

    rows: Ints
    log_densities: LogDensities


@dataclass(frozen=True)
class KernelPair:
    """The estimates of two samples with one bandwidth."""

    numerator: KernelEstimate
    denominator: KernelEstimate

    @property
    def samples(self) -> tuple[Sample, Sample]:
        """The two samples."""
        return self.numerator.sample, self.denominator.sample

    def at(self, x: Floats) -> LogDensities:
        """Return the log densities at new points."""
        return LogDensities(self.numerator.log_density(x), self.denominator.log_density(x))

    @lazy
    def at_samples(self) -> tuple[LogDensities, LogDensities]:
        """The log densities at the points of both samples, each point left out of its own estimate."""
        p, q = self.samples
        if p.group is not None and q.group is not None:  # rows of one group may be in both samples
            return (
                LogDensities(self.numerator.left_out(), self.denominator.at_other_groups(p)),
                LogDensities(self.numerator.at_other_groups(q), self.denominator.left_out()),
            )
        if p.rest is None and q.rest is None:
            return self._at_numerator, self._at_denominator
        p_at_p, p_at_q = self.numerator.left_out_and_at(q.points)
        q_at_q, q_at_p = self.denominator.left_out_and_at(p.points)
        return LogDensities(p_at_p, q_at_p), LogDensities(p_at_q, q_at_q)

    @property
    def some_suffice(self) -> bool:
        """Whether there are so many independent rows, all in memory, that some of them tell errors and overlap."""
        made = any(sample.group is not None or sample.rest or sample.pairs for sample in self.samples)
        return not made and max(map(len, self.samples)) > SOME_ROWS

    def at_sample(self, side: int) -> LogDensities:
        """Return the log densities at the points of one sample, as in `at_samples`."""
        if not self.some_suffice:
            return self.at_samples[side]
        return self._at_denominator if side else self._at_numerator

    def at_some(self, side: int) -> SomeRows:
        """Return the log densities at some rows of a sample, at all distances from its centre, or at all if few."""
        sample = self.samples[side]
        if not self.some_suffice or len(sample) <= SOME_ROWS:
            return SomeRows(np.arange(len(sample)), self.at_sample(side))
        return self._some_of_denominator if side else self._some_of_numerator

    @lazy
    def _at_numerator(self) -> LogDensities:
        return LogDensities(self.numerator.left_out(), self.denominator.log_density(self.samples[0].points))

    @lazy
    def _at_denominator(self) -> LogDensities:
        return LogDensities(self.numerator.log_density(self.samples[1].points), self.denominator.left_out())

    @lazy
    def _some_of_numerator(self) -> SomeRows:
        rows, points = _some_rows(self.samples[0])
        own = self.numerator.left_out_at_rows(rows)
        return SomeRows(rows, LogDensities(own, self.denominator.log_density(points)))

    @lazy
    def _some_of_denominator(self) -> SomeRows:
        rows, points = _some_rows(self.samples[1])
        own = self.denominator.left_out_at_rows(rows)
        return SomeRows(rows, LogDensities(self.numerator.log_density(points), own))

    @property
    def log_ratios(self) -> tuple[Floats, Floats]:
        """The log ratios at the points of both samples, each point left out of its own estimate."""
        at_p, at_q = self.at_samples
        return at_p.log_ratio, at_q.log_ratio


@dataclass(frozen=True)
class ProductPair(KernelPair):
    """The estimates of the joint density of X and Y and of the product of its marginals, from pairs of rows.

    Neither estimate at a pair includes the rows of X and Y that it is made of. If the points have equal weights, the
    kernel sum over all pairs of rows factorises, so that no pairs need be drawn.
    """

    def at(self, x: Floats) -> LogDensities:
        """Return the log densities at new points."""

        def by_marginals() -> Floats:
            return self._marginal(0).log_density(self._block(x, 0)) + self._marginal(1).log_density(self._block(x, 1))

        return LogDensities(
            self.numerator.log_density(x), self._product(lambda pairs: pairs.log_density(x), by_marginals)
        )

    @lazy
    def at_samples(self) -> tuple[LogDensities, LogDensities]:
        """The log densities at the points of both samples, without the rows that each is made of."""
        p, q = self.samples
        return (
            LogDensities(self.numerator.left_out(), self._product_at(p)),
            LogDensities(self.numerator.unrelated_at(q), self._product_at(q)),
        )

    def _product_at(self, sample: Sample) -> Floats:
        return self._product(
            lambda pairs: pairs.unrelated_at(sample),
            lambda: self._marginal_at(0, sample) + self._marginal_at(1, sample),
        )

    def _product(self, from_pairs: Callable[[KernelEstimate], Floats], from_marginals: Callable[[], Floats]) -> Floats:
        """Return the log density of the product: from the marginals for equal weights, else from the pairs drawn."""
        estimate = self.denominator
        if isinstance(estimate.weight, PointWeight):
            return from_marginals() if estimate.weight.is_plain else from_pairs(estimate)
        others = tuple(weight for weight in estimate.weight if not weight.is_plain)
        plain = from_marginals() if len(others) < len(estimate.weight) else np.empty(0)
        rest = iter(np.moveaxis(from_pairs(replace(estimate, weight=others)), -1, 0) if others else ())
        return np.stack([plain if weight.is_plain else next(rest) for weight in estimate.weight], axis=-1)

    def _marginal_at(self, side: int, sample: Sample) -> Floats:
        """Return the log density of X (side 0) or Y at the points of a sample, each without its own row."""
        place = places(_rows(sample, side), _rows(self.samples[0], side))
        result = self._left_out[side][..., place]
        other = place < 0
        if other.any():
            result[..., other] = self._marginal(side).log_density(self._block(sample.points[other], side))
        return result

    @lazy
    def _left_out(self) -> tuple[Floats, Floats]:
        """The log densities of X and of Y at their own rows."""
        return self._marginal(0).left_out(), self._marginal(1).left_out()

    def _marginal(self, side: int) -> KernelEstimate:
        """Return the estimate of the density of X (side 0) or Y."""
        joint = self.samples[0]
        block = replace(joint, points=self._block(joint.points, side), pairs=None)
        return replace(self.numerator, sample=block, weight=PointWeight())

    def _block(self, x: Floats, side: int) -> Floats:
        return np.split(x, [self.samples[0].made_of.split], axis=1)[side]


def _some_rows(sample: Sample) -> tuple[Ints, Floats]:
    """Return the numbers of some rows, evenly spread, and these rows."""
    rows = np.linspace(0, len(sample) - 1, SOME_ROWS).astype(np.intp)
    return rows, parallel.take_rows(sample.points, rows)


def _rows(sample: Sample, side: int) -> NDArray[np.intp]:
    return sample.made_of.second if side else sample.made_of.first


def pair_of(numerator: KernelEstimate, denominator: KernelEstimate) -> KernelPair:
    """Return the pair of two estimates."""
    kind = ProductPair if denominator.sample.is_product else KernelPair
    return kind(numerator, denominator)


def make_pair(
    samples: tuple[Sample, Sample],
    weight: Weight,
    bandwidth: float,
    numerics: Numerics,
    guide: CrossFitted | None = None,
) -> KernelPair:
    """Return the estimates of two samples that share a weight and, with opposite signs, a guide."""
    p, q = (
        KernelEstimate(sample, PointWeight(weight, guide, side), bandwidth, numerics.dtype, numerics.resources)
        for side, sample in enumerate(samples)
    )
    return pair_of(p, q)
