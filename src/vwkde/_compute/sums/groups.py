"""Log kernel sums over the rows of other groups: what leaving one row out becomes if rows belong together.

Subtracting a group's own part from the sum over all rows would lose all digits where that part dominates. So the groups
are halved again and again: the rows of each half are summed over those of the other half, at every level. Each pair of
rows of different groups meets exactly once in each direction, and the work is that of one pass over all pairs.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

Array = NDArray[np.floating]
Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Sums = Callable[[Ints, Ints], Floats]
"""Log sums at some rows over others, both by their numbers: (bandwidths, rows, weights)."""

_SMALL = 64
"""Rows of several groups from which on all pairs are computed at once, with those of one group masked."""


def log_sums_over_other_groups(
    queries: Array, points: Array, group: Ints, bandwidths: Floats, log_weight: Floats, log_sums: Sums
) -> Floats:
    """Return the log sums at one query for each row, over the rows of other groups, (bandwidths, rows, weights)."""
    order = np.argsort(group, kind="stable")
    result = np.full((len(bandwidths), len(points), log_weight.shape[1]), -np.inf)
    for part, cut in _halvings(group[order]):
        rows = order[part]
        if cut is None:
            _add(result, rows, _small_sums(queries[rows], points[rows], group[rows], bandwidths, log_weight[rows]))
            continue
        one, other = order[part.start : cut], order[cut : part.stop]
        _add(result, one, log_sums(one, other))
        _add(result, other, log_sums(other, one))
    return result


def _add(result: Floats, rows: Ints, sums: Floats) -> None:
    result[:, rows] = np.logaddexp(result[:, rows], sums)


def _halvings(group: Ints) -> Iterator[tuple[slice, int | None]]:
    """Yield ranges of sorted rows, each with the border between groups that halves it, or None for a small range."""
    borders = np.flatnonzero(np.diff(group)) + 1
    ranges = [(0, len(group))]
    while ranges:
        start, stop = ranges.pop()
        inner = borders[np.searchsorted(borders, start, side="right") : np.searchsorted(borders, stop)]
        if not len(inner):
            continue
        if stop - start <= _SMALL:
            yield slice(start, stop), None
            continue
        cut = int(inner[np.argmin(np.abs(2 * inner - start - stop))])
        yield slice(start, stop), cut
        ranges += [(start, cut), (cut, stop)]


def _small_sums(queries: Array, points: Array, group: Ints, bandwidths: Floats, log_weight: Floats) -> Floats:
    """Return the sums of few rows, by all their distances at once."""
    squared = cdist(queries, points, "sqeuclidean")
    squared[group[:, None] == group] = np.inf
    exponent = -squared / (2 * bandwidths[:, None, None] ** 2)
    return np.stack([logsumexp(exponent + column, axis=2) for column in log_weight.T], axis=2)
