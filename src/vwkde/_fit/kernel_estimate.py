"""The unit of estimation: one sample, the weights of its points, and a bandwidth."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources
from vwkde._compute.sums import MAX_ERROR, log_kernel_sums
from vwkde._compute.sums.groups import log_sums_over_other_groups
from vwkde._data.pairs import related
from vwkde._data.sample import Rest, Sample
from vwkde._data.validation import Array
from vwkde._models.guides.cross_fit import CrossFitted
from vwkde._models.weights.protocol import Weight
from vwkde._models.weights.uniform import UniformWeight
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_DOUBLE = np.dtype(np.float64)
_ROUNDING = {4: 1e-4, 8: 1e-10}
"""Smallest share of a kernel sum that is more than rounding, by the bytes of its numbers."""
_SHARES = (-0.5, 0.5)
"""How much of the guide enters the weights of the numerator's points, and of the denominator's: e^(∓u₀/2)."""


@dataclass(frozen=True)
class Numerics:
    """How a fit computes: its seed, the precision of kernel sums, the engine and its memory."""

    seed: int = 0
    dtype: np.dtype[Any] = _DOUBLE
    resources: Resources = DEFAULT_RESOURCES


@dataclass(frozen=True)
class PointWeight:
    """The weight of a sample's points in addition to their own weights: α, and half of a guide if there is one.

    `side` is 0 for the numerator's points and 1 for the denominator's.
    """

    weight: Weight = field(default_factory=UniformWeight)
    guide: CrossFitted | None = None
    side: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether all points have the same weight."""
        return isinstance(self.weight, UniformWeight) and (self.guide is None or not self.guide.models)

    def at(self, sample: Sample) -> Floats:
        """Return the logarithm at the points of the sample, where the guide is cross-fitted."""
        log_alpha = self.weight.log_weight(sample.points)
        if self.guide is None:
            return log_alpha
        return log_alpha + _SHARES[self.side] * self.guide.at_samples[self.side]

    def of_rows(self, chosen: Ints) -> "PointWeight":
        """Return the weight of some of the sample's points."""
        return self if self.guide is None else replace(self, guide=self.guide.of_rows(chosen, self.side))

    def __call__(self, x: Floats) -> Floats:
        """Return the logarithm at points outside the samples."""
        log_alpha = self.weight.log_weight(x)
        return log_alpha if self.guide is None else log_alpha + _SHARES[self.side] * self.guide(x)


@dataclass(frozen=True)
class KernelEstimate:
    """The kernel estimate of α·p from a sample, by its logarithm; without a weight it is that of the density p.

    Several bandwidths, or several weights, share one pass over the distances: bandwidths add an axis in front of the
    points, weights one behind them.
    """

    sample: Sample
    weight: PointWeight | tuple[PointWeight, ...]
    bandwidth: float | Floats
    dtype: np.dtype[Any] = _DOUBLE
    resources: Resources = DEFAULT_RESOURCES

    def from_rows(self, chosen: Ints) -> "KernelEstimate":
        """Return the estimate from some rows of the sample."""
        weights = tuple(weight.of_rows(chosen) for weight in self.weights)
        return replace(
            self, sample=self.sample.subset(chosen), weight=weights if isinstance(self.weight, tuple) else weights[0]
        )

    def log_density(self, x: Array) -> Floats:
        """Return the logarithm at new points."""
        return self._shaped(self._with_rest(self._log_sums(x), x) - np.log(self.sample.total_weight))

    def left_out(self) -> Floats:
        """Return the logarithm at the sample's own points, each left out of its own estimate with all of its group."""
        return self.left_out_at(self.sample.points)

    def left_out_at_rows(self, rows: Ints) -> Floats:
        """Return the same at some rows of a sample without groups whose rows are all in memory."""
        sums = self._log_sums(parallel.take_rows(self.sample.points, rows), leave_one_out=rows)
        return self._shaped(sums - self._log_others[rows])

    def left_out_at(self, x: Array) -> Floats:
        """Return the logarithm at one point for each row of the sample, that row and its group being left out there."""
        return self._shaped(self._with_rest(self._log_sums_without_own(x), x) - self._log_others)

    def unrelated_at(self, sample: Sample) -> Floats:
        """Return the logarithm at the points of a sample of pairs, without the rows that share an x or a y with them.

        What those rows contribute is subtracted. If it is all there is, as far as rounding shows, little is left.
        """
        queries, points = sample.points, self.sample
        if sample.pairs is None or points.pairs is None:
            return self.log_density(queries)
        query, row = related(sample.pairs, points.pairs)
        sums = self._log_sums(queries, max_error=0)  # what is left of them may be tiny
        left = np.maximum(1 - self._shares(sums, queries, query, row), _ROUNDING[self.dtype.itemsize])
        weight = points.total_weight - np.bincount(query, points.weight[row], len(queries))
        return self._shaped(sums + np.log(left) - np.log(weight)[:, None])

    def at_other_groups(self, other: Sample) -> Floats:
        """Return the logarithm at the points of another sample, each without the rows here that are in its group."""
        own, group = self.sample, self.sample.group
        if group is None or other.group is None or not np.isin(other.group, group).any():
            return self.log_density(other.points)
        points, numbers = np.concatenate([own.points, other.points]), np.concatenate([group, other.group])
        log_weight = np.concatenate([self.log_weight, np.full((len(other), self.log_weight.shape[1]), -np.inf)])
        sums = self._log_sums_over_other_groups(points, points, numbers, log_weight)[:, len(own) :]
        weight = own.total_weight - np.bincount(group, own.weight, int(numbers.max()) + 1)[other.group]
        return self._shaped(sums - np.log(weight)[:, None])

    def left_out_and_at(self, x: Floats) -> tuple[Floats, Floats]:
        """Return `left_out()` and `log_density(x)`, with one pass over the rows that are not in memory."""
        rest = self.sample.rest
        if rest is None:
            return self.left_out(), self.log_density(x)
        beyond = self._rest_sums(rest, np.concatenate([self.sample.points, x]))
        own, other = np.split(beyond, [len(self.sample)], axis=1)
        left_out = np.logaddexp(self._log_sums_without_own(self.sample.points), own) - self._log_others
        log_density = np.logaddexp(self._log_sums(x), other) - np.log(self.sample.total_weight)
        return self._shaped(left_out), self._shaped(log_density)

    def log_effective_size(self, x: Floats) -> Floats:
        """Return the logarithm of (Σ w)² / Σ w² at points, where w are the terms of the kernel sum in memory."""
        return self._squeezed(2 * self._log_sums(x) - self._log_sums(x, power=2))

    @property
    def log_peak(self) -> float | Floats:
        """The logarithm of the kernel's largest value, (2π)^(−d/2) · h^(−d)."""
        return -self.sample.points.shape[1] * np.log(np.sqrt(2 * np.pi) * self.bandwidth)

    @lazy
    def log_alpha(self) -> Floats:
        """The logarithm of α, and of the guide's part, at the sample's points; one column per weight."""
        return np.stack([weight.at(self.sample) for weight in self.weights], axis=1)

    @lazy
    def log_weight(self) -> Floats:
        """The logarithm of the total weight of each point, its own weight included; one column per weight."""
        return self.sample.log_weight[:, None] + self.log_alpha

    @property
    def weights(self) -> tuple[PointWeight, ...]:
        """The weights as a tuple, even if there is one."""
        return self.weight if isinstance(self.weight, tuple) else (self.weight,)

    @property
    def _log_others(self) -> Floats:
        """The logarithm of the weight of all other rows, or those of other groups, for each point."""
        weight, group = self.sample.weight, self.sample.group
        own = weight if group is None else np.bincount(group, weights=weight)[group]
        return np.log(self.sample.total_weight - own)[:, None]

    def _log_sums_without_own(self, x: Array) -> Floats:
        """Return the sums at one point for each row, over the other rows in memory, or those of other groups."""
        group = self.sample.group
        if group is None:
            return self._log_sums(x, leave_one_out=True)
        return self._log_sums_over_other_groups(x, self.sample.points, group, self.log_weight)

    def _log_sums_over_other_groups(self, x: Array, rows: Array, group: Ints, log_weight: Floats) -> Floats:
        """Return the sums at one point for each of some rows, over those of other groups."""
        queries, points = x.astype(self.dtype, copy=False), rows.astype(self.dtype, copy=False)
        bandwidths = np.atleast_1d(self.bandwidth)

        def log_sums(at: NDArray[np.intp], over: NDArray[np.intp]) -> Floats:
            return log_kernel_sums(
                queries[at], points[over], bandwidths, log_weight=log_weight[over], resources=self.resources
            )

        return log_sums_over_other_groups(queries, points, group, bandwidths, log_weight, log_sums)

    def _log_sums(
        self, x: Array, leave_one_out: bool | Ints = False, power: int = 1, max_error: float = MAX_ERROR
    ) -> Floats:
        """Return the sums over the rows in memory, (bandwidths, points, weights), or those of a power of their terms.

        A Gaussian kernel to a power is a narrower one.
        """
        points = self.sample.points_as(self.dtype)
        return log_kernel_sums(
            points if x is self.sample.points else parallel.converted(x, self.dtype),
            points,
            np.atleast_1d(self.bandwidth) / np.sqrt(power),
            log_weight=self.log_weight if power == 1 else power * self.log_weight,
            leave_one_out=leave_one_out,
            max_error=max_error,
            resources=self.resources,
        )

    def _shares(self, sums: Floats, queries: Floats, query: Ints, row: Ints) -> Floats:
        """Return the share of the sums at each query that comes from some rows, given as pairs of query and row."""
        shares = np.zeros_like(sums)
        for part in parallel.split(len(query), parallel.rows_at_a_time(queries.shape[1])):
            at, of = query[part], row[part]
            distance = ((queries[at] - self.sample.points[of]) ** 2).sum(axis=1)
            for i, h in enumerate(np.atleast_1d(self.bandwidth)):
                terms = np.exp(self.log_weight[of] - distance[:, None] / (2 * h**2) - sums[i, at])
                for k in range(terms.shape[1]):
                    shares[i, :, k] += np.bincount(at, terms[:, k], len(queries))
        return shares

    def _with_rest(self, sums: Floats, x: Array) -> Floats:
        rest = self.sample.rest
        return sums if rest is None else np.logaddexp(sums, self._rest_sums(rest, x))

    def _rest_sums(self, rest: Rest, x: Array) -> Floats:
        """Return the sums over the rows that are not in memory."""
        sums = RestSums(x, np.atleast_1d(self.bandwidth), self.weights, self.dtype, self.resources)
        return rest.reduce(sums, np.logaddexp, "kernel sums")

    def _shaped(self, log_density: Floats) -> Floats:
        return self._squeezed(log_density + np.reshape(self.log_peak, (-1, 1, 1)))

    def _squeezed(self, values: Floats) -> Floats:
        """Return values without the axes of bandwidths and weights where there is only one."""
        values = values if isinstance(self.weight, tuple) else values[:, :, 0]
        return values if np.ndim(self.bandwidth) else values[0]


@dataclass(frozen=True)
class RestSums:
    """The log kernel sums of some queries over rows that are not in memory, (bandwidths, queries, weights).

    An object and not a closure, because it is pickled for the workers that read the rows.
    """

    queries: Array
    bandwidths: Floats
    weights: tuple[PointWeight, ...]
    dtype: np.dtype[Any]
    resources: Resources

    def __call__(self, points: Floats, weight: Floats) -> Floats:
        """Return the sums over some points."""
        with np.errstate(divide="ignore"):
            own = np.log(weight)
        log_weight = np.stack([own + each(points) for each in self.weights], axis=1)
        return log_kernel_sums(
            self.queries.astype(self.dtype),
            points.astype(self.dtype),
            self.bandwidths,
            log_weight=log_weight,
            resources=self.resources,
        )
