"""How the dependence of two columns changed: the test of every pair, under permutations that all pairs share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde.monitoring._scores import scores_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Labels = NDArray[np.bool_]

_MOST_PRODUCTS = 200_000_000
"""Products of two features, over all rows, that are summed at most; of more, some rows are left out."""
_FEWEST_ROWS = 2_000
"""Rows that are always used."""
_AT_ONCE = 64
"""Pairs of features whose sums are computed together."""
_CLOSEST = 0.995
"""Correlation beyond which two features are copies of each other, and noise would decide."""


class PairScores(NamedTuple):
    """The pairs of columns, and the score of each, for the data and each permutation."""

    pairs: list[tuple[int, int]]
    scores: Floats


def pair_scores(features: list[Floats], labels: Labels, random: np.random.Generator) -> PairScores | None:
    """Return the scores of the pairs of columns that vary; None if there is no pair.

    The statistic is the squared difference of Fisher's z of two correlations, summed over the features of both columns.
    """
    owner = np.concatenate([np.full(each.shape[1], column) for column, each in enumerate(features)]).astype(np.intp)
    joined = np.concatenate(features, axis=1)
    i, j = (np.asarray(side) for side in np.triu_indices(joined.shape[1], 1))
    apart = owner[i] != owner[j]
    i, j = i[apart], j[apart]
    if not len(i):
        return None
    rows = max(_FEWEST_ROWS, _MOST_PRODUCTS // len(i))
    if rows < len(joined):
        some = np.sort(random.permutation(len(joined))[:rows])
        joined, labels = joined[some], labels[some]
    statistics = _squared_changes(joined.astype(np.float32), i, j, labels)
    pairs, place = np.unique(np.stack([owner[i], owner[j]], axis=1), axis=0, return_inverse=True)
    sums = np.zeros((len(pairs), labels.shape[1]))
    np.add.at(sums, place.ravel(), statistics)
    return PairScores([(int(one), int(other)) for one, other in pairs], scores_of(sums))


def _squared_changes(x: NDArray[np.float32], i: Ints, j: Ints, labels: Labels) -> Floats:
    weight = labels.astype(np.float32)
    rows = labels.sum(axis=0).astype(np.float64)
    sides = []
    first, squares = (side.T @ weight for side in (x, x**2))
    for share, total in ((rows, False), (len(x) - rows, True)):
        mean = _other_side(first, x.sum(axis=0), total) / share
        spread = np.sqrt(np.maximum(_other_side(squares, (x**2).sum(axis=0), total) / share - mean**2, 1e-12))
        sides.append((share, total, mean, spread))
    result = np.empty((len(i), labels.shape[1]))
    for start in range(0, len(i), _AT_ONCE):
        block = slice(start, start + _AT_ONCE)
        a, b = i[block], j[block]
        products = x[:, a] * x[:, b]
        sums = products.T @ weight
        z = []
        for share, total, mean, spread in sides:
            covariance = _other_side(sums, products.sum(axis=0), total) / share - mean[a] * mean[b]
            z.append(np.arctanh(np.clip(covariance / (spread[a] * spread[b]), -_CLOSEST, _CLOSEST)))
        result[block] = (z[0] - z[1]) ** 2
    return result


def _other_side(sums: Floats, totals: Floats, total: bool) -> Floats:
    """Return sums over the reference, or over the rows that are not in it."""
    return np.asarray(totals[:, None] - sums if total else sums, dtype=np.float64)
