"""What permutation tests share: p-values with exact ties, and their combination.

The Cauchy rule combines the p-values of several statistics, and the combination is compared with itself under the same
permutations, so the level is exact for any statistics. Statistics that differ only by rounding are tied.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Parts = dict[str, float]
"""A number for each statistic."""

_ROUNDING = 1e-10
"""Difference between two statistics, relative to the largest, that rounding explains."""


def decide(statistics: dict[str, Floats], weights: Parts) -> tuple[float, Parts, int, Parts]:
    """Return the p-value of all statistics combined, that of each one, the number of permutations, and the statistics.

    The first value of each statistic is that of the data as they are, the others are those under permutations.
    """
    ranks = {name: p_values(values) for name, values in statistics.items()}
    half = 0.5 / len(next(iter(ranks.values())))
    together = p_values(combine(ranks, weights))
    alone = {name: float(values[0] + half) for name, values in ranks.items()}
    return float(together[0] + half), alone, len(together) - 1, {name: float(v[0]) for name, v in statistics.items()}


def p_values(statistic: Floats) -> Floats:
    """Return, for each permutation, the share of permutations with a value at least as large, less half of one."""
    levels = _levels(statistic)
    smaller = np.searchsorted(np.sort(levels), levels)
    return np.asarray((len(statistic) - 0.5 - smaller) / len(statistic))


def combine(ranks: dict[str, Floats], weights: dict[str, float]) -> Floats:
    """Return the Cauchy combination of p-values, on a scale where it is uniform: no large value makes others tie."""
    tangents = [weights[name] * np.tan((0.5 - values) * np.pi) for name, values in ranks.items()]
    return np.asarray(np.arctan(np.sum(tangents, axis=0) / sum(weights[name] for name in ranks)))


def check_permutations(count: object, owner: str) -> int:
    """Return the number of permutations, or raise."""
    if not isinstance(count, int | np.integer) or count < 19:
        raise ValueError(
            f"The 'n_permutations' parameter of {owner} must be an int of at least 19, with which p = 0.05 is the "
            f"smallest possible value. Got {count!r} instead."
        )
    return int(count)


def _levels(statistic: Floats) -> NDArray[np.intp]:
    """Return numbers in the same order that are equal where values differ only by rounding."""
    order = np.argsort(statistic)
    steps = np.diff(statistic[order], prepend=-np.inf) > _ROUNDING * np.abs(statistic).max()
    levels = np.empty(len(statistic), dtype=np.intp)
    levels[order] = np.cumsum(steps)
    return levels
