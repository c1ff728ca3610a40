"""Derivatives of the densities that guided kernel estimates smooth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.protocol import Derivatives

Floats = NDArray[np.float64]

_STEP = 0.25
"""Step of the finite differences that replace a guide's derivatives, in whitened units."""


@dataclass(frozen=True)
class TiltedDerivatives:
    """The derivatives of exp(−tilt·u₀)·p: the density whose smoothing biases the guided estimate.

    The guide's own derivatives are central differences, since a guide may be any classifier.
    """

    density: Derivatives
    guide: Callable[[Floats], Floats]
    tilt: float

    def score(self, x: Floats) -> Floats:
        """Return ∇log p − tilt·∇u₀."""
        return self.density.score(x) - self.tilt * self._slopes(x)[0]

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²q/q = ∇²log q + ‖∇log q‖² of q = exp(−tilt·u₀)·p."""
        score = self.density.score(x)
        of_log = self.density.laplacian_over_density(x) - (score**2).sum(axis=1)
        gradient, laplacian = self._slopes(x)
        return of_log - self.tilt * laplacian + ((score - self.tilt * gradient) ** 2).sum(axis=1)

    def _slopes(self, x: Floats) -> tuple[Floats, Floats]:
        here = self.guide(x)
        steps = _STEP * np.eye(x.shape[1])
        sides = [(self.guide(x + step), self.guide(x - step)) for step in steps]
        gradient = np.column_stack([after - before for after, before in sides]) / (2 * _STEP)
        return gradient, np.sum([after - 2 * here + before for after, before in sides], axis=0) / _STEP**2
