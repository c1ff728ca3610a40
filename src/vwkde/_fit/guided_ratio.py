"""Log ratios with a guide: the guide alone, or with kernel sums around it.

    log R̂ = u₀ + log Σ₁ e^(−u₀/2) α k_h − log Σ₂ e^(u₀/2) α k_h

For h → ∞ it tends to the guide up to a constant, for h → 0 to the plain ratio of kernel estimates. Without a guide it
is the paper's form.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._fit.kernel_pair import KernelPair
from vwkde._models.derivatives import Models
from vwkde._models.derivatives.tilted import GuideSlopes, TiltedDerivatives
from vwkde._models.guides.cross_fit import CrossFitted
from vwkde._models.log_loss import AtBoth
from vwkde._models.weights.protocol import Weight
from vwkde._models.weights.uniform import UniformWeight
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class GuideAlone:
    """The guide as the log ratio, without kernel sums: the limit of ever wider kernels, up to a constant.

    `known` are the log ratios at the samples, if they differ from the guide's.
    """

    guide: CrossFitted
    samples: tuple[Sample, Sample]
    known: AtBoth | None = None

    @property
    def bandwidth(self) -> float:
        """Infinite."""
        return np.inf

    @property
    def weight(self) -> Weight:
        """Uniform, since there are no kernel sums."""
        return UniformWeight()

    @property
    def at_samples(self) -> AtBoth:
        """The log ratios at both samples, cross-fitted."""
        return self.known or self.guide.at_samples

    @lazy
    def spread(self) -> AtBoth:
        """The standard deviation of the log ratios at both samples."""
        p, q = map(np.sqrt, self.guide.noise)
        return p, q

    def log_ratio(self, x: Floats) -> Floats:
        """Return log p₁/p₂ at new points."""
        return self.guide(x)


@dataclass(frozen=True)
class GuidedRatio:
    """A guide corrected by kernel sums.

    The sums may change the guide by at most `most` at a point: where a sample has no points nearby, the number of its
    rows limits what they can show. `known` are the log ratios at the samples, if they were computed before. `level` is
    a constant that is added.
    """

    guide: CrossFitted
    pair: KernelPair
    most: float = np.inf
    known: AtBoth | None = None
    level: float = 0.0

    @property
    def samples(self) -> tuple[Sample, Sample]:
        """The two samples."""
        return self.pair.samples

    @property
    def bandwidth(self) -> float:
        """The bandwidth of the kernel sums."""
        return float(self.pair.numerator.bandwidth)

    @property
    def weight(self) -> Weight:
        """The weight that both sums share."""
        return self.pair.numerator.weights[0].weight

    @lazy
    def at_samples(self) -> AtBoth:
        """The log ratios at both samples, each point left out of its own estimate."""
        if self.known is not None:
            return self.known
        guides, ratios = self.guide.at_samples, self.pair.log_ratios
        return self._corrected(guides[0], ratios[0]), self._corrected(guides[1], ratios[1])

    @property
    def spread(self) -> AtBoth:
        """Zero at both samples: the kernel sums correct part of the guide's noise, and it is not known how much."""
        p, q = (np.broadcast_to(0.0, len(sample)) for sample in self.samples)
        return p, q

    def log_ratio(self, x: Floats) -> Floats:
        """Return log p₁/p₂ at new points."""
        return self._corrected(self.guide(x), self.pair.at(x).log_ratio)

    def _corrected(self, guide: Floats, correction: Floats) -> Floats:
        return guide + np.clip(correction, -self.most, self.most) + self.level


Ratio = GuideAlone | GuidedRatio


def tilted_derivatives(models: Models, guide: CrossFitted) -> Models:
    """Return the derivatives of the tilted densities that the kernel smooths; without a guide, of the densities."""
    if not guide.models:
        return models
    slopes = GuideSlopes(guide)
    return TiltedDerivatives(models[0], slopes, 0.5), TiltedDerivatives(models[1], slopes, -0.5)
