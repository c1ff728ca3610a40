"""Log kernel sums of many rows within a permitted error, far faster than exact sums where the data allow it.

Beside the nodes of a grid, which stay within the memory budget, they need a few copies of the rows.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.engines import numba_engine
from vwkde._compute.engines.asked import Asked
from vwkde._compute.engines.gridded import MOST_COLUMNS, GridSums, sums_on_grid
from vwkde._compute.engines.leaves import FEWEST_QUERIES, leaf_order
from vwkde._compute.engines.pruned import QUERY_LEAF, Pruning, make_pruning
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_SHARED_BY_BANDWIDTHS, _SHARED_BY_COLUMNS = 0.4, 0.7
"""Time of an exact sum that shares its pass with other bandwidths, or other columns of weights; one alone takes 1."""


def sums_of_many_rows(
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
    rows = _Rows(queries, points, excluded, memory_budget)
    asked = Asked(error, _share(len(bandwidths), log_weight.shape[1]))
    sums = np.empty((len(bandwidths), len(queries), log_weight.shape[1]))
    slow: list[int] = []
    for g in np.argsort(bandwidths):
        # leaves that a narrower kernel needs are also needed by a wider one
        values = rows.log_sums(float(bandwidths[g]), log_weight, asked, in_leaves=not slow)
        if values is None:
            slow.append(g)
        else:
            sums[g] = values
    if slow:
        sums[slow] = numba_engine.log_sums(
            queries, points, bandwidths[slow], log_weight, excluded, memory_budget, device
        )
    return sums


def _share(bandwidths: int, columns: int) -> float:
    """Return the time of an exact sum among others that share its pass, relative to one alone."""
    if bandwidths > 1:
        return _SHARED_BY_BANDWIDTHS
    return 1.0 if columns == 1 else _SHARED_BY_COLUMNS


@dataclass(frozen=True)
class _Rows:
    """Queries, points, and the number of the point that each query leaves out, if any."""

    queries: Floats
    points: Floats
    excluded: Ints
    memory_budget: int

    def log_sums(
        self, bandwidth: float, log_weight: NDArray[np.float64], asked: Asked, in_leaves: bool
    ) -> NDArray[np.float64] | None:
        """Return the sums of one bandwidth, (queries, columns of weights), or None if exact sums are faster."""
        on_grid = self._on_grid(bandwidth, log_weight, asked)
        if on_grid is None:
            return self._pruned(self._pruning, bandwidth, log_weight, asked) if in_leaves else None
        values = np.stack([each.values for each in on_grid], axis=1)
        left = np.flatnonzero(~np.all([each.sure for each in on_grid], axis=0))
        if len(left):
            values[left] = self._beside_grid(left, bandwidth, log_weight, Asked(asked.error))
        return values

    def _on_grid(self, bandwidth: float, log_weight: NDArray[np.float64], asked: Asked) -> list[GridSums] | None:
        """Return the sums on a grid, one for each column of weights, or None if it is not worthwhile."""
        if self.points.shape[1] > MOST_COLUMNS:
            return None
        queries, points = self.queries.astype(np.float64, copy=False), self.points.astype(np.float64, copy=False)
        sums = []
        for column in log_weight.T:
            found = sums_on_grid(queries, points, bandwidth, column, self.excluded, asked, self.memory_budget)
            if found is None:
                return None
            sums.append(found)
        return sums

    def _beside_grid(
        self, left: Ints, bandwidth: float, log_weight: NDArray[np.float64], asked: Asked
    ) -> NDArray[np.float64]:
        """Return the sums of the queries that a grid has left."""
        part = replace(
            self, queries=self.queries[left], excluded=self.excluded[left] if len(self.excluded) else self.excluded
        )
        if len(left) >= FEWEST_QUERIES:
            values = part._pruned(self._pruning, bandwidth, log_weight, asked)
            if values is not None:
                return values
        return numba_engine.log_sums(
            part.queries, self.points, np.array([bandwidth]), log_weight, part.excluded, self.memory_budget, "cpu"
        )[0]

    def _pruned(
        self, pruning: Pruning, bandwidth: float, log_weight: NDArray[np.float64], asked: Asked
    ) -> NDArray[np.float64] | None:
        order = self._order
        excluded = self.excluded[order] if len(self.excluded) else self.excluded
        values = pruning.attempt(self.queries[order], bandwidth, log_weight, excluded, asked)
        if values is not None:
            values[order] = values.copy()
        return values

    @lazy
    def _order(self) -> Ints:
        """The leaf order of the queries."""
        return leaf_order(self.queries, QUERY_LEAF)

    @lazy
    def _pruning(self) -> Pruning:
        """The points in leaves."""
        return make_pruning(self.points)
