"""Rows that nearly repeat others, in the coordinates in which distances mean something; the user is told of them."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vwkde._data.in_memory import Held, Mergings
from vwkde._data.interpolated import merge_interpolated
from vwkde._data.merging import Merging
from vwkde._data.near_copies import merge_near_copies
from vwkde._data.validation import Array
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]


def find_near_repeats(held: Held, coordinates: Callable[[Array], Floats]) -> Mergings:
    """Return how near copies and interpolated rows become weights, in samples without groups, with a warning."""
    if held.streams is not None:
        return None, None
    p, q = (
        _find(coordinates(x), x, name) if group is None else None
        for x, group, name in zip(held.data, held.groups, ("numerator", "denominator"), strict=True)
    )
    return p, q


def _find(points: Floats, given: Array, name: str) -> Merging | None:
    merging = merge_near_copies(points)
    if merging is not None:
        _tell(len(points) - len(merging.kept), name, "nearly equal others", "copies of one observation")
        return merging
    merging = merge_interpolated(points, given)
    if merging is not None:
        _tell(len(points) - len(merging.kept), name, "lie exactly between two others", "made by interpolation")
    return merging


def _tell(count: int, name: str, fact: str, reason: str) -> None:
    warn(
        f"{count} rows of the {name} {fact}: they look {reason}, and count as weight of those rows. Pass only the "
        f"original rows, or groups= to say which rows belong together.",
        DegenerateDataWarning,
    )
