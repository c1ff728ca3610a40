"""How unusual a statistic is among its permutations, on a scale that many statistics share: −log p.

Each statistic is a sum of squares, whose distribution is close to a gamma distribution with the same mean, variance and
skewness (Pearson's type III). These are taken over the data and the permutations, without the value that is judged: a
value far out does not hide itself. All of them are equally likely to be the data, and treated alike: a level that is
derived from the scores stays exact, however close the distribution is.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

Floats = NDArray[np.float64]

_TIED = 1e-9
"""Difference of scores that rounding explains."""
_LEAST_SKEW = 0.05
"""Skewness of a distribution that counts as normal."""
_SMALLEST = 1e-300
"""The smallest p-value."""


def scores_of(statistics: Floats) -> Floats:
    """Return the scores of statistics, one in each row; the columns are the data and the permutations.

    A statistic that never changes has the score zero everywhere.
    """
    level = statistics.mean(axis=1, keepdims=True)
    spread = statistics.std(axis=1, keepdims=True)
    still = spread <= _TIED * np.maximum(level, np.finfo(np.float64).tiny)
    values = (statistics - level) / np.where(still, 1.0, spread)
    first, second, third = (_mean_of_others(values**power) for power in (1, 2, 3))
    variance = np.maximum(second - first**2, _TIED)
    skew = (third - 3 * first * second + 2 * first**3) / variance**1.5
    shape = 4 / np.maximum(skew, _LEAST_SKEW) ** 2
    place = shape + np.sqrt(shape / variance) * (values - first)
    return np.where(still, 0.0, -np.log(np.maximum(gammaincc(shape, np.maximum(place, 0.0)), _SMALLEST)))


def largest_of(scores: list[Floats]) -> Floats:
    """Return the largest of several scores of one thing, on the same scale: there was a choice among them.

    Statistics that agree offer less choice. The smallest p of k independent ones has 1 − (1 − p)ᵏ, and k is taken such
    that this is uniform over the data and the permutations.
    """
    if len(scores) == 1:
        return scores[0]
    log_of_rest = np.log1p(-np.minimum(np.exp(-np.max(scores, axis=0)), 1 - _TIED))
    choices = np.clip(-1 / log_of_rest.mean(), 1, len(scores)) if log_of_rest.any() else 1.0
    return np.asarray(-np.log(np.maximum(-np.expm1(choices * log_of_rest), _SMALLEST)))


def _mean_of_others(values: Floats) -> Floats:
    """Return, for each value, the mean of the others in its row."""
    return (values.sum(axis=1, keepdims=True) - values) / (values.shape[1] - 1)


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
