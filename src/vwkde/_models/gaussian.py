"""The Gaussian of a sample: its density, its derivatives, and the ways to fit it."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, polygamma

from vwkde._coordinates.shrinkage import ledoit_wolf_shrinkage
from vwkde._data.moments import Moments, moments_of
from vwkde._data.sample import Sample
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]

THINNEST = 1e-12
"""Variance below which a direction of a whitened sample is degenerate; it is then raised to this value.

Rounding makes variances of 1e-16 in double precision and 1e-14 in single precision out of columns that depend on each
other exactly.
"""


@dataclass(frozen=True)
class GaussianModel:
    """N(mean, precision⁻¹): log density, score and Laplacian.

    `log_peak` is the log density at the mean. It is zero if only derivatives are needed.
    """

    mean: Floats
    precision: Floats
    log_peak: float = 0.0

    kind: ClassVar[str] = "gaussian"

    @property
    def degenerate(self) -> bool:
        """Whether the sample hardly varies in some direction, so that it has no density."""
        return bool(np.linalg.eigvalsh(self.precision)[-1] > 0.999 / THINNEST)

    def score(self, x: Floats) -> Floats:
        """Return ∇log p = −precision · (x − mean)."""
        return -(x - self.mean) @ self.precision

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²p / p = ‖∇log p‖² − trace(precision)."""
        return (self.score(x) ** 2).sum(axis=1) - np.trace(self.precision)

    def log_density(self, x: Floats) -> Floats:
        """Return `log_peak` plus the log density relative to that at the mean."""
        return self.log_peak + 0.5 * np.einsum("ij,ij->i", x - self.mean, self.score(x))


def fit_gaussian(x: Floats, weight: Floats, name: str | None = None) -> GaussianModel:
    """Fit a Gaussian to a whitened sample; with a name, a sample without a density raises a warning.

    The covariance is the sample's own: any ridge on it would bias the Laplacian. Only if the rows are too few for the
    columns is it shrunk towards the identity, which is the pooled covariance of whitened data.
    """
    return _gaussian_of(x, moments_of(x, weight), name)


def _gaussian_of(x: Floats, moments: Moments, name: str | None) -> GaussianModel:
    mean, scatter = moments
    covariance = scatter / (len(x) - 1)
    if len(x) - 1 < 2 * x.shape[1]:
        shrinkage = ledoit_wolf_shrinkage(x - mean)
        covariance = (1 - shrinkage) * covariance + shrinkage * np.eye(x.shape[1])
    return _gaussian_with(mean, covariance, name)


def fit_gaussian_to_all(sample: Sample, name: str | None = None) -> GaussianModel:
    """Fit a Gaussian to all rows of a sample, in memory or not."""
    weight, mean, scatter = sample.weighted_moments
    if sample.rest is None:
        return _gaussian_of(sample.points, Moments(mean, scatter), name)
    return _gaussian_with(mean, scatter / (weight - 1), name)


def is_few(freedom: float, columns: int) -> bool:
    """Return whether a covariance with these degrees of freedom must be shrunk to be inverted."""
    return freedom < max(2 * columns, columns + 4)


def unbiased_gaussian(sample: Sample) -> GaussianModel:
    """Return a Gaussian whose log density is unbiased at every point, if the true density is Gaussian.

    The inverse of a sample covariance is too large and its log determinant too small, by factors known from the Wishart
    distribution (as in the unbiased discriminant of Moran and Murphy, 1979).
    """
    n, d = sample.effective_rows, sample.points.shape[1]
    if is_few(n - 1, d):
        return shrunk_gaussian(sample)
    mean, covariance = sample.mean_and_covariance()
    freedom = n - 1
    precision, log_volume = _inverse(covariance)
    log_volume -= np.sum(digamma((freedom - np.arange(d)) / 2) - np.log(freedom / 2))
    precision *= (freedom - d - 1) / freedom
    return GaussianModel(mean, precision, float(0.5 * (d / n - log_volume - d * np.log(2 * np.pi))))


def noise_of_unbiased(model: GaussianModel, rows: float, x: Floats) -> Floats:
    """Return the variance, at points, of the log density that `unbiased_gaussian` fits to rows of a normal sample."""
    d = x.shape[1]
    return variance_of_unbiased(np.maximum(2 * (model.log_peak - model.log_density(x)) - d / rows, 0.0), rows, d)


def variance_of_unbiased(q: Floats, rows: float, d: int) -> Floats:
    """Return the variance of an unbiased log density where the squared distance from the mean is q.

    It follows from the Wishart distribution too. With f degrees of freedom and g = f − d, the log density varies by
    q²/2(g − 3) + q/n + ¼ Σ ψ′((f − i)/2) − q/(g − 1).
    """
    freedom = rows - 1
    volume = 0.25 * np.sum(polygamma(1, (freedom - np.arange(d)) / 2))
    return np.asarray(q**2 / (2 * (freedom - d - 3)) + q / rows + volume - q / (freedom - d - 1))


def shrunk_gaussian(sample: Sample, towards: Floats | None = None) -> GaussianModel:
    """Return a Gaussian whose covariance is shrunk towards a multiple of another one (Ledoit and Wolf, 2004).

    By default that is the identity.
    """
    d = sample.points.shape[1]
    towards = np.eye(d) if towards is None else towards
    mean, covariance = sample.mean_and_covariance()
    root, _ = _root_of_inverse(towards)
    shrinkage = _shrinkage(sample, root)
    covariance = (1 - shrinkage) * covariance + shrinkage * towards * np.trace(root.T @ covariance @ root) / d
    precision, log_volume = _inverse(covariance)
    return GaussianModel(mean, precision, float(-0.5 * (log_volume + d * np.log(2 * np.pi))))


def _shrinkage(sample: Sample, root: Floats) -> float:
    """Return Ledoit and Wolf's share of the target, in coordinates x · root, in which the target is the identity.

    The fourth moment is that of the points, everything else that of all rows.
    """
    weight, mean, scatter = sample.weighted_moments
    covariance = root.T @ scatter @ root / weight
    squares = np.sum(covariance**2)
    away = squares - np.trace(covariance) ** 2 / len(covariance)
    noise = (sample.fourth_moment(mean, root) - squares) / sample.total
    return float(min(noise / away, 1.0)) if away > 0 and noise > 0 else 0.0


def pooled_covariance(samples: tuple[Sample, Sample]) -> Floats:
    """Return the covariance within the samples; if there are too few rows, shrunk towards the identity."""
    (mean_p, p), (mean_q, q) = (sample.mean_and_covariance() for sample in samples)
    freedom = [sample.effective_rows - 1 for sample in samples]
    covariance = np.average([p, q], axis=0, weights=freedom)
    if is_few(sum(freedom), len(covariance)):
        centred = np.concatenate([samples[0].points - mean_p, samples[1].points - mean_q])
        shrinkage = ledoit_wolf_shrinkage(centred)
        covariance = (1 - shrinkage) * covariance + shrinkage * np.eye(len(covariance))
    return np.asarray(covariance)


def shared_gaussians(samples: tuple[Sample, Sample]) -> tuple[GaussianModel, GaussianModel]:
    """Return Gaussians with one covariance for both samples, whose log densities are unbiased at every point."""
    d = samples[0].points.shape[1]
    freedom = sum(sample.effective_rows - 1 for sample in samples)
    precision, _ = _inverse(pooled_covariance(samples))
    if not is_few(freedom, d):  # otherwise the covariance is shrunk, and its inverse not too large
        precision *= (freedom - d - 1) / freedom
    means = [sample.mean_and_covariance()[0] for sample in samples]
    peaks = [0.5 * d / sample.effective_rows for sample in samples]
    return GaussianModel(means[0], precision, peaks[0]), GaussianModel(means[1], precision, peaks[1])


def _gaussian_with(mean: Floats, covariance: Floats, name: str | None) -> GaussianModel:
    thin = np.linalg.eigvalsh(covariance) < THINNEST
    if name and thin.any():
        warn(
            f"The {name} does not vary in {np.count_nonzero(thin)} of {len(thin)} directions in which the other sample "
            f"does: it has no density there, and the true ratio is infinite or zero. The estimate compares smoothed "
            f"samples, without weights. Look for columns that are constant in one sample, or follow from others there.",
            DegenerateDataWarning,
        )
    return GaussianModel(mean, _inverse(covariance)[0])


def _inverse(covariance: Floats) -> tuple[Floats, float]:
    """Return the inverse and the log determinant; eigenvalues are raised to the smallest variance allowed."""
    root, log_volume = _root_of_inverse(covariance)
    return root @ root.T, log_volume


def _root_of_inverse(covariance: Floats) -> tuple[Floats, float]:
    """Return a matrix whose product with its transpose is the inverse, and the log determinant.

    It comes from the eigenvectors: where a direction hardly varies, the inverse may have no Cholesky root.
    """
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, THINNEST)
    return vectors / np.sqrt(values), float(np.log(values).sum())
