"""A guide and the kernel sums around it: log R̂ = u₀ + log Σ₁ e^(−u₀/2) α k_h − log Σ₂ e^(u₀/2) α k_h.

For h → ∞ it tends to the guide, for h → 0 to the plain ratio of kernel estimates; without a guide it is the paper's.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._fit.kernel_estimate import EstimatePair, LogDensities
from vwkde._models.derivatives import Derivatives
from vwkde._models.guides import CrossFitted
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]

_STEP = 0.25
"""Step of the differences that stand in for a guide's derivatives, in whitened units."""


@dataclass(frozen=True)
class GuidedRatio:
    """The log ratio of one guide and one bandwidth; an infinite bandwidth leaves the guide alone.

    The kernel sums may change the guide by `most` at a point: where one sample has nothing nearby, they know no more
    than the number of its rows tells.
    """

    pair: EstimatePair
    guide: CrossFitted
    most: float = np.inf

    def log_ratio(self, x: Floats) -> Floats:
        """Return log p₁/p₂ at new points."""
        return self._corrected(self.guide(x), lambda: self.pair.at(x))

    @lazy
    def at_numerator(self) -> Floats:
        """The log ratio at the numerator's points, each left out of its own estimate."""
        return self._corrected(self.guide.at_numerator, lambda: self.pair.at_numerator)

    @lazy
    def at_denominator(self) -> Floats:
        """The log ratio at the denominator's points, each left out of its own estimate."""
        return self._corrected(self.guide.at_denominator, lambda: self.pair.at_denominator)

    @property
    def noise(self) -> tuple[Floats, Floats]:
        """The variance of the guide at both samples, where it stands alone; kernel sums take part of it back."""
        if np.isinf(self.pair.bandwidth):
            return self.guide.noise
        return np.zeros(len(self.pair.numerator)), np.zeros(len(self.pair.denominator))

    def _corrected(self, guide: Floats, densities: Callable[[], LogDensities]) -> Floats:
        if np.isinf(self.pair.bandwidth):
            return guide
        return guide + np.clip(densities().log_ratio, -self.most, self.most)


@dataclass(frozen=True)
class TiltedDerivatives:
    """The derivatives of exp(−tilt·u₀)·p: the density whose smoothing biases the guided estimate.

    The guide's own derivatives are central differences, since a guide may be any classifier.
    """

    density: Derivatives
    guide: CrossFitted
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


def tilted_derivatives(models: tuple[Derivatives, Derivatives], guide: CrossFitted) -> tuple[Derivatives, Derivatives]:
    """Return the derivatives of the two tilted densities; without a guide they are the densities themselves."""
    if not guide.models:
        return models
    return TiltedDerivatives(models[0], guide, 0.5), TiltedDerivatives(models[1], guide, -0.5)
