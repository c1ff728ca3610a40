"""How the dependence of two columns changed: the test of every pair, under permutations that all pairs share."""

import numpy as np
from numpy.typing import NDArray

from vwkde.monitoring._columns import Column, features_of
from vwkde.monitoring._scores import largest_of, scores_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Labels = NDArray[np.bool_]

_MOST_PRODUCTS = 10_000_000
"""Products of two features, over all rows, that are summed at most; of more, some rows are left out."""
_FEWEST_ROWS = 2_000
"""Rows that are always used."""
_AT_ONCE = 64
"""Pairs of features whose sums are computed together."""
_CLOSEST = 0.995
"""Correlation beyond which two features are copies of each other, and noise would decide."""


Scores = dict[tuple[int, int], Floats]
"""The score of each pair of columns, for the data and each permutation."""


def pair_scores(columns: list[Column], labels: Labels, random: np.random.Generator) -> Scores:
    """Return the scores of the pairs of columns that vary.

    Two statistics look at a pair: at how its values go together, and at how their distances from the median do. The
    higher of their scores counts.
    """
    plain = _scores([features_of(column) for column in columns], labels, random)
    folded = _scores([features_of(column, folded=True) for column in columns], labels, random)
    both = [column for column, each in enumerate(columns) if each.is_category]
    for pair, scores in folded.items():
        if not set(pair) <= set(both):  # categories are not folded
            plain[pair] = largest_of([plain[pair], scores]) if pair in plain else scores
    return plain


def _scores(features: list[Floats], labels: Labels, random: np.random.Generator) -> Scores:
    """Return the scores of the squared difference of Fisher's z of two correlations, summed over all features."""
    owner = np.concatenate([np.full(each.shape[1], column) for column, each in enumerate(features)]).astype(np.intp)
    joined = np.concatenate(features, axis=1)
    i, j = (np.asarray(side) for side in np.triu_indices(joined.shape[1], 1))
    apart = owner[i] != owner[j]
    i, j = i[apart], j[apart]
    if not len(i):
        return {}
    rows = max(_FEWEST_ROWS, _MOST_PRODUCTS // len(i))
    if rows < len(joined):
        some = np.sort(random.permutation(len(joined))[:rows])
        joined, labels = joined[some], labels[some]
    statistics = _squared_changes(joined.astype(np.float32), i, j, labels)
    pairs, place = np.unique(np.stack([owner[i], owner[j]], axis=1), axis=0, return_inverse=True)
    sums = np.zeros((len(pairs), labels.shape[1]))
    np.add.at(sums, place.ravel(), statistics)
    return {(int(one), int(other)): scores for (one, other), scores in zip(pairs, scores_of(sums), strict=True)}


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


def _other_side(sums: NDArray[np.floating], totals: NDArray[np.floating], total: bool) -> Floats:
    """Return sums over the reference, or over the rows that are not in it."""
    return np.asarray(totals[:, None] - sums if total else sums, dtype=np.float64)
