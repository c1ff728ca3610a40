"""Guides from a model of each density: the difference of two log densities."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import (
    MixtureDerivatives,
    fit_mixture,
    marginal_mixture,
    refit_mixture,
)
from vwkde._models.gaussian import GaussianModel, unbiased_gaussian
from vwkde._models.guides.kind import Fit

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
class LogProduct:
    """The log density of independent X and Y; the columns before `split` are those of X."""

    split: int
    x: LogDensity
    y: LogDensity

    def __call__(self, points: Floats) -> Floats:
        """Return log p(x) + log p(y)."""
        x, y = np.split(points, [self.split], axis=1)
        return self.x(x) + self.y(y)


def fit_gaussians(
    fit: Callable[[Sample], GaussianModel], numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    """Return the guide from two Gaussians, each fitted by `fit`.

    If X and Y are independent in the denominator, each has its own: any correlation between them would be noise.
    """
    marginals = denominator.marginals
    if marginals is None:
        return LogDensityDifference(fit(numerator).log_density, fit(denominator).log_density)
    x, y = (fit(marginal).log_density for marginal in marginals)
    return LogDensityDifference(fit(numerator).log_density, LogProduct(marginals[0].points.shape[1], x, y))


def mixture_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Find the number and shape of the components once, on all rows; each fold starts its fit from them."""
    if denominator.marginals is not None:
        return (partial(_fit_mixture_and_marginals, fit_mixture(numerator.points, numerator.weight)),)
    models = parallel.run(lambda sample: fit_mixture(sample.points, sample.weight), [numerator, denominator])
    return (partial(_fit_mixtures, models[0], models[1]),)


def _fit_mixtures(
    p_model: MixtureDerivatives, q_model: MixtureDerivatives, numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    return LogDensityDifference(_log_density(p_model, numerator), _log_density(q_model, denominator))


def _fit_mixture_and_marginals(
    model: MixtureDerivatives, numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    """Return the guide from a mixture for X and Y and its own marginals: most of its errors are in both and cancel."""
    if len(model.weights) == 1 or denominator.pairs is None:
        return fit_gaussians(unbiased_gaussian, numerator, denominator)
    joint, split = refit_mixture(model, numerator.points, numerator.weight), denominator.pairs.split
    x, y = (marginal_mixture(joint, part).log_density for part in (slice(split), slice(split, None)))
    return LogDensityDifference(joint.log_density, LogProduct(split, x, y))


def _log_density(model: MixtureDerivatives, sample: Sample) -> LogDensity:
    if len(model.weights) == 1:
        return unbiased_gaussian(sample).log_density
    return refit_mixture(model, sample.points, sample.weight).log_density
