"""Statistics that compare two samples, in fact and reassigned: quadratic forms in the contrast of the samples.

Nothing but the contrast depends on which row is in which sample: neither the coordinates nor the order of the rows.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vwkde._answers.reassignments import Reassignments
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


def contrast_statistics(z: Floats, samples: Reassignments, random: np.random.Generator) -> dict[str, Floats]:
    """Return the statistics of two samples, in fact and reassigned.

    Each is a quadratic form in the contrast of the two samples: 1/n for the rows of P, −1/m for the rows of Q.
    """
    some = np.sort(random.permutation(len(z))[:_MOST_ROWS])
    i, j = np.triu_indices(z.shape[1])
    few = np.arange(len(z)) if len(z) * len(i) <= _MOST_PRODUCTS else some
    distance = median_distance(z[some[:: max(1, len(some) // 1_000)]])
    return {
        "means": _squares(z, samples),
        "energy": _forms(z[some], samples.at(some), lambda d: -d),
        "covariances": _squares(z[few][:, i] * z[few][:, j], samples.at(few)),
        "kernels": _forms(z[some], samples.at(some), lambda d: np.exp(-2 * (d / distance) ** 2)),
    }


def _squares(features: Floats, samples: Reassignments) -> Floats:
    parts = split(samples.count, _PERMUTATIONS_AT_ONCE)
    return np.concatenate([((features.T @ samples.contrast(part)) ** 2).sum(axis=0) for part in parts])


def _forms(x: Floats, samples: Reassignments, kernel: Callable[[Floats], Floats]) -> Floats:
    """Return cᵀKc for every contrast c, in blocks of rows of K."""
    contrast = samples.contrast()
    result = np.zeros(samples.count)
    blocks = split(len(x), 512)
    for rows in track(blocks, "two-sample test", len(blocks)):
        result += np.einsum("ij,ij->j", contrast[rows], kernel(cdist(x[rows], x)) @ contrast)
    return result
