"""Two kernel density estimates that share a weight function, and what they say at points."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.resources import DEFAULT_RESOURCES, Resources
from vwkde._compute.sums import log_kernel_sums
from vwkde._data.sample import Rest, Sample
from vwkde._models.guides import CrossFitted
from vwkde._models.weights import Weight
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LogDensities:
    """Logarithms of α·p for the numerator's and the denominator's density at some points, less a common constant."""

    numerator: Floats
    denominator: Floats

    @property
    def log_ratio(self) -> Floats:
        """Return log p₁/p₂: the weight and the constant cancel."""
        return self.numerator - self.denominator


@dataclass(frozen=True)
class Weighing:
    """What weighs the points of a sample beside their own weights: log α, and a share of the guide."""

    weight: Weight
    guide: CrossFitted | None
    share: float

    def __call__(self, x: Floats) -> Floats:
        """Return the logarithm at points outside the samples."""
        log_weight = self.weight.log_weight(x)
        return log_weight if self.guide is None else log_weight + self.share * self.guide(x)


@dataclass(frozen=True)
class RestSums:
    """The log kernel sums of some queries over a piece of a sample's rest, as a pass over it needs them.

    They are for several bandwidths and several ways to weigh the points, in the shape (bandwidths, queries, ways).
    """

    queries: Floats
    bandwidths: Floats
    weighings: tuple[Callable[[Floats], Floats], ...]
    dtype: np.dtype[Any]
    resources: Resources

    def __call__(self, points: Floats, weight: Floats) -> Floats:
        """Return the sums over some points."""
        with np.errstate(divide="ignore"):
            own = np.log(weight)
        log_weight = np.stack([own + weigh(points) for weigh in self.weighings], axis=1)
        return log_kernel_sums(
            self.queries.astype(self.dtype),
            points.astype(self.dtype),
            self.bandwidths,
            log_weight=log_weight,
            resources=self.resources,
        )

    def over(self, rest: Rest) -> Floats:
        """Return the sums over all of the rest."""
        return rest.reduce(self, np.logaddexp, "kernel sums")


@dataclass(frozen=True)
class EstimatePair:
    """The weighted estimates p̂₁ and p̂₂ of one bandwidth."""

    numerator: Sample
    denominator: Sample
    weight: Weight
    bandwidth: float
    dtype: np.dtype[Any]
    resources: Resources = DEFAULT_RESOURCES
    guide: CrossFitted | None = None
    """A log ratio u₀ that enters the weights: e^(∓u₀/2) beside the shared α."""

    def at(self, x: Floats) -> LogDensities:
        """Return the log densities at new points."""
        return LogDensities(self._log_density(x, self.numerator), self._log_density(x, self.denominator))

    @lazy
    def at_numerator(self) -> LogDensities:
        """The log densities at the numerator's points, each left out of its own estimate."""
        p, q = self.numerator, self.denominator
        rest = slice(0, len(p))
        return LogDensities(self._log_density_left_out(p, rest), self._log_density_at(p.points, q, rest))

    @lazy
    def at_denominator(self) -> LogDensities:
        """The log densities at the denominator's points, each left out of its own estimate."""
        p, q = self.numerator, self.denominator
        rest = slice(len(p), None)
        return LogDensities(self._log_density_at(q.points, p, rest), self._log_density_left_out(q, rest))

    def log_weight(self, sample: Sample) -> Floats:
        """Return the logarithm of all that weighs the sample's points: α, the guide's share and their own weights."""
        log_weight = self.log_alpha(sample) + sample.log_weight
        if self.guide is None:
            return log_weight
        own = self.guide.at_numerator if sample is self.numerator else self.guide.at_denominator
        return log_weight + self._share(sample) * own

    def log_alpha(self, sample: Sample) -> Floats:
        """Return the logarithm of α at the sample's points."""
        return self._numerator_log_alpha if sample is self.numerator else self._denominator_log_alpha

    def log_sums(self, x: Floats, sample: Sample) -> Floats:
        """Return the log kernel sums over all rows of one sample."""
        return self._with_rest(self._log_sums(x, sample), sample, x)

    def log_square_sums(self, x: Floats, sample: Sample) -> Floats:
        """Return the log sums of squared terms over a sample's points: a squared kernel is one narrower by √2."""
        return self._log_sums(x, sample, squared=True)

    def only_held(self) -> "EstimatePair":
        """Return the estimates by the samples' points alone."""
        p, q = self.numerator.held, self.denominator.held
        return self if p is self.numerator and q is self.denominator else replace(self, numerator=p, denominator=q)

    def _log_density(self, x: Floats, sample: Sample) -> Floats:
        return self.log_sums(x, sample) - np.log(sample.total_weight)

    def _log_density_at(self, x: Floats, sample: Sample, rest: slice) -> Floats:
        """Return the log density at points of the other sample, whose sums over the rest have that place."""
        return self._add(self._log_sums(x, sample), sample, rest) - np.log(sample.total_weight)

    def _log_density_left_out(self, sample: Sample, rest: slice) -> Floats:
        sums = self._add(self._log_sums(sample.points, sample, leave_one_out=True), sample, rest)
        return sums - np.log(sample.total_weight - sample.weight)

    def _add(self, sums: Floats, sample: Sample, rest: slice) -> Floats:
        if sample.rest is None:
            return sums
        return np.logaddexp(sums, self._rest_at_points[sample is self.denominator][rest])

    @lazy
    def _rest_at_points(self) -> tuple[Floats, Floats]:
        """The log sums over the two rests at all points of both samples, in one pass over each."""
        x = np.concatenate([self.numerator.points, self.denominator.points])
        nothing = np.full(len(x), -np.inf)
        return (
            self._with_rest(nothing, self.numerator, x),
            self._with_rest(nothing, self.denominator, x),
        )

    def _with_rest(self, sums: Floats, sample: Sample, x: Floats) -> Floats:
        if sample.rest is None:
            return sums
        weighing = Weighing(self.weight, self.guide, self._share(sample))
        work = RestSums(x, np.array([self.bandwidth]), (weighing,), self.dtype, self.resources)
        return np.logaddexp(sums, work.over(sample.rest)[0, :, 0])

    def _share(self, sample: Sample) -> float:
        return -0.5 if sample is self.numerator else 0.5

    def _log_sums(self, x: Floats, sample: Sample, leave_one_out: bool = False, squared: bool = False) -> Floats:
        log_weight = self.log_weight(sample)
        points = sample.points.astype(self.dtype, copy=False)
        return log_kernel_sums(
            points if x is sample.points else x.astype(self.dtype, copy=False),
            points,
            self.bandwidth / np.sqrt(2) if squared else self.bandwidth,
            log_weight=2 * log_weight if squared else log_weight,
            leave_one_out=leave_one_out,
            resources=self.resources,
        )

    @lazy
    def _numerator_log_alpha(self) -> Floats:
        return self.weight.log_weight(self.numerator.points)

    @lazy
    def _denominator_log_alpha(self) -> Floats:
        return self.weight.log_weight(self.denominator.points)
