"""Sums on a grid: the CPU engine's way with many rows in up to three columns, under a kernel that is not narrow.

Points are spread over the nodes of a grid, the grid is convolved with the kernel, one axis after the other, and queries
read their sums from the nodes around them (see `window`). The work grows with rows and nodes, not with pairs of rows.

The error of each sum has a bound from the same grid. Queries whose bound exceeds what is permitted, because there is
little near them, are left to other ways, and so are outliers, which would make the grid large. The convolution adds
positive numbers only, so that small sums next to large ones keep their digits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.engines import gridded_kernels as kernels
from vwkde._compute.engines.asked import Asked
from vwkde._compute.engines.window import FAR_ERROR, NEAR, NEAR_ERROR, REACH, STEP, WIDE_RATIO, WIDTH, taps

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_COLUMNS = 3
_ROUNDING = 1e-13
"""Relative rounding error of a sum: some hundred additions in double precision."""
_TRIMMED = (0.0, 3e-4, 1e-3, 3e-3, 1e-2)
"""Parts of the queries that may be cut off at either end of an axis to make the grid smaller."""
_ROW_COSTS = (150, 650, 3_000)
"""Time to spread or read a row, by the number of columns, relative to a pair of rows in an exact sum."""
_NODE_COST = 130
"""Time to convolve a node in three columns, relative to the same."""
_LEFT_COST = 0.1
"""Time of the sum of a query that is left to other ways, relative to an exact sum."""
_WORTHWHILE = 0.15
"""Largest part of the time of exact sums at which a grid is used."""
_ROWS = 2_048
"""Queries that a thread reads at a time: some milliseconds."""
_MARGIN = round(REACH / STEP) + WIDTH
"""Nodes at either end of an axis beyond those that queries read."""


@dataclass(frozen=True)
class _Box:
    """Queries between two corners and the nodes that their sums need, counted from `origin`, in `shape`."""

    low: Floats
    high: Floats
    origin: Floats
    shape: tuple[int, ...]
    spacing: float

    @property
    def nodes(self) -> int:
        return int(np.prod([float(side) for side in self.shape]))

    def holds(self, queries: Floats) -> NDArray[np.bool_]:
        return np.logical_and.reduce((queries >= self.low) & (queries <= self.high), axis=1)

    def reaches(self, points: Floats) -> NDArray[np.bool_]:
        last = self.origin + (np.array(self.shape) - 1) * self.spacing
        half = 0.5 * WIDTH * self.spacing
        return np.logical_and.reduce((points > self.origin + half) & (points < last - half), axis=1)

    def in_nodes(self, rows: Floats) -> Floats:
        """Return coordinates in nodes, on three axes of which the last are used."""
        result = np.zeros((len(rows), 3))
        result[:, 3 - rows.shape[1] :] = (rows - self.origin) / self.spacing
        return result


@dataclass(frozen=True)
class GridSums:
    """Log sums at some queries, and which of them are within the permitted error."""

    values: Floats
    sure: NDArray[np.bool_]


def sums_on_grid(
    queries: Floats,
    points: Floats,
    bandwidth: float,
    log_weight: Floats,
    excluded: Ints,
    asked: Asked,
    memory_budget: int,
) -> GridSums | None:
    """Return sums with one column of weights, or None if a grid would not pay."""
    boxes = _boxes(queries, points, bandwidth * STEP, asked.share, memory_budget)
    heaviest = log_weight.max()
    if boxes is None or heaviest == -np.inf:
        return None
    weight = np.exp(log_weight - heaviest)
    value, wide, inside = np.zeros(len(queries)), np.zeros(len(queries)), np.zeros(len(queries), bool)
    for box in boxes:
        rows, near = np.flatnonzero(box.holds(queries)), box.reaches(points)
        value[rows], wide[rows] = _read(box, queries[rows], points[near], weight[near])
        inside[rows] = True
    left = value - weight[excluded] if len(excluded) else value
    sure = inside & (_error_bound(value, wide, float(weight.sum()), queries.shape[1]) <= asked.error * left)
    with np.errstate(divide="ignore", invalid="ignore"):
        return GridSums(np.log(left) + heaviest, sure)


def _error_bound(value: Floats, wide: Floats, total: float, columns: int) -> Floats:
    """Return the largest error of each sum.

    A product of axes is wrong by at most the sum of what each is wrong by, times the kernel on the others. For points
    that are near on every axis the wider kernel bounds both; a point that is far on some axis adds hardly anything.
    """
    far = FAR_ERROR + NEAR_ERROR * np.exp(-(NEAR**2) / 2)
    near = NEAR_ERROR * (1 + NEAR_ERROR) ** (columns - 1) / WIDE_RATIO**columns
    return columns * (near * wide + far * total) + _ROUNDING * value


def _boxes(queries: Floats, points: Floats, spacing: float, share: float, memory_budget: int) -> list[_Box] | None:
    """Return the box of queries that makes the work least, in slices that fit into memory; None if it is too much."""
    most, columns = memory_budget // (2 * 8), queries.shape[1]
    pairs = float(len(queries)) * len(points)
    best, least = None, _WORTHWHILE * share * pairs - _ROW_COSTS[columns - 1] * (len(queries) + len(points))
    lows, highs = np.quantile(queries, _TRIMMED, axis=0), np.quantile(queries, 1 - np.array(_TRIMMED), axis=0)
    for trimmed, low, high in zip(_TRIMMED, lows, highs, strict=True):
        boxes = list(_slices(low, high, points, spacing, most))
        cost = _NODE_COST * sum(box.nodes for box in boxes) + 2 * columns * trimmed * _LEFT_COST * pairs
        if boxes and cost < least:
            best, least = boxes, cost
    return best


def _slices(low: Floats, high: Floats, points: Floats, spacing: float, most: int) -> Iterator[_Box]:
    """Yield boxes of at most so many nodes, cut along the first axis; none if they would overlap too much."""
    first, last = points.min(axis=0), points.max(axis=0)
    whole = _box(low, high, first, last, spacing)
    layer = whole.nodes / whole.shape[0]
    layers = int(most / layer) - 2 * _MARGIN
    if whole.nodes <= most:
        yield whole
    elif layers >= _MARGIN:
        count = int(np.ceil((high[0] - low[0]) / spacing / layers))
        borders = np.linspace(low[0], high[0], count + 1)
        for start, stop in pairwise(borders):
            yield _box(np.append(start, low[1:]), np.append(stop, high[1:]), first, last, spacing)


def _box(low: Floats, high: Floats, first: Floats, last: Floats, spacing: float) -> _Box:
    """Return the box between two corners, with nodes where there are points that its queries see."""
    reach = REACH * spacing / STEP
    start = np.minimum(low, np.maximum(low - reach, first)) - WIDTH * spacing
    stop = np.maximum(high, np.minimum(high + reach, last)) + WIDTH * spacing
    shape = np.ceil((stop - start) / spacing) + 1
    return _Box(low, high, start, tuple(int(side) for side in shape), spacing)


def _read(box: _Box, queries: Floats, points: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Return the sums at queries, with the kernel and with the wider one."""
    grid = np.zeros((1,) * (3 - len(box.shape)) + box.shape)
    _spread(box.in_nodes(points), weight, grid)
    wide = grid.copy()
    _convolve(grid, taps(1.0))
    _convolve(wide, taps(2.0))
    at = box.in_nodes(queries)
    order, value, wide_value = _walk(at, grid), np.empty(len(at)), np.empty(len(at))
    parts = parallel.split(len(at), _ROWS)
    parallel.run(lambda part: kernels.read(at, order[part], grid, wide, value, wide_value), parts, "kernel sums")
    return value, wide_value


def _spread(points: Floats, weight: Floats, grid: Floats) -> None:
    """Spread points over the grid, in blocks of layers: every other block at a time, so that threads do not meet."""
    order = _walk(points, grid)
    layers = np.arange(2 * WIDTH, grid.shape[0], 2 * WIDTH)
    blocks = np.split(order, np.searchsorted(points[order, 0], layers))
    for parity in (0, 1):
        parallel.run(lambda block: kernels.spread(points, weight, block, grid), blocks[parity::2])


def _walk(rows: Floats, grid: Floats) -> Ints:
    """Return an order of rows in which neighbours on the grid follow each other."""
    return np.argsort(rows[:, 0] if grid.shape[0] > 1 else rows[:, 1], kind="stable")


def _convolve(grid: Floats, g: Floats) -> None:
    """Convolve the grid along each axis that is used."""
    layers, rows, columns = grid.shape
    lines, whole = grid.reshape(-1, columns), grid.reshape(1, layers, rows * columns)
    _over(len(lines), lambda part: kernels.convolve_last(lines[part], g))
    if rows > 1:
        _over(layers, lambda part: kernels.convolve_middle(grid[part], g, 0, columns))
    if layers > 1:
        _over(rows * columns, lambda part: kernels.convolve_middle(whole, g, part.start, part.stop))


def _over(count: int, work: Callable[[slice], None]) -> None:
    """Run work on a few slices for each thread."""
    parallel.run(work, parallel.split(count, -(-count // (4 * parallel.thread_count()))), "kernel sums")
