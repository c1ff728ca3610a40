"""How strong a change is: as strong as its target of KL, unless the ratio's tail becomes too heavy before."""

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from zoo_problems.changes import Change
from zoo_problems.densities import Density, Floats, Random

_MOST_RANGE = 10.0
"""Largest difference of a tilt's log ratios."""
_MOST_VARIANCE, _MOST_SKEWNESS = 30.0, 3.0
"""Of the ratio under Q, and of its mean over the rows of Q."""
_PILOT, _CHECK = 4_000, 60_000
"""Rows on which a strength is sought and checked."""
_EXTREME = 200.0
"""Log ratio that is not reached, short of where the cube of the ratio overflows."""


def tilt_strength(tilt: Floats, shares: tuple[float, float], target: float, rows: int) -> float:
    """Return the factor of a tilt, known at rows of the base, for samples of so many rows of Q.

    `shares` are the parts of the tilt that go to P and to Q.
    """

    def accepted(strength: float) -> bool:
        log_p, log_q = (strength * share * tilt for share in shares)
        log_p, log_q = log_p - logsumexp(log_p), log_q - logsumexp(log_q)
        u = log_p - log_q
        return bool(np.exp(log_p) @ u <= target and has_light_tail(np.exp(u), np.exp(log_q), rows))

    return _largest(accepted, _MOST_RANGE)


def change_strength(base: Density, change: Change, swapped: bool, target: float, rows: int, random: Random) -> float:
    """Return the strength of a change of a base, for samples of so many rows of Q.

    `swapped` says that the base is P, and what is changed is Q.
    """
    seed = int(random.integers(2**32))

    def accepted(strength: float, count: int = _PILOT) -> bool:
        changed = change(strength)
        p, q = (base, changed) if swapped else (changed, base)
        x = p.sample(count, np.random.default_rng(seed))
        u = np.clip(p.log_density(x) - q.log_density(x), -_EXTREME, _EXTREME)
        kl = np.mean(u + np.expm1(-u))  # E_p[q/p] = 1, and small divergences need less scatter than the mean of u has
        return bool(kl <= target and has_light_tail(np.exp(u), np.exp(-u) / count, rows))

    strength = _largest(accepted, 1.0)
    while strength > 0 and not accepted(strength, _CHECK):
        strength = 0.9 * strength if strength > _NEGLIGIBLE else 0.0
    return strength


_NEGLIGIBLE = 1e-4
"""Strength below which a change is none."""


def has_light_tail(ratio: Floats, q_weight: Floats, rows: int) -> bool:
    """Return whether the mean ratio over so many rows of Q is not the work of a few of them; else no floor is reached.

    Its variance must be at most a tenth, and its skewness moderate.
    """
    variance, third = (float(np.abs(ratio - 1) ** power @ q_weight) for power in (2, 3))
    return variance <= min(_MOST_VARIANCE, 0.1 * rows) and third <= _MOST_SKEWNESS * np.sqrt(rows) * variance**1.5


def _largest(accepted: Callable[[float], bool], most: float, steps: int = 16) -> float:
    """Return the largest number up to `most` that is accepted, by bisection."""
    if accepted(most):
        return most
    low, high = 0.0, most
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if accepted(middle) else (low, middle)
    return low
