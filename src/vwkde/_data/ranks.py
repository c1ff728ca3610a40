"""Ranks in columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def mean_ranks(values: NDArray[Any]) -> Floats:
    """Return the ranks, from one on, of the values of a column or of each column; equal values share their mean."""
    if values.ndim == 1:
        _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[place])
    ranks = np.empty(values.shape)
    for column, of_column in zip(values.T, ranks.T, strict=True):
        of_column[:] = mean_ranks(column)
    return ranks
