"""Compiled loops of sums on a grid of three axes: spread points, convolve along an axis, read values at queries.

Coordinates are in nodes. An axis that is not used has one node.
"""

import numpy as np

from vwkde._compute.compile import compiled
from vwkde._compute.engines.numba_kernels import REASSOCIATE
from vwkde._compute.engines.window import SHAPE, WIDTH

_CHUNK = 64
"""Columns convolved at a time: with some hundred rows they stay in the L2 cache."""
_UNROLLED = 4


@compiled("contract")
def _stencil(at, used, weight):
    """Set the window's values at the nodes around a coordinate; return the first of these nodes."""
    if not used:
        weight[0] = 1.0
        return 0
    first = int(np.ceil(at - 0.5 * WIDTH))
    for j in range(WIDTH):
        z = (at - first - j) * (2.0 / WIDTH)
        weight[j] = np.exp(SHAPE * (np.sqrt(max(0.0, 1.0 - z * z)) - 1.0))
    return first


@compiled(*REASSOCIATE)
def spread(points, weight, order, grid):
    """Add the weight of each point to the nodes around it."""
    used = (grid.shape[0] > 1, grid.shape[1] > 1, grid.shape[2] > 1)
    extent = (WIDTH if used[0] else 1, WIDTH if used[1] else 1, WIDTH if used[2] else 1)
    p, q, r = np.empty(WIDTH), np.empty(WIDTH), np.empty(WIDTH)
    for i in order:
        a0 = _stencil(points[i, 0], used[0], p)
        b0 = _stencil(points[i, 1], used[1], q)
        c0 = _stencil(points[i, 2], used[2], r)
        for a in range(extent[0]):
            for b in range(extent[1]):
                factor = weight[i] * p[a] * q[b]
                for c in range(extent[2]):
                    grid[a0 + a, b0 + b, c0 + c] += factor * r[c]


@compiled(*REASSOCIATE)
def read(queries, order, grid, wide, value, wide_value):
    """Set the values of two grids at queries."""
    used = (grid.shape[0] > 1, grid.shape[1] > 1, grid.shape[2] > 1)
    extent = (WIDTH if used[0] else 1, WIDTH if used[1] else 1, WIDTH if used[2] else 1)
    p, q, r = np.empty(WIDTH), np.empty(WIDTH), np.empty(WIDTH)
    for i in order:
        a0 = _stencil(queries[i, 0], used[0], p)
        b0 = _stencil(queries[i, 1], used[1], q)
        c0 = _stencil(queries[i, 2], used[2], r)
        total, wide_total = 0.0, 0.0
        for a in range(extent[0]):
            for b in range(extent[1]):
                factor, inner, wide_inner = p[a] * q[b], 0.0, 0.0
                for c in range(extent[2]):
                    inner += r[c] * grid[a0 + a, b0 + b, c0 + c]
                    wide_inner += r[c] * wide[a0 + a, b0 + b, c0 + c]
                total += factor * inner
                wide_total += factor * wide_inner
        value[i], wide_value[i] = total, wide_total


@compiled(*REASSOCIATE)
def _convolve(buffer, taps, out):
    """Set out[i, j] = Σ_k taps[k] · buffer[i + k, j]."""
    rows, columns = out.shape
    for i in range(rows):
        for j in range(columns):
            out[i, j] = 0.0
        for k in range(0, taps.shape[0], _UNROLLED):
            t0, t1, t2, t3 = taps[k], taps[k + 1], taps[k + 2], taps[k + 3]
            for j in range(columns):
                out[i, j] += (
                    t0 * buffer[i + k, j] + t1 * buffer[i + k + 1, j] + t2 * buffer[i + k + 2, j]
                    + t3 * buffer[i + k + 3, j]
                )  # fmt: skip


@compiled()
def convolve_middle(block, taps, start, stop):
    """Convolve (outer, rows, columns) along its rows, for columns from `start` to `stop`; the taps are symmetric."""
    half = taps.shape[0] // 2
    padded = np.zeros(_UNROLLED * -(-taps.shape[0] // _UNROLLED))
    padded[: taps.shape[0]] = taps
    outer, rows = block.shape[:2]
    buffer = np.zeros((rows + padded.shape[0], _CHUNK))
    out = np.empty((rows, _CHUNK))
    for a in range(outer):
        for first in range(start, stop, _CHUNK):
            last = min(first + _CHUNK, stop)
            for i in range(rows):
                for j in range(first, last):
                    buffer[half + i, j - first] = block[a, i, j]
            _convolve(buffer, padded, out)
            for i in range(rows):
                for j in range(first, last):
                    block[a, i, j] = out[i, j - first]


@compiled()
def convolve_last(block, taps):
    """Convolve (rows, columns) along its columns."""
    half = taps.shape[0] // 2
    padded = np.zeros(_UNROLLED * -(-taps.shape[0] // _UNROLLED))
    padded[: taps.shape[0]] = taps
    rows, columns = block.shape
    line = np.zeros(columns + padded.shape[0])
    for i in range(rows):
        line[half : half + columns] = block[i]
        _convolve_line(line, padded, block, i)


@compiled(*REASSOCIATE)
def _convolve_line(line, taps, block, i):
    columns = block.shape[1]
    for j in range(columns):
        block[i, j] = 0.0
    for k in range(0, taps.shape[0], _UNROLLED):
        t0, t1, t2, t3 = taps[k], taps[k + 1], taps[k + 2], taps[k + 3]
        for j in range(columns):
            block[i, j] += t0 * line[j + k] + t1 * line[j + k + 1] + t2 * line[j + k + 2] + t3 * line[j + k + 3]
