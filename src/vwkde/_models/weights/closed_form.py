"""The weight in closed form, from models of the log densities."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.protocol import DensityModel

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GeometricMeanWeight:
    """α = (p₁·p₂)^(−½), for any pair: the remaining bias is B = ½ ∇²log(p₁/p₂), without the squared scores.

    For two Gaussians with one covariance it is the paper's closed form (with b = 0), and B vanishes everywhere.
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
