"""Derivatives of a Gaussian fitted to the sample: the paper's model-based variant."""

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.covariance import ledoit_wolf_shrinkage

from vwkde._coordinates.whitening import moments_of
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]

_THINNEST = 1e-6
"""Variance below which a direction of a whitened sample counts as degenerate."""


@dataclass(frozen=True)
class GaussianDerivatives:
    """Score and Laplacian of N(mean, precision⁻¹), and its log density up to a constant."""

    mean: Floats
    precision: Floats

    kind: ClassVar[str] = "gaussian"

    @property
    def degenerate(self) -> bool:
        """Whether some direction hardly varies, so that there is no density to speak of."""
        return bool(np.linalg.eigvalsh(self.precision)[-1] > 0.999 / _THINNEST)

    def score(self, x: Floats) -> Floats:
        """Return ∇log p = −precision · (x − mean)."""
        return -(x - self.mean) @ self.precision

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²p / p = ‖∇log p‖² − trace(precision)."""
        return (self.score(x) ** 2).sum(axis=1) - np.trace(self.precision)

    def log_density(self, x: Floats) -> Floats:
        """Return log p less its normalising constant."""
        return 0.5 * np.einsum("ij,ij->i", x - self.mean, self.score(x))


def fit_gaussian(x: Floats, weight: Floats, name: str | None = None) -> GaussianDerivatives:
    """Fit a Gaussian to a whitened sample; its name, if any, is for the warning when it has no density.

    The covariance is the sample's own: any ridge on it would bias the Laplacian. Only a sample too small to have one is
    shrunk towards the identity, which here is the pooled covariance.
    """
    mean, scatter = moments_of(x, weight)
    covariance = scatter / (len(x) - 1)
    if len(x) - 1 < 2 * x.shape[1]:
        shrinkage = ledoit_wolf_shrinkage(x - mean, assume_centered=True)
        covariance = (1 - shrinkage) * covariance + shrinkage * np.eye(x.shape[1])
    return gaussian_with(mean, covariance, name)


def gaussian_with(mean: Floats, covariance: Floats, name: str | None = None) -> GaussianDerivatives:
    """Return the Gaussian of these moments, warning of the named sample if it has no density."""
    values, vectors = np.linalg.eigh(covariance)
    if name and values[0] < _THINNEST:
        warnings.warn(
            f"The {name} does not vary in {np.count_nonzero(values < _THINNEST)} of {len(values)} directions in which "
            f"the other sample does: it has no density there, and the true ratio is infinite or zero. What follows "
            f"compares smoothed samples, without weighting. Drop the columns that are constant in one sample.",
            DegenerateDataWarning,
            stacklevel=2,
        )
    return GaussianDerivatives(mean, (vectors / np.maximum(values, _THINNEST)) @ vectors.T)
