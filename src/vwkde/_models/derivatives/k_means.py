"""Clusters by k-means, from which mixtures start.

The start is that of k-means++ (Arthur and Vassilvitskii, 2007) with several tries for each centre, as in scikit-learn,
which finds the same clusters. Mixtures of a few hundred rows take this step many times, and most of its time there went
into checks; without it, no small estimate waits for scikit-learn to load.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MOST_STEPS = 300
_TOLERANCE = 1e-4
"""The search ends when the centres move by less, in squared units of the columns' mean variance."""
_FEW = 2**13
"""Rows times clusters up to which a sparse matrix takes longer to make than it saves."""


def k_means(x: Floats, count: int, seed: int) -> Ints:
    """Return the cluster of each row, a number below `count`; the mean of the rows should be zero."""
    centres = _first_centres(x, count, np.random.RandomState(seed))
    close = _TOLERANCE * x.var(axis=0).mean()
    with_ones = np.column_stack([x, np.ones(len(x))])
    labels = _nearest(with_ones, centres)
    for _ in range(_MOST_STEPS):
        moved = _means(x, labels, centres)
        after = _nearest(with_ones, moved)
        if np.array_equal(after, labels):
            break
        shift = moved - centres
        centres, labels = moved, after
        if np.vdot(shift, shift) <= close:
            break
    return labels


def _first_centres(x: Floats, count: int, random: np.random.RandomState) -> Floats:
    """Return rows far from each other: each is the best of a few that are drawn by the squared distance so far."""
    norms, tries = np.einsum("nd,nd->n", x, x), 2 + int(np.log(count))
    chosen = [int(random.random_sample() * len(x))]
    nearest = _squared_distances(x, norms, chosen)[0]
    for _ in range(1, count):
        drawn = np.searchsorted(np.cumsum(nearest), random.random_sample(tries) * nearest.sum())
        drawn = np.minimum(drawn, len(x) - 1)
        after = np.minimum(nearest, _squared_distances(x, norms, drawn))
        best = int(np.argmin(after.sum(axis=1)))
        chosen.append(int(drawn[best]))
        nearest = after[best]
    return x[chosen]


def _squared_distances(x: Floats, norms: Floats, rows: list[int] | Ints) -> Floats:
    """Return the squared distances of some rows from all rows."""
    return np.maximum(norms[rows][:, None] + norms - 2 * x[rows] @ x.T, 0.0)


def _nearest(with_ones: Floats, centres: Floats) -> Ints:
    """Return the nearest centre of each row; the rows have a one behind them, so that one product does it."""
    halves = -0.5 * np.einsum("kd,kd->k", centres, centres)
    return np.asarray((with_ones @ np.vstack([centres.T, halves])).argmax(axis=1))


def _means(x: Floats, labels: Ints, centres: Floats) -> Floats:
    """Return the means of the clusters; an empty one goes to one of the rows that are farthest from their centres."""
    counts = np.bincount(labels, minlength=len(centres))
    sums = _sums(x, labels, len(centres))
    empty = np.flatnonzero(counts == 0)
    if len(empty):
        away = ((x - centres[labels]) ** 2).sum(axis=1)
        far = np.argpartition(away, -len(empty))[: -len(empty) - 1 : -1]
        if not away.max():  # more clusters than distinct rows
            far, sums[empty] = far[:0], centres[empty]
        for cluster, row in zip(empty, far, strict=False):
            sums[labels[row]] -= x[row]
            counts[labels[row]] -= 1
            sums[cluster], counts[cluster] = x[row], 1
    return np.asarray(sums / np.maximum(counts, 1)[:, None])


def _sums(x: Floats, labels: Ints, count: int) -> Floats:
    if count * len(x) <= _FEW:  # the product with all zeros is the quicker one
        return (labels == np.arange(count)[:, None]).astype(np.float64) @ x
    members = csc_array((np.ones(len(x)), labels, np.arange(len(x) + 1)), shape=(count, len(x)))
    return np.asarray(members @ x)
