"""The test of each column alone, under permutations that all columns share."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from vwkde.monitoring._columns import Bins
from vwkde.monitoring._scores import scores_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Labels = NDArray[np.bool_]
"""Which rows are in the reference: in fact, and in permutations, as columns."""


def column_scores(bins: list[Bins], labels: Labels) -> Floats:
    """Return the score of each column, for the data and each permutation.

    Two statistics look at a column: Anderson and Darling's at the order of numbers, a chi-squared one at the shares of
    few bins. The higher of their scores counts.
    """
    return np.stack([_scores(each, labels) for each in bins])


def _scores(bins: Bins, labels: Labels) -> Floats:
    statistics = [_chi_squared(*_shares(bins.coarse, labels))]
    if bins.ordered:
        statistics.append(_anderson_darling(*_shares(bins.codes, labels)))
    return np.asarray(scores_of(np.stack(statistics)).max(axis=0))


def _shares(codes: Ints, labels: Labels) -> tuple[Floats, Floats]:
    """Return the reference's share of each bin less that of the current table, and the pooled share of each bin."""
    order = np.argsort(codes, kind="stable")
    _, starts, counts = np.unique(codes[order], return_index=True, return_counts=True)
    in_reference = np.concatenate(list(_counted(labels[order], starts)), axis=1)
    rows = labels.sum(axis=0)
    difference = in_reference / rows - (counts[:, None] - in_reference) / (len(codes) - rows)
    return difference, counts / len(codes)


def _counted(labels: Labels, starts: Ints) -> Iterator[Floats]:
    """Yield the sums over each bin, for some permutations at a time."""
    for block in np.array_split(labels, max(1, labels.shape[1] // 64), axis=1):
        yield np.add.reduceat(block, starts, axis=0, dtype=np.int32).astype(np.float64)


def _chi_squared(difference: Floats, share: Floats) -> Floats:
    return np.asarray((difference**2 / share[:, None]).sum(axis=0))


def _anderson_darling(difference: Floats, share: Floats) -> Floats:
    below = np.cumsum(share)[:-1, None]
    gap = np.cumsum(difference, axis=0)[:-1]
    return np.asarray((gap**2 / (below * (1 - below)) * share[1:, None]).sum(axis=0))
