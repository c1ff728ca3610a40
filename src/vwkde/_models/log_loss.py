"""The log loss of a log ratio: the one measure by which guides, bandwidths, weights and coordinates are chosen."""

from collections.abc import Callable
from math import comb

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models import exponentials

Floats = NDArray[np.float64]
AtBoth = tuple[Floats, Floats]
"""Log ratios at the numerator's points and at the denominator's."""

_NODES, _NODE_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
"""Nodes of the mean over a normal distribution, and their weights."""
_SIDES = 1, -1
"""The sign of log ratios that are right, at the numerator's points and at the denominator's."""
_FAR = 50.0
"""Nats beyond the largest log ratio at which its level certainly is too far off."""
_LITTLE_NOISE = 0.01
"""Variance up to which the second term of an expansion is less than 2e-6 nats."""


def loss_terms(log_ratios: AtBoth) -> AtBoth:
    """Return the log loss, in nats, at every point of both samples, of the classifier that a log ratio induces."""
    p, q = (parallel.elementwise(_loss_on(side), u) for side, u in zip(_SIDES, log_ratios, strict=True))
    return p, q


def _loss_on(side: int) -> Callable[[Floats], Floats]:
    return lambda u: exponentials.loss(side * u)


def mean_loss(terms: AtBoth, samples: tuple[Sample, Sample]) -> float:
    """Return the mean of the terms, with equal weight for both classes."""
    means = [sample.weight @ values / sample.weight.sum() for values, sample in zip(terms, samples, strict=True)]
    return float(sum(means) / 2)


def log_loss(log_ratios: AtBoth, samples: tuple[Sample, Sample]) -> float:
    """Return the log loss of a log ratio.

    It is a proper score: no log ratio has a smaller expected loss than the true one.
    """
    return mean_loss(loss_terms(log_ratios), samples)


def level_gap(log_ratios: AtBoth, weights: AtBoth, shift: float = 0.0) -> float:
    """Return E_p[1/(1 + r)] − E_q[r/(1 + r)] of a log ratio plus a constant; it vanishes where the log loss is least.

    Both sides are bounded, so that no single row decides.
    """
    (p, q), (p_weight, q_weight) = log_ratios, weights
    at_p = parallel.elementwise(lambda u: exponentials.chance_of(-u - shift), p)
    at_q = parallel.elementwise(lambda u: exponentials.chance_of(u + shift), q)
    return float(p_weight @ at_p / p_weight.sum() - q_weight @ at_q / q_weight.sum())


def best_level(log_ratios: AtBoth, weights: AtBoth) -> float:
    """Return the constant that must be added to a log ratio for the smallest log loss."""
    from scipy.optimize import brentq  # only now: most estimates need no level

    far = _FAR + max(float(np.abs(u).max()) for u in log_ratios)
    return float(brentq(lambda shift: level_gap(log_ratios, weights, shift), -far, far))


def without_noise(log_ratios: AtBoth, noise: AtBoth, order: int = 2) -> AtBoth:
    """Return loss terms minus what normal noise in the log ratios adds to them; `noise` is its variance.

    Noise raises the loss by less and less. With L(v) for the loss that has v times the noise, 2·L(1) − L(2) therefore
    still exceeds L(0), 3·L(1) − 3·L(2) + L(3) by less, and so on with more terms, up to the `order`. Means over the
    noise are exact. An expansion in powers of the noise would exceed the loss itself where the noise is several nats;
    where it is little everywhere, the first term is enough.
    """
    parts = zip(_SIDES, log_ratios, noise, strict=True)
    p, q = (parallel.elementwise(_without_noise_on(side, variance, order), u, variance) for side, u, variance in parts)
    return p, q


def _without_noise_on(side: int, variance: Floats, order: int) -> Callable[[Floats, Floats], Floats]:
    if variance.max() <= _LITTLE_NOISE:
        return lambda u, own_variance: _without_little(side * u, own_variance)
    return lambda u, own_variance: _without_much(side * u, own_variance, order)


def _without_little(margin: Floats, variance: Floats) -> Floats:
    terms, wrong = exponentials.loss_and_wrong(margin)
    return np.asarray(terms - 0.5 * variance * wrong * (1 - wrong))


def _without_much(margin: Floats, variance: Floats, order: int) -> Floats:
    terms = order * exponentials.loss(margin)
    for more in range(1, order):
        spread = np.sqrt(more * variance)
        with_noise = [exponentials.loss(margin + node * spread) for node in _NODES]
        terms += (-1) ** more * comb(order, more + 1) * np.average(with_noise, axis=0, weights=_NODE_WEIGHTS)
    return np.asarray(terms)


def bound_without_noise(log_ratios: AtBoth, noise: AtBoth, samples: tuple[Sample, Sample]) -> AtBoth:
    """Return terms whose mean is at least the loss that log ratios would have without noise, however much there is.

    The loss is nowhere above a parabola that touches it at ±ξ (Jaakkola and Jordan, 2000), and noise raises the mean of
    a parabola by its curvature times the variance. The closest one has ξ at the root mean square without noise.
    """
    squares = [u**2 - variance for u, variance in zip(log_ratios, noise, strict=True)]
    touch = float(np.sqrt(max(mean_loss((squares[0], squares[1]), samples), _LITTLE_NOISE)))
    constant = exponentials.loss(np.array([touch]))[0] + touch / 2
    curvature = np.tanh(touch / 2) / (4 * touch)
    p, q = (
        constant - 0.5 * side * u + curvature * (square - touch**2)
        for side, u, square in zip(_SIDES, log_ratios, squares, strict=True)
    )
    return p, q


def fall_of_loss(before: AtBoth, after: AtBoth, samples: tuple[Sample, Sample]) -> tuple[float, float]:
    """Return by how much the mean of loss terms falls, and its standard error."""
    falls = [then - now for then, now in zip(before, after, strict=True)]
    variances = [sample.variance_of_mean(fall) for fall, sample in zip(falls, samples, strict=True)]
    return mean_loss((falls[0], falls[1]), samples), float(0.5 * np.sqrt(sum(variances)))


def fall_of_log_loss(before: AtBoth, after: AtBoth, samples: tuple[Sample, Sample]) -> tuple[float, float]:
    """Return by how much the log loss falls from one log ratio to another, and its standard error."""
    return fall_of_loss(loss_terms(before), loss_terms(after), samples)
