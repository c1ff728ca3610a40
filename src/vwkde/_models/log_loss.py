"""The log loss of a log ratio: the one measure by which guides, bandwidths, weights and coordinates are chosen."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from vwkde._data.sample import Sample

Floats = NDArray[np.float64]
AtBoth = tuple[Floats, Floats]
"""Log ratios at the numerator's points and at the denominator's."""


def log_loss(log_ratios: AtBoth, samples: tuple[Sample, Sample]) -> float:
    """Return the log loss, in nats, of the classifier that a log ratio induces, with equal weight for both classes.

    It is a proper score: no log ratio has a smaller expected loss than the true one.
    """
    terms = (
        -np.average(log_expit(log_ratios[0]), weights=samples[0].weight),
        -np.average(log_expit(-log_ratios[1]), weights=samples[1].weight),
    )
    return float(sum(terms) / 2)


def fall_of_log_loss(before: AtBoth, after: AtBoth, samples: tuple[Sample, Sample]) -> tuple[float, float]:
    """Return by how much the log loss falls from one log ratio to another, and its standard error."""
    falls = [
        log_expit(sign * now) - log_expit(sign * then) for sign, now, then in zip((1, -1), after, before, strict=True)
    ]
    means = [np.average(fall, weights=sample.weight) for fall, sample in zip(falls, samples, strict=True)]
    variances = [sample.variance_of_mean(fall) for fall, sample in zip(falls, samples, strict=True)]
    return float(0.5 * sum(means)), float(0.5 * np.sqrt(sum(variances)))
