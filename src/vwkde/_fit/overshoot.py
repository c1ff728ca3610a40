"""Guides without bias that separate the samples too far.

The noise of such a guide averages out. But a guide that counts the same difference several times, as one that adds up
products of columns that depend on each other, is too large everywhere, and so is every average of it. It shows in the
log loss at rows that the models have not seen: without the part that noise causes, a fraction of the guide has less.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.guides.cross_fit import CrossFitted
from vwkde._models.guides.kind import NoisyGuide
from vwkde._models.log_loss import AtBoth, fall_of_loss, mean_loss, without_noise

Floats = NDArray[np.float64]

_MOST_NOISE = 0.25
"""Mean variance of the noise above which it is not known well enough."""
_CLEARLY = 2.0
"""Standard errors by which the loss must fall with the factor."""
_SMALL_STEP, _STEP = 0.01, 0.1
"""Steps of the factor that show whether the loss falls at one, and how it bends."""
_LEAST = 0.5
"""The smallest factor."""


@dataclass(frozen=True)
class Reduced:
    """A fraction of a guide."""

    guide: NoisyGuide
    factor: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratio."""
        return self.factor * self.guide(x)

    def noise(self, x: Floats) -> Floats:
        """Return the variance of the log ratio at points."""
        return self.factor**2 * self.guide.noise(x)


def without_overshoot(guide: CrossFitted, samples: tuple[Sample, Sample]) -> CrossFitted:
    """Return a guide, or that fraction of it with the least loss without noise, if smaller ones clearly have less."""
    models = [model for model in guide.models if isinstance(model, NoisyGuide)]
    if not guide.unbiased or len(models) < len(guide.models) or max(map(np.mean, guide.sure_noise)) > _MOST_NOISE:
        return guide
    factor = _best_factor(guide.at_samples, guide.sure_noise, samples)
    if factor == 1:
        return guide
    p, q = (factor * values for values in guide.at_samples)
    return replace(guide, models=tuple(Reduced(model, factor) for model in models), at_samples=(p, q))


def _best_factor(log_ratios: AtBoth, noise: AtBoth, samples: tuple[Sample, Sample]) -> float:
    """Return one, or the factor at the minimum of a parabola through three losses, if they clearly fall towards it."""
    whole, slightly_less = (_terms_of(factor, log_ratios, noise) for factor in (1.0, 1 - _SMALL_STEP))
    fall, error = fall_of_loss(whole, slightly_less, samples)
    if not fall > _CLEARLY * error:
        return 1.0
    factors = 1 - _STEP * np.arange(3)
    losses = [mean_loss(_terms_of(factor, log_ratios, noise), samples) for factor in factors]
    bend = losses[0] - 2 * losses[1] + losses[2]
    lowest = factors[1] - _STEP * (losses[0] - losses[2]) / (2 * bend) if bend > 0 else _LEAST
    return float(np.clip(lowest, _LEAST, 1.0))


def _terms_of(factor: float, log_ratios: AtBoth, noise: AtBoth) -> AtBoth:
    p, q = ((factor * values, factor**2 * variance) for values, variance in zip(log_ratios, noise, strict=True))
    return without_noise((p[0], q[0]), (p[1], q[1]))
