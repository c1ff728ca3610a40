"""Rows that nearly repeat others, in the coordinates in which distances mean something; the user is told of them."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._coordinates.whitening import fit_whitening
from vwkde._data.copies import find_distinct, merge_repeats
from vwkde._data.in_memory import Held, Mergings
from vwkde._data.interpolated import merge_interpolated
from vwkde._data.merging import Merging
from vwkde._data.near_copies import has_close_pairs, merge_near_copies, some_neighbours
from vwkde._data.order import canonical_order
from vwkde._data.validation import Array
from vwkde._runtime.warn import warn, without
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Placed(NamedTuple):
    """The rows of a sample in other coordinates, and their canonical order."""

    points: Floats
    order: Ints


def place(held: Held, coordinates: Callable[[Array], Floats]) -> tuple[Placed, Placed]:
    """Return the rows of both samples in other coordinates."""
    points = [coordinates(x) for x in held.data]
    p, q = map(Placed, points, parallel.run_if_many(canonical_order, points, len(points[0])))
    return p, q


def find_near_repeats(held: Held, placed: tuple[Placed, Placed]) -> Mergings:
    """Return how near copies and interpolated rows become weights, in samples without groups, with a warning."""
    if held.streams is not None:
        return None, None
    sides = [side for side in (0, 1) if held.groups[side] is None]

    def look(side: int) -> _Repeats:
        return _find(*placed[side], held.data[side])

    looked = dict(zip(sides, parallel.concurrently(look, sides, min(map(len, held.data))), strict=True))
    for side, repeats in looked.items():
        _report(repeats, ("numerator", "denominator")[side], len(held.data[side]))
    p, q = (looked[side].merging if side in looked else None for side in (0, 1))
    return p, q


def find_groups(x: Array, other: Array) -> Ints | None:
    """Return the number of the row that each row repeats, exactly or nearly; None if no row repeats another.

    `other` is a sample that has the ties of discrete data, but not the repeats.
    """
    distinct = find_distinct(x)
    merging = merge_repeats(distinct, find_distinct(other))
    if merging is None and len(distinct.first) == len(x):
        with without(DegenerateDataWarning):
            points = fit_whitening(x, x, (np.ones(len(x)), np.ones(len(x))), None)(x)
        merging = merge_near_copies(points, some_neighbours(points, canonical_order(points)))
        if merging is not None:
            _tell(len(x) - len(merging.kept), "data", "nearly equal others", "copies of one observation", "one group")
    return None if merging is None else merging.target


class _Repeats(NamedTuple):
    """How rows that nearly repeat others become weights, if there are such; what they are; if rows come in pairs."""

    merging: Merging | None
    fact: str = ""
    reason: str = ""
    in_pairs: bool = False


def _find(points: Floats, order: Ints, given: Array) -> _Repeats:
    if len(find_distinct(given).first) < len(given):
        return _Repeats(None)  # discrete data, whose equal rows would pass for near copies
    some = some_neighbours(points, order)
    merging = merge_near_copies(points, some)
    fact, reason = "nearly equal others", "copies of one observation"
    if merging is None:
        merging = merge_interpolated(points, given, order)
        fact, reason = "lie exactly between two others", "made by interpolation"
    if merging is not None:
        kept = points[merging.kept]
        some = some_neighbours(kept, canonical_order(kept))
    return _Repeats(merging, fact, reason, has_close_pairs(some))


def _report(repeats: _Repeats, name: str, rows: int) -> None:
    if repeats.merging is not None:
        count = rows - len(repeats.merging.kept)
        _tell(count, name, repeats.fact, repeats.reason, "weight of those others")
    if repeats.in_pairs:
        warn(
            f"Rows of the {name} come in close pairs, as repeated measurements do. The estimate takes them for "
            f"independent and may be too large. Pass groups= to say which rows belong together.",
            DegenerateDataWarning,
        )


def _tell(count: int, name: str, fact: str, reason: str, role: str) -> None:
    warn(
        f"{count} rows of the {name} {fact}: they are probably {reason}, and count as {role}. Pass only the original "
        f"rows, or groups= to say which rows belong together.",
        DegenerateDataWarning,
    )
