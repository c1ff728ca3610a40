"""The test of each column alone, under permutations that all columns share."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vwkde.monitoring._columns import Bins
from vwkde.monitoring._scores import largest_of, scores_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Labels = NDArray[np.bool_]
"""Which rows are in the reference: in fact, and in permutations, as columns."""


def column_scores(bins: list[Bins], labels: Labels) -> Floats:
    """Return the score of each column, for the data and each permutation.

    Two statistics look at a column: Anderson and Darling's at the order of numbers, a chi-squared one at the shares of
    few bins. The higher of their scores counts, for what the choice between them leaves of it.
    """
    weight = labels.astype(np.float32)
    return np.stack([_scores(each, weight) for each in bins])


def _scores(bins: Bins, weight: NDArray[np.float32]) -> Floats:
    statistics = [_chi_squared(*_shares(bins.coarse, weight))]
    if bins.ordered:
        statistics.append(_anderson_darling(*_shares(bins.codes, weight)))
    return largest_of(list(scores_of(np.stack(statistics))))


def _shares(codes: Ints, weight: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Return the reference's share of each bin less that of the current table, and the pooled share of each bin.

    `weight` is one for rows of the reference and zero for others; counts are exact in single precision.
    """
    present, codes, counts = np.unique(codes, return_inverse=True, return_counts=True)
    ones, starts = np.ones(len(codes), dtype=np.float32), np.arange(len(codes) + 1)
    indicators = sparse.csc_array((ones, codes.ravel(), starts), shape=(len(present), len(codes)))
    in_reference = np.asarray(indicators @ weight, dtype=np.float64)
    rows = in_reference.sum(axis=0)
    difference = in_reference / rows - (counts[:, None] - in_reference) / (len(codes) - rows)
    return difference, counts / len(codes)


def _chi_squared(difference: Floats, share: Floats) -> Floats:
    return np.asarray((difference**2 / share[:, None]).sum(axis=0))


def _anderson_darling(difference: Floats, share: Floats) -> Floats:
    below = np.cumsum(share)[:-1, None]
    gap = np.cumsum(difference, axis=0)[:-1]
    return np.asarray((gap**2 / (below * (1 - below)) * share[1:, None]).sum(axis=0))
