"""Log kernel sums within a permitted error: of many rows, and far faster than exact sums where the data allow it."""

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.engines import numba_engine
from vwkde._compute.engines.engine import Engine
from vwkde._compute.engines.leaves import leaf_order
from vwkde._compute.engines.pruned import QUERY_LEAF, Asked, make_pruning

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_FEWEST_PAIRS = 2**25
"""Pairs of rows from which on leaves can save time; fewer take some hundredths of a second."""
_COPIES = 6
"""Memory that ordered, scaled and tiled rows take, in copies of the rows in float64."""


def log_sums_within(
    queries: Floats,
    points: Floats,
    bandwidths: NDArray[np.float64],
    log_weight: NDArray[np.float64],
    excluded: Ints,
    memory_budget: int,
    device: str,
    error: float,
) -> NDArray[np.float64]:
    """Return log sums of shape (bandwidths, queries, columns of weights), each within `error` of the exact one."""
    few = len(queries) * len(points) < _FEWEST_PAIRS
    if few or 8 * _COPIES * (queries.size + points.size) > memory_budget:
        return numba_engine.log_sums(queries, points, bandwidths, log_weight, excluded, memory_budget, device)
    order = leaf_order(queries, QUERY_LEAF)
    x, own = queries[order], excluded[order] if len(excluded) else excluded
    pruning, asked = make_pruning(points), Asked(error, shared=len(bandwidths) > 1)
    sums = np.empty((len(bandwidths), len(queries), log_weight.shape[1]))
    left = []
    for g, bandwidth in enumerate(bandwidths):
        values = pruning.attempt(x, float(bandwidth), log_weight, own, asked)
        if values is None:
            left.append(g)
        else:
            sums[g, order] = values
    if left:
        sums[left] = numba_engine.log_sums(
            queries, points, bandwidths[left], log_weight, excluded, memory_budget, device
        )
    return sums


ENGINE = Engine(
    "numba", numba_engine.log_sums, log_sums_within=log_sums_within, device_here=numba_engine.ENGINE.device_here
)
