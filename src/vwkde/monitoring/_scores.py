"""How unusual a statistic is among its permutations, on a scale that many statistics share.

Each statistic is a sum of squares, so its cube root is nearly normal (Wilson and Hilferty). Mean and variance are those
over all permutations and the data, which are equally likely to be the data: a level that is derived from the scores
stays exact.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_TIED = 1e-9
"""Difference of scores that rounding explains."""
_LOWEST = -100.0
"""The score of a statistic that never changes."""


def scores_of(statistics: Floats) -> Floats:
    """Return the scores of statistics, one in each row; the columns are the data and the permutations.

    A statistic that never changes has the lowest score everywhere.
    """
    mean = statistics.mean(axis=1, keepdims=True)
    spread = statistics.std(axis=1, keepdims=True)
    still = spread <= _TIED * np.maximum(mean, np.finfo(np.float64).tiny)
    mean, spread = np.where(still, 1.0, mean), np.where(still, 1.0, spread)
    relative = spread / mean
    scores = (np.cbrt(statistics / mean) - (1 - relative**2 / 9)) / (relative / 3)
    return np.asarray(np.where(still, _LOWEST, scores))


def adjusted_p_values(scores: Floats) -> Floats:
    """Return p-values that hold for all rows together (Westfall and Young, step-down).

    The largest score of the rows that are left is compared with its own permutations: copies of a row cost nothing.
    """
    order = np.argsort(-scores[:, 0], kind="stable")
    adjusted = np.empty(len(scores))
    largest = np.maximum.accumulate(scores[order][::-1], axis=0)[::-1]
    below = 0.0
    for place, row in enumerate(order):
        below = max(below, float(np.mean(largest[place] >= scores[row, 0] - _TIED)))
        adjusted[row] = below
    return adjusted


def own_p_values(scores: Floats) -> Floats:
    """Return the p-value of each row alone."""
    return np.asarray(np.mean(scores >= scores[:, :1] - _TIED, axis=1))
