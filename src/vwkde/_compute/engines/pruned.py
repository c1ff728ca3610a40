"""Sums that leave out what cannot matter: the CPU engine's way with many rows.

Points and queries are put into leaves, compact groups of rows. A query takes leaves of points, nearest first, until a
bound shows that all others together add less than the permitted part of its sum (see `pruned_kernels`). With many
columns or a wide kernel all leaves matter, and sorting them is wasted. So a few leaves of queries go first, and the
pairs of rows that they need decide, for each bandwidth, whether the others follow or the exact sums are faster. The
decision counts pairs, not seconds: equal inputs give equal sums.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.engines.asked import Asked
from vwkde._compute.engines.leaves import Leaves, leaf_order, make_leaves
from vwkde._compute.engines.pruned_kernels import sum_pruned

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_LN2 = np.log(2)
_LEAF = 256
"""Points in a leaf: fewer give sharper bounds and more of them."""
QUERY_LEAF = 64
"""Queries in a leaf."""
_BLOCK = 8
"""Leaves of queries that a thread processes at a time: tens of milliseconds of work."""
_TRIED = 24
"""Most leaves of queries that go first, and at most one in so many, so that a vain attempt costs little."""
_PAIR_COST = 1.8
"""Time of a pair of rows in a pruned sum, bounds included, relative to one in an exact sum."""


@dataclass(frozen=True)
class Pruning:
    """Points in leaves, for sums of any bandwidth; `place` says where each of them, by its number, is now."""

    points: Floats
    order: Ints
    place: Ints
    centre: NDArray[np.float64]

    def attempt(
        self, queries: Floats, bandwidth: float, log_weight: NDArray[np.float64], excluded: Ints, asked: Asked
    ) -> NDArray[np.float64] | None:
        """Return the log sums of queries in leaf order, (queries, columns of weights), or None if exact is faster."""
        scale = bandwidth * np.sqrt(2 * _LN2)
        x = ((queries - self.centre) / scale).astype(queries.dtype)
        points = ((self.points - self.centre) / scale).astype(queries.dtype)
        sums = np.full((len(x), log_weight.shape[1]), -np.inf)
        for c in range(log_weight.shape[1]):
            column = log_weight[self.order, c]
            heaviest = column.max()
            if heaviest == -np.inf:
                continue
            leaves = make_leaves(points, (column - heaviest) / _LN2, _LEAF)
            values = _Pass(x, leaves, self.place[excluded], asked.error).log2_sums(asked.share / _PAIR_COST)
            if values is None:
                return None
            sums[:, c] = values * _LN2 + heaviest
        return sums


def make_pruning(points: Floats) -> Pruning:
    """Put points into leaves."""
    order = leaf_order(points, _LEAF)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Pruning(points[order], order, place, points.mean(axis=0, dtype=np.float64))


@dataclass(frozen=True)
class _Pass:
    """One bandwidth and one column of weights, in scaled coordinates."""

    queries: Floats
    leaves: Leaves
    own: Ints
    error: float

    def log2_sums(self, part: float) -> NDArray[np.float64] | None:
        """Return the sums, or None if the leaves tried need more than this part of all pairs of rows."""
        count = -(-len(self.queries) // QUERY_LEAF)
        tried = np.linspace(0, count - 1, max(1, min(_TRIED, count // _TRIED))).astype(np.int64)
        result = np.empty(len(self.queries))
        pairs = sum(parallel.run(lambda leaf: self._sum(np.array([leaf]), result), tried.tolist()))
        if pairs > part * len(tried) * QUERY_LEAF * self.leaves.tiles.shape[0] * _LEAF:
            return None
        blocks = np.array_split(np.delete(np.arange(count), tried), -(-count // _BLOCK))
        parallel.run(lambda block: self._sum(block, result), blocks, "kernel sums")
        return result

    def _sum(self, leaves: Ints, result: NDArray[np.float64]) -> int:
        """Set the sums of the queries of some leaves; return the number of pairs of rows computed."""
        rows = (leaves[:, None] * QUERY_LEAF + np.arange(QUERY_LEAF)).ravel()
        rows = rows[rows < len(self.queries)]
        starts = np.append(np.arange(0, len(rows), QUERY_LEAF), len(rows))
        own = self.own[rows] if len(self.own) else self.own
        points, sums = self.leaves, np.empty(len(rows))
        least_mass = points.least_mass if len(own) else points.mass
        pairs = sum_pruned(
            self.queries[rows], starts, points.tiles, points.column, points.low, points.high,
            points.mass, least_mass, own, self.error, sums,
        )  # fmt: skip
        result[rows] = sums
        return int(pairs)
