"""Statistics that compare two samples under permutations of the labels: quadratic forms in the contrast of the samples.

Nothing but the labels depends on which row is in which sample: neither the coordinates nor the order of the rows.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vwkde._compute.parallel import split
from vwkde._coordinates.axes import white
from vwkde._data.order import canonical_order
from vwkde._models.distances import median_distance
from vwkde._runtime.progress import track

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

WEIGHTS = {"means": 6.0, "energy": 6.0, "covariances": 1.0, "kernels": 1.0}
"""Weights of the statistics. A shift is the most common difference, so those that see it best count most."""
_MOST_ROWS = 4_000
"""Maximum number of pooled rows for distances; means and covariances use more."""
_MOST_PRODUCTS = 30_000_000
"""Maximum number of products of columns, over all rows, for which covariances use every row."""
_PERMUTATIONS_AT_ONCE = 64


def permuted_labels(
    first: NDArray[np.bool_], group: Ints, count: int, random: np.random.Generator
) -> NDArray[np.bool_]:
    """Return which rows are in the first sample: in fact, and in random permutations of the groups, as columns."""
    _, start, place = np.unique(group, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(start))[place.ravel()]  # numbered by their first rows, not by labels
    of_groups = first[np.sort(start)]
    return np.column_stack([of_groups, *(random.permutation(of_groups) for _ in range(count))])[place]


def pooled_rows(p: Floats, q: Floats, random: np.random.Generator) -> tuple[Floats, Ints]:
    """Return the pooled sample, whitened and in its canonical order, and that order.

    Correlations that the rows do not determine well are shrunk (Ledoit and Wolf): whitening by noise costs power. Rows
    are shuffled first: equal rows would otherwise keep those of P in front, and some rows are left out by position.
    """
    shuffled = random.permutation(len(p) + len(q))
    z = np.concatenate([p, q])[shuffled]
    z = z / np.maximum(np.abs(z).max(axis=0), np.finfo(np.float64).tiny)
    z = white(z)
    if not z.shape[1]:
        raise ValueError("No column varies: all rows of both samples are equal, so there is nothing to test.")
    order = canonical_order(z)
    return z[order], shuffled[order]


def contrast_statistics(z: Floats, labels: NDArray[np.bool_], random: np.random.Generator) -> dict[str, Floats]:
    """Return the statistics of each column of labels.

    Each is a quadratic form in the contrast of the two samples: 1/n for the rows of P, −1/m for the rows of Q.
    """
    some = np.sort(random.permutation(len(z))[:_MOST_ROWS])
    i, j = np.triu_indices(z.shape[1])
    few = np.arange(len(z)) if len(z) * len(i) <= _MOST_PRODUCTS else some
    distance = median_distance(z[some[:: max(1, len(some) // 1_000)]])
    return {
        "means": _squares(z, labels),
        "energy": _forms(z[some], labels[some], lambda d: -d),
        "covariances": _squares(z[few][:, i] * z[few][:, j], labels[few]),
        "kernels": _forms(z[some], labels[some], lambda d: np.exp(-2 * (d / distance) ** 2)),
    }


def _contrast(labels: NDArray[np.bool_]) -> Floats:
    """Return the contrasts; thinned rows may leave one sample empty, which then counts as zero."""
    n = labels.sum(axis=0)
    return np.where(labels, 1 / np.maximum(n, 1), -1 / np.maximum(len(labels) - n, 1))


def _squares(features: Floats, labels: NDArray[np.bool_]) -> Floats:
    parts = split(labels.shape[1], _PERMUTATIONS_AT_ONCE)
    return np.concatenate([((features.T @ _contrast(labels[:, part])) ** 2).sum(axis=0) for part in parts])


def _forms(x: Floats, labels: NDArray[np.bool_], kernel: Callable[[Floats], Floats]) -> Floats:
    """Return cᵀKc for every contrast c, in blocks of rows of K."""
    contrast = _contrast(labels)
    result = np.zeros(labels.shape[1])
    blocks = split(len(x), 512)
    for rows in track(blocks, "two-sample test", len(blocks)):
        result += np.einsum("ij,ij->j", contrast[rows], kernel(cdist(x[rows], x)) @ contrast)
    return result
