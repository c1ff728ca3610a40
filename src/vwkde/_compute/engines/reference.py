"""The reference engine: every distance and every exponential in float64. Slow; the oracle for the others."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from vwkde._compute import parallel
from vwkde._compute.engines.engine import Engine


def log_sums(
    queries: NDArray[np.floating],
    points: NDArray[np.floating],
    bandwidths: NDArray[np.float64],
    log_weight: NDArray[np.float64],
    excluded: NDArray[np.int64],
    memory_budget: int,
    _device: str,
) -> NDArray[np.float64]:
    """Return log sums of shape (bandwidths, queries, columns of weights)."""
    sums = np.empty((len(bandwidths), len(queries), log_weight.shape[1]))
    blocks = parallel.split(len(queries), parallel.block_rows(3 * 8 * len(points), memory_budget))
    centre = points.mean(axis=0, dtype=np.float64)
    points = points - centre

    def work(rows: slice) -> None:
        squared = cdist(queries[rows] - centre, points, "sqeuclidean")
        if len(excluded):
            squared[np.arange(len(squared)), excluded[rows]] = np.inf
        for g, bandwidth in enumerate(bandwidths):
            for c in range(log_weight.shape[1]):
                sums[g, rows, c] = logsumexp(log_weight[:, c] - squared / (2 * bandwidth**2), axis=1)

    parallel.run(work, blocks, "kernel sums")
    return sums


ENGINE = Engine("reference", log_sums)
