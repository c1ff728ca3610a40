"""Two kernel density estimates that share a weight function, and what they say at points."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.resources import DEFAULT_RESOURCES, Resources
from vwkde.samples import Sample
from vwkde.sums import log_kernel_sums
from vwkde.weights import Weight

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
class EstimatePair:
    """The weighted estimates p̂₁ and p̂₂ of one bandwidth."""

    numerator: Sample
    denominator: Sample
    weight: Weight
    bandwidth: float
    dtype: np.dtype[Any]
    resources: Resources = DEFAULT_RESOURCES
    tilt: tuple[Floats, Floats] | None = None
    """Log weights of the two samples' points beside the shared α."""

    def at(self, x: Floats) -> LogDensities:
        """Return the log densities at new points."""
        return LogDensities(self._log_density(x, self.numerator), self._log_density(x, self.denominator))

    @cached_property
    def at_numerator(self) -> LogDensities:
        """The log densities at the numerator's points, each left out of its own estimate."""
        x = self.numerator.points
        return LogDensities(self._log_density_left_out(self.numerator), self._log_density(x, self.denominator))

    @cached_property
    def at_denominator(self) -> LogDensities:
        """The log densities at the denominator's points, each left out of its own estimate."""
        x = self.denominator.points
        return LogDensities(self._log_density(x, self.numerator), self._log_density_left_out(self.denominator))

    def log_weight(self, sample: Sample) -> Floats:
        """Return the logarithm of all that weighs the sample's points: α, the tilt and the sample's own weights."""
        tilt = 0.0 if self.tilt is None else self.tilt[sample is self.denominator]
        return self.log_alpha(sample) + tilt + sample.log_weight

    def log_alpha(self, sample: Sample) -> Floats:
        """Return the logarithm of α at the sample's points."""
        return self._numerator_log_alpha if sample is self.numerator else self._denominator_log_alpha

    def log_sums(self, x: Floats, sample: Sample, leave_one_out: bool = False) -> Floats:
        """Return the log kernel sums over one sample."""
        return self._log_sums(x, sample, self.bandwidth, self.log_weight(sample), leave_one_out)

    def log_square_sums(self, x: Floats, sample: Sample) -> Floats:
        """Return the log sums of squared terms: a squared kernel is one narrower by √2."""
        return self._log_sums(x, sample, self.bandwidth / np.sqrt(2), 2 * self.log_weight(sample), False)

    def _log_density(self, x: Floats, sample: Sample) -> Floats:
        return self.log_sums(x, sample) - np.log(sample.weight.sum())

    def _log_density_left_out(self, sample: Sample) -> Floats:
        sums = self.log_sums(sample.points, sample, leave_one_out=True)
        return sums - np.log(sample.weight.sum() - sample.weight)

    def _log_sums(self, x: Floats, sample: Sample, bandwidth: float, log_weight: Floats, leave_one_out: bool) -> Floats:
        points = sample.points.astype(self.dtype, copy=False)
        return log_kernel_sums(
            points if x is sample.points else x.astype(self.dtype, copy=False),
            points,
            bandwidth,
            log_weight=log_weight,
            leave_one_out=leave_one_out,
            resources=self.resources,
        )

    @cached_property
    def _numerator_log_alpha(self) -> Floats:
        return self.weight.log_weight(self.numerator.points)

    @cached_property
    def _denominator_log_alpha(self) -> Floats:
        return self.weight.log_weight(self.denominator.points)
