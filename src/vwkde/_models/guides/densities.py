"""Guides from a model of each density: the difference of two log densities."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import fit_mixture
from vwkde._models.gaussian import (
    GaussianModel,
    is_few,
    noise_of_unbiased,
    pooled_covariance,
    shared_gaussians,
    shrunk_gaussian,
    unbiased_gaussian,
)

Floats = NDArray[np.float64]
LogDensity = Callable[[Floats], Floats]


@dataclass(frozen=True)
class LogDensityDifference:
    """The guide from two fitted densities."""

    numerator: LogDensity
    denominator: LogDensity

    def __call__(self, x: Floats) -> Floats:
        """Return log p₁ − log p₂ of the models."""
        return self.numerator(x) - self.denominator(x)


@dataclass(frozen=True)
class UnbiasedGaussians:
    """The guide from two Gaussians with unbiased log densities, fitted to these numbers of rows."""

    models: tuple[GaussianModel, GaussianModel]
    rows: tuple[float, float]

    def __call__(self, x: Floats) -> Floats:
        """Return log p₁ − log p₂ of the models."""
        return self.models[0].log_density(x) - self.models[1].log_density(x)

    def noise(self, x: Floats) -> Floats:
        """Return the variance of the guide at points, if the samples are normal."""
        parts = [noise_of_unbiased(model, rows, x) for model, rows in zip(self.models, self.rows, strict=True)]
        return parts[0] + parts[1]


def fit_gaussians(numerator: Sample, denominator: Sample) -> UnbiasedGaussians | LogDensityDifference:
    """Return the guide from two Gaussians with unbiased log densities, or shrunk ones if the rows are too few."""
    if any(is_few(s.effective_rows - 1, s.points.shape[1]) for s in (numerator, denominator)):
        return fit_shrunk_gaussians(numerator, denominator)
    models = unbiased_gaussian(numerator), unbiased_gaussian(denominator)
    return UnbiasedGaussians(models, (numerator.effective_rows, denominator.effective_rows))


def fit_shrunk_gaussians(numerator: Sample, denominator: Sample) -> LogDensityDifference:
    """Return the guide from two Gaussians whose covariances are shrunk towards the one that they share.

    It is that of these rows: the whitened coordinates come from all rows, those held out included, and a covariance
    shrunk towards the identity would know something about them.
    """
    pooled = pooled_covariance((numerator, denominator))
    p, q = (shrunk_gaussian(sample, pooled) for sample in (numerator, denominator))
    return LogDensityDifference(p.log_density, q.log_density)


def fit_shared_gaussians(numerator: Sample, denominator: Sample) -> LogDensityDifference:
    """Return the guide from two Gaussians with the same covariance, which is linear."""
    p, q = shared_gaussians((numerator, denominator))
    return LogDensityDifference(p.log_density, q.log_density)


def fit_mixtures(numerator: Sample, denominator: Sample) -> LogDensityDifference:
    """Return the guide from two mixtures; one component is a Gaussian with an unbiased log density."""
    return LogDensityDifference(_log_density(numerator), _log_density(denominator))


def _log_density(sample: Sample) -> LogDensity:
    model = fit_mixture(sample.points, sample.weight)
    return unbiased_gaussian(sample).log_density if len(model.weights) == 1 else model.log_density
