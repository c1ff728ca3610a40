"""Derivatives of the densities that guided kernel estimates smooth."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.protocol import Derivatives

Floats = NDArray[np.float64]

_STEP = 0.25
"""Step of the finite differences that replace a guide's derivatives, in whitened units."""


class GuideSlopes:
    """The gradient and the Laplacian of a guide, by central differences, since a guide may be any classifier.

    The last result is kept: both densities need it at the same points, for the score and for the Laplacian.
    """

    def __init__(self, guide: Callable[[Floats], Floats]) -> None:
        self._guide = guide
        self._last: tuple[Floats, tuple[Floats, Floats]] | None = None

    def __call__(self, x: Floats) -> tuple[Floats, Floats]:
        """Return both at points."""
        last = self._last  # blocks of rows may run in several threads
        if last is None or last[0] is not x:
            last = self._last = x, self._compute(x)
        return last[1]

    def _compute(self, x: Floats) -> tuple[Floats, Floats]:
        here = self._guide(x)
        steps = _STEP * np.eye(x.shape[1])
        sides = [(self._guide(x + step), self._guide(x - step)) for step in steps]
        gradient = np.column_stack([after - before for after, before in sides]) / (2 * _STEP)
        return gradient, np.sum([after - 2 * here + before for after, before in sides], axis=0) / _STEP**2


@dataclass(frozen=True)
class TiltedDerivatives:
    """The derivatives of exp(−tilt·u₀)·p: the density whose smoothing biases the guided estimate."""

    density: Derivatives
    slopes: GuideSlopes
    tilt: float

    def score(self, x: Floats) -> Floats:
        """Return ∇log p − tilt·∇u₀."""
        return self.density.score(x) - self.tilt * self.slopes(x)[0]

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²q/q = ∇²log q + ‖∇log q‖² of q = exp(−tilt·u₀)·p."""
        score = self.density.score(x)
        of_log = self.density.laplacian_over_density(x) - (score**2).sum(axis=1)
        gradient, laplacian = self.slopes(x)
        return of_log - self.tilt * laplacian + ((score - self.tilt * gradient) ** 2).sum(axis=1)
