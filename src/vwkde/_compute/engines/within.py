"""Log kernel sums within a permitted error: exact ones of few rows, and of many rows those of `many_rows`."""

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.engines import numba_engine
from vwkde._compute.engines.engine import Engine
from vwkde._compute.engines.leaves import FEWEST_QUERIES

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_FEWEST_PAIRS = 2**25
"""Pairs of rows from which on a grid or leaves can save time; fewer take some hundredths of a second."""


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
    rows = queries, points, bandwidths, log_weight, excluded, memory_budget, device
    if len(queries) < FEWEST_QUERIES or len(queries) * len(points) < _FEWEST_PAIRS:
        return numba_engine.log_sums(*rows)
    from vwkde._compute.engines.many_rows import sums_of_many_rows  # it compiles loops, which few rows do not need

    return sums_of_many_rows(*rows, error)


def _device_here() -> str:
    return "cpu"


ENGINE = Engine("numba", numba_engine.log_sums, device_here=_device_here, log_sums_within=log_sums_within)
