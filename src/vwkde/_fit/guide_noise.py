"""What the noise of an unbiased guide hides: its loss without noise, and how far it separates the samples.

In an average the noise of a guide without bias averages out, so that averages judge it without the loss that its own
noise causes. With d columns and n rows the variance of the noise is of the order of d²/n, and may be far larger than
that of the true log ratio. Its loss then tells little, but how far it separates the samples may still be clear.
"""

from dataclasses import dataclass

import numpy as np

from vwkde._data.sample import Sample
from vwkde._models.log_loss import AtBoth, bound_without_noise, loss_terms, mean_loss, without_noise
from vwkde._runtime.lazy import lazy

_SOME, _MUCH, _MOST = 0.25, 1.0, 4.0
"""Mean variances of a guide: from the first on, terms of higher order pay; above the second, its loss tells little;
above the last one, its noise counts against it, unless the samples clearly differ by it."""
_CLEARLY = 3.0
"""Standard errors, of log ratios that are noise alone, by which the samples must differ."""
_LEAST_KNOWN = 0.7
"""Part of the variance of log ratios that noise by theory and a true ratio must explain."""
_TRUE_VARIANCE = 4.0
"""Variance of a log ratio that separates the samples by one nat; twice that of Gaussians with one covariance."""
_ORDER = 5
"""Terms by which much noise is taken out of a loss; more hardly change it."""


@dataclass(frozen=True)
class GuideNoise:
    """Log ratios at both samples by an unbiased guide, and the variance of their noise: surely, and by theory."""

    log_ratios: AtBoth
    sure: AtBoth
    by_theory: AtBoth | None
    samples: tuple[Sample, Sample]

    @lazy
    def average_terms(self) -> AtBoth:
        """The log loss at every point by which averages judge the guide."""
        if self._size > _SOME and self._is_known and self.separation > _CLEARLY * self.error_of_separation:
            return self._terms_without
        return loss_terms(self.log_ratios) if self._size > _MOST else without_noise(self.log_ratios, self.sure)

    @lazy
    def is_much(self) -> bool:
        """Whether there is so much noise, as is known, that the loss of the guide tells little."""
        return self._size > _MUCH and self._is_known

    @property
    def loss_without(self) -> float:
        """The log loss that the guide would have without noise, as far as that is known."""
        return mean_loss(self._terms_without, self.samples)

    @lazy
    def separation(self) -> float:
        """How far apart the samples are: half the difference between the mean log ratios over both."""
        p, q = self.log_ratios
        return mean_loss((p, -q), self.samples)

    @lazy
    def error_of_separation(self) -> float:
        """Its standard error if the log ratios are noise alone."""
        p, q = (
            (u - np.average(u, weights=sample.weight)) ** 2
            for u, sample in zip(self.log_ratios, self.samples, strict=True)
        )
        per_row = sum(1 / sample.effective_rows for sample in self.samples)
        return float(np.sqrt(0.5 * mean_loss((p, q), self.samples) * per_row))

    @property
    def _size(self) -> float:
        """The mean variance of the noise, at the sample where it is larger."""
        return float(max(map(np.mean, self.sure)))

    @lazy
    def _is_known(self) -> bool:
        """Whether theory explains how much the log ratios vary, together with a true ratio that separates as far."""
        if self.by_theory is None:
            return False
        true = _TRUE_VARIANCE * max(self.separation, 0.0)
        pairs = [
            (float(noise.mean()), float(np.var(u))) for noise, u in zip(self.by_theory, self.log_ratios, strict=True)
        ]
        return all(_LEAST_KNOWN * varies < noise + true and noise < varies / _LEAST_KNOWN for noise, varies in pairs)

    @lazy
    def _terms_without(self) -> AtBoth:
        estimates = (
            bound_without_noise(self.log_ratios, self.sure, self.samples),
            without_noise(self.log_ratios, self.sure, _ORDER),
        )
        return min(estimates, key=lambda terms: mean_loss(terms, self.samples))
