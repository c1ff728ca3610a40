"""Guides from a model of each density: the difference of two log densities.

If X and Y are independent in the denominator, as for mutual information, its model is the product of one for X and one
for Y: any dependence between them would be noise.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import (
    MORE_ROWS,
    MixtureDerivatives,
    fit_mixture,
    marginal_mixture,
    refit_mixture,
)
from vwkde._models.gaussian import (
    GaussianModel,
    is_few,
    noise_of_unbiased,
    pooled_covariance,
    shared_gaussians,
    shrunk_gaussian,
    unbiased_gaussian,
)
from vwkde._models.guides.kind import Fit
from vwkde._models.student import JackknifedStudent, fit_student, jackknifed_student

Floats = NDArray[np.float64]
LogDensity = Callable[[Floats], Floats]

GAUSSIAN_FREEDOM = 30.0
"""Degrees of freedom from which a Student t distribution is hardly different from a Gaussian."""
_ROWS_OF_TAILS = 5_000
"""Rows that show how heavy the tails are."""


@dataclass(frozen=True)
class LogDensityDifference:
    """The guide from two fitted densities."""

    numerator: LogDensity
    denominator: LogDensity

    def __call__(self, x: Floats) -> Floats:
        """Return log p₁ − log p₂ of the models."""
        return self.numerator(x) - self.denominator(x)


@dataclass(frozen=True)
class ShrunkGaussians(LogDensityDifference):
    """The guide from two Gaussians with shrunk covariances, in place of an unbiased one."""

    def noise(self, x: Floats) -> Floats:
        """Return zero: what it errs by is bias, and no noise that averages out is known."""
        return np.zeros(len(x))


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


def fit_gaussians(numerator: Sample, denominator: Sample) -> UnbiasedGaussians | LogDensityDifference:
    """Return the guide from two Gaussians with unbiased log densities, or shrunk ones if the rows are too few."""
    if any(is_few(s.effective_rows - 1, s.points.shape[1]) for s in (numerator, denominator)):
        return fit_shrunk_gaussians(numerator, denominator)
    if denominator.marginals is not None:
        return _against_product(unbiased_gaussian, numerator, denominator.marginals)
    models = unbiased_gaussian(numerator), unbiased_gaussian(denominator)
    return UnbiasedGaussians(models, (numerator.effective_rows, denominator.effective_rows))


def fit_shrunk_gaussians(numerator: Sample, denominator: Sample) -> ShrunkGaussians:
    """Return the guide from two Gaussians whose covariances are shrunk towards the one that they share.

    It is that of these rows: the whitened coordinates come from all rows, those held out included, and a covariance
    shrunk towards the identity would know something about them.
    """
    if denominator.marginals is not None:
        product = _against_product(shrunk_gaussian, numerator, denominator.marginals)
        return ShrunkGaussians(product.numerator, product.denominator)
    pooled = pooled_covariance((numerator, denominator))
    p, q = (shrunk_gaussian(sample, pooled) for sample in (numerator, denominator))
    return ShrunkGaussians(p.log_density, q.log_density)


def fit_shared_gaussians(numerator: Sample, denominator: Sample) -> LogDensityDifference:
    """Return the guide from two Gaussians with the same covariance, which is linear."""
    p, q = shared_gaussians((numerator, denominator))
    freedom = numerator.effective_rows + denominator.effective_rows - 2
    kind = ShrunkGaussians if is_few(freedom, numerator.points.shape[1]) else LogDensityDifference
    return kind(p.log_density, q.log_density)


def have_heavy_tails(numerator: Sample, denominator: Sample) -> bool:
    """Return whether a Student t distribution fits a sample better than a Gaussian, by the degrees of freedom."""
    if any(is_few(sample.effective_rows - 1, sample.points.shape[1]) for sample in (numerator, denominator)):
        return False
    random = np.random.default_rng(0)
    some = [sample.thinned(_ROWS_OF_TAILS, random) for sample in (numerator, denominator)]
    return min(fit_student(sample).freedom for sample in some) < GAUSSIAN_FREEDOM


@dataclass(frozen=True)
class Students:
    """The guide from two Student t distributions with log densities that are nearly unbiased."""

    numerator: JackknifedStudent
    denominator: JackknifedStudent

    def __call__(self, x: Floats) -> Floats:
        """Return log p₁ − log p₂ of the models."""
        return self.numerator.log_density(x) - self.denominator.log_density(x)

    def noise(self, x: Floats) -> Floats:
        """Return the variance of the guide at points."""
        return self.numerator.noise(x) + self.denominator.noise(x)


def fit_students(numerator: Sample, denominator: Sample) -> Students | LogDensityDifference:
    """Return the guide from two Student t distributions, or from shrunk Gaussians if the rows are too few."""
    if any(is_few(0.8 * s.effective_rows - 1, s.points.shape[1]) for s in (numerator, denominator)):
        return fit_shrunk_gaussians(numerator, denominator)
    if denominator.marginals is None:
        return Students(jackknifed_student(numerator), jackknifed_student(denominator))
    x, y = (jackknifed_student(marginal).log_density for marginal in denominator.marginals)
    product = LogProduct(denominator.made_of.split, x, y)
    return LogDensityDifference(jackknifed_student(numerator).log_density, product)


def mixture_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide from mixtures of as many components, of the same shape, as suit all rows.

    Only that choice, one of about thirty, comes from all rows. The components themselves are found in each fold.
    """
    if denominator.marginals is not None:
        return (partial(_fit_mixture_and_marginals, _mixture(numerator)),)
    models = parallel.run(_mixture, [numerator, denominator])
    return (partial(_fit_mixtures, models[0], models[1]),)


def _mixture(sample: Sample, like: MixtureDerivatives | None = None) -> MixtureDerivatives:
    """Fit a mixture to as many independent rows as the sample is worth, starting from `like` if they are many."""
    if like is not None and len(sample) > MORE_ROWS and len(like.weights) > 1:
        return refit_mixture(like, sample.points, sample.weight, most=len(sample))
    return fit_mixture(sample.points, sample.weight, like=like, rows=sample.effective_rows)


def _fit_mixtures(
    p_like: MixtureDerivatives, q_like: MixtureDerivatives, numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    samples = numerator, denominator
    p, q = (_log_density(like, sample, samples) for like, sample in zip((p_like, q_like), samples, strict=True))
    return LogDensityDifference(p, q)


def _log_density(like: MixtureDerivatives, sample: Sample, samples: tuple[Sample, Sample]) -> LogDensity:
    """Return the log density of a mixture; one component is a Gaussian, unbiased unless the rows are too few."""
    model = _mixture(sample, like)
    if len(model.weights) > 1:
        return model.log_density
    if is_few(sample.effective_rows - 1, sample.points.shape[1]):
        return shrunk_gaussian(sample, pooled_covariance(samples)).log_density
    return unbiased_gaussian(sample).log_density


def _fit_mixture_and_marginals(
    like: MixtureDerivatives, joint: Sample, product: Sample
) -> UnbiasedGaussians | LogDensityDifference:
    """Return the guide from a mixture for X and Y and its own marginals: most of its errors are in both and cancel."""
    model = _mixture(joint, like)
    if len(model.weights) == 1:
        return fit_gaussians(joint, product)
    split = product.made_of.split
    x, y = (marginal_mixture(model, part).log_density for part in (slice(split), slice(split, None)))
    return LogDensityDifference(model.log_density, LogProduct(split, x, y))


def _against_product(
    fit: Callable[[Sample], GaussianModel], joint: Sample, marginals: tuple[Sample, Sample]
) -> LogDensityDifference:
    x, y = (fit(marginal).log_density for marginal in marginals)
    return LogDensityDifference(fit(joint).log_density, LogProduct(marginals[0].points.shape[1], x, y))
