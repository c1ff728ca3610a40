"""The inner loops of `numba_kernels` in NumPy, with the same arguments and, but for rounding, the same results.

For problems so small that loading the compiler, or compiling, would take longer than the sums.
"""

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.engines.tiles import ROWS
from vwkde._compute.precision import limit

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]


def _silent(loop: Callable[..., None]) -> Callable[..., None]:
    """Compute without warnings, as compiled loops do.

    The squares of far points overflow to −∞, and the shift of a row with nothing to sum is −∞.
    """

    @wraps(loop)
    def silent(*arguments: Any) -> None:
        with np.errstate(over="ignore", invalid="ignore"):  # a new one each time: threads must not share it
            loop(*arguments)

    return silent


@_silent
def sum_rows(
    x: Floats, tiles: Floats, column: Floats, row: Floats, product: bool, excluded: Ints, first: int, total: Floats
) -> None:
    """Add Σ_j 2^(exponent + column − row) to `total` (float64), tile by tile."""
    for rows, _, exponent in _exponents(x, tiles, column, product, excluded, first):
        exponent -= row[rows, None]
        total[rows] += _exp2(exponent, exponent).sum(axis=1)


@_silent
def max_rows(
    x: Floats, tiles: Floats, column: Floats, product: bool, excluded: Ints, first: int, largest: Floats
) -> None:
    """Raise `largest` (float64) to max_j (exponent + column)."""
    for rows, _, exponent in _exponents(x, tiles, column, product, excluded, first):
        np.maximum(largest[rows], exponent.max(axis=1), out=largest[rows])


@_silent
def sum_rows_of_grid(
    x: Floats,
    tiles: Floats,
    column: Floats,
    row: Floats,
    product: bool,
    excluded: Ints,
    first: int,
    weight: Floats,
    scales: Floats,
    lengths: Ints,
    smallest: Any,
    total: Floats,
) -> None:
    """Add Σ_j weight_j · 2^(scale·(exponent + column − row)) to `total` (queries, bandwidths, weights), in chains."""
    ends = np.cumsum(lengths)
    for rows, k, exponent in _exponents(x, tiles, column, product, excluded, first):
        exponent -= row[rows, None]
        power = np.empty_like(exponent)
        for scale, start, end in zip(scales, ends - lengths, ends, strict=True):
            _exp2(np.multiply(exponent, scale, out=power), power)
            total[rows, start] += power @ weight[k].T
            for g in range(start + 1, end):
                np.maximum(np.multiply(power, power, out=power), smallest, out=power)
                total[rows, g] += power @ weight[k].T


def _exponents(
    x: Floats, tiles: Floats, column: Floats, product: bool, excluded: Ints, first: int
) -> Iterator[tuple[slice, int, Floats]]:
    """Yield the exponents plus `column` of some rows and tile k; the exponent of an excluded point is −∞."""
    width = tiles.shape[2]
    for start in range(0, len(x), ROWS):
        rows = slice(start, min(start + ROWS, len(x)))
        for k in range(len(tiles)):
            exponent = x[rows] @ tiles[k] if product else _differences(x[rows], tiles[k])
            exponent += column[k]
            if len(excluded):
                j = excluded[rows] - first - k * width
                inside = np.flatnonzero((j >= 0) & (j < width))
                exponent[inside, j[inside]] = -np.inf
            yield rows, k, exponent


def _differences(x: Floats, tile: Floats) -> Floats:
    """Return −‖x − y‖²."""
    exponent = np.zeros((len(x), tile.shape[1]), x.dtype)
    for d in range(x.shape[1]):
        difference = x[:, d, None] - tile[d]
        exponent -= np.multiply(difference, difference, out=difference)
    return exponent


def _exp2(exponent: Floats, out: Floats) -> Floats:
    """Write 2^exponent, which is a normal number, into `out`."""
    most = limit(exponent.dtype)
    return np.exp2(np.clip(exponent, -most, most, out=out), out=out)
