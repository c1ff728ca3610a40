"""Points in leaves: compact groups of equal size, each in a box, which bounds its distance from anything."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.engines.tiles import tiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FEWEST_QUERIES = 2_048
"""Queries from which on leaves can save time: to form them takes as long as the exact sums of so many."""


def leaf_order(rows: NDArray[np.floating], width: int) -> Ints:
    """Return the order in which each `width` rows, counted from the first, are a compact leaf; only the last is short.

    The rows are halved at the median of the column with the largest range, again and again.
    """
    order = np.arange(len(rows))
    ranges = [(0, len(rows))]
    while ranges:
        start, stop = ranges.pop()
        leaves = -(-(stop - start) // width)
        if leaves < 2:
            continue
        part = rows[order[start:stop]]
        column = part[:, int(np.argmax(np.ptp(part, axis=0)))]
        half = leaves // 2 * width
        order[start:stop] = order[start:stop][np.argpartition(column, half)]
        ranges += [(start, start + half), (start + half, stop)]
    return order


@dataclass(frozen=True)
class Leaves:
    """Points in leaves: their coordinates and log2 weights as tiles, and what bounds the sum over a leaf.

    `low` and `high` are the corners of the boxes, (columns, leaves). `mass` is log2 of the weight of a leaf, and
    `least_mass` log2 of what is left of it without its heaviest point.
    """

    tiles: NDArray[np.floating]
    column: NDArray[np.floating]
    low: Floats
    high: Floats
    mass: Floats
    least_mass: Floats


def make_leaves(rows: NDArray[np.floating], log2_weight: Floats, width: int) -> Leaves:
    """Return the leaves of rows in leaf order."""
    starts = np.arange(0, len(rows), width)
    column = tiled(log2_weight[:, None], width, -np.inf)[:, 0]
    heaviest = column.argmax(axis=1)[:, None]
    others = column.copy()
    np.put_along_axis(others, heaviest, -np.inf, axis=1)
    return Leaves(
        tiled(rows, width, 0.0),
        column.astype(rows.dtype),
        np.minimum.reduceat(rows, starts, axis=0).T.astype(np.float64, order="C"),
        np.maximum.reduceat(rows, starts, axis=0).T.astype(np.float64, order="C"),
        _log2_sum(column),
        _log2_sum(others),
    )


def _log2_sum(exponents: Floats) -> Floats:
    """Return log2 Σ 2^exponent of each row."""
    largest = exponents.max(axis=1)
    base = np.where(np.isneginf(largest), 0, largest)
    with np.errstate(divide="ignore"):
        return base + np.log2(np.exp2(exponents - base[:, None]).sum(axis=1))
