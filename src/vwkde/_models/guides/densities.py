"""Guides from a model of each density: the difference of two log densities."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import MixtureDerivatives, fit_mixture, refit_mixture
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


def fit_gaussians(
    fit: Callable[[Sample], GaussianModel], numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    """Return the guide from two Gaussians, each fitted by `fit`."""
    return LogDensityDifference(fit(numerator).log_density, fit(denominator).log_density)


def mixture_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Find the number and shape of the components once, on all rows; each fold starts its fit from them."""
    models = parallel.run(lambda sample: fit_mixture(sample.points, sample.weight), [numerator, denominator])
    return (partial(_fit_mixtures, models[0], models[1]),)


def _fit_mixtures(
    p_model: MixtureDerivatives, q_model: MixtureDerivatives, numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    return LogDensityDifference(_log_density(p_model, numerator), _log_density(q_model, denominator))


def _log_density(model: MixtureDerivatives, sample: Sample) -> LogDensity:
    if len(model.weights) == 1:
        return unbiased_gaussian(sample).log_density
    return refit_mixture(model, sample.points, sample.weight).log_density
