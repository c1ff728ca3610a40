"""What changed in one column, in words and in numbers."""

import numpy as np
from numpy.typing import NDArray

from vwkde._display.style import number
from vwkde.monitoring._columns import Column, bins_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


Halves = tuple[tuple[Ints, Ints], tuple[Ints, Ints]]
"""The rows of either half of the reference, and of the current table."""


def random_halves(sizes: tuple[int, int], random: np.random.Generator) -> Halves:
    """Return both tables cut into halves at random."""
    (a, b), (c, d) = (np.array_split(random.permutation(rows), 2) for rows in sizes)
    return (a, b), (c, d)


def alone(column: Column, halves: Halves) -> float:
    """Return how far a column tells the tables apart by itself: the total variation of its bins, between 0 and 1.

    One half of the rows says in which table each bin is more common, and the other half is judged by that. So equal
    tables have a mean near zero, whatever the number of rows.
    """
    codes = bins_of(column).coarse
    rows = len(column.reference)
    bins = int(codes.max()) + 1
    sides = zip((codes[:rows], codes[rows:]), halves, strict=True)
    reference, current = ([np.bincount(side[half], minlength=bins) / len(half) for half in two] for side, two in sides)
    first, second = (one - other for one, other in zip(reference, current, strict=True))
    return max(0.0, float(np.sign(first) @ second + np.sign(second) @ first) / 4)


def change(column: Column) -> str:
    """Return the largest change of a column in a few words, from the reference to the current table."""
    gaps = tuple(float(np.isnan(side).mean()) for side in (column.reference, column.current))
    words, size = _of_levels(column) if column.is_category else _of_numbers(column)
    return f"missing {_percent(gaps[0])} → {_percent(gaps[1])}" if abs(gaps[1] - gaps[0]) > size else words


def _of_levels(column: Column) -> tuple[str, float]:
    """Return the category whose share changed most, and by how much."""
    levels = len(column.levels)
    sides = (column.reference, column.current)
    before, after = (np.bincount(side[~np.isnan(side)].astype(int), minlength=levels) / len(side) for side in sides)
    level = int(np.argmax(np.abs(after - before)))
    words = f"share of {column.levels[level]!r} {_percent(before[level])} → {_percent(after[level])}"
    return words, float(abs(after[level] - before[level]))


def _of_numbers(column: Column) -> tuple[str, float]:
    """Return the change of the median or of the spread, whichever is larger, and its size as a share of rows."""
    sides = [side[~np.isnan(side)] for side in (column.reference, column.current)]
    if not all(map(len, sides)):
        return "no values in one table", 0.0
    quartiles = [np.quantile(side, [0.25, 0.5, 0.75]) for side in sides]
    (low, before, high), (new_low, after, new_high) = quartiles
    width, new_width = high - low, new_high - new_low
    shift, scale = abs(after - before), abs(new_width - width) / 2
    # the middle half of the rows is one width: a shift by a small part of it moves that part of half of the rows
    size = max(shift, scale) / (2 * max(width, new_width)) if max(width, new_width) > 0 else float(shift > 0)
    if scale > shift:
        return f"spread of the middle half {number(width)} → {number(new_width)}", float(size)
    return f"median {number(before)} → {number(after)}", float(size)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 or share == 0 else f"{100 * share:.1f} %"
