"""Weights known without any fit."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.protocol import DensityModel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SharedCovarianceWeight:
    """The paper's closed form for two Gaussians of one covariance: B vanishes everywhere.

    log α = −½ (x − m)ᵀA(x − m) with m the midpoint of the means, A = b (I − aaᵀ/‖a‖²) − precision and
    a = precision · (mean₁ − mean₂). The constant b ≥ 0 does not change B; it flattens the weight across a, and with
    it the variance that a steep weight brings.
    """

    numerator_mean: Floats
    denominator_mean: Floats
    precision: Floats
    b: float = 0.0

    def log_weight(self, x: Floats) -> Floats:
        """Return log α."""
        return 0.5 * np.einsum("ij,ij->i", x - self._midpoint, self._gradient(x))

    def slope(self, x: Floats, direction: Floats) -> Floats:
        """Return ∇log α · direction."""
        return np.einsum("ij,ij->i", self._gradient(x), direction)

    @property
    def _midpoint(self) -> Floats:
        return (self.numerator_mean + self.denominator_mean) / 2

    def _gradient(self, x: Floats) -> Floats:
        a = self.precision @ (self.numerator_mean - self.denominator_mean)
        across = np.eye(len(a)) - np.outer(a, a) / (a @ a)
        return (x - self._midpoint) @ (self.precision - self.b * across)


@dataclass(frozen=True)
class GeometricMeanWeight:
    """α = (p₁·p₂)^(−½), for any pair: what is left is B = ½ ∇²log(p₁/p₂), free of the squared scores.

    For two Gaussians of one covariance it is the closed form with b = 0.
    """

    numerator: DensityModel
    denominator: DensityModel

    def log_weight(self, x: Floats) -> Floats:
        """Return log α."""
        return -0.5 * (self.numerator.log_density(x) + self.denominator.log_density(x))

    def slope(self, x: Floats, direction: Floats) -> Floats:
        """Return ∇log α · direction."""
        scores = self.numerator.score(x) + self.denominator.score(x)
        return -0.5 * np.einsum("ij,ij->i", scores, direction)
