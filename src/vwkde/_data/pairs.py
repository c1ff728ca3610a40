"""Rows made of one row of X and one row of Y: a sample of their joint density, or of the product of the marginals."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Pairs:
    """The rows of X and of Y that each row of a sample is made of.

    The columns before `split` are those of X. Rows of the joint sample are pairs of equal numbers.
    """

    split: int
    first: Ints
    second: Ints

    @property
    def independent(self) -> bool:
        """Whether X and Y come from different rows, so that the sample is one of the product of the marginals."""
        return bool((self.first != self.second).all())

    def take(self, chosen: NDArray[Any]) -> "Pairs":
        """Return the pairs of some rows."""
        return replace(self, first=self.first[chosen], second=self.second[chosen])


def related(queries: Pairs, rows: Pairs) -> tuple[Ints, Ints]:
    """Return every query with every row that has the same row of X or of Y in the same place, each once."""
    matches = [_equal(queries.first, rows.first), _equal(queries.second, rows.second)]
    query, row = (np.concatenate(part) for part in zip(*matches, strict=True))
    once = np.unique(query * len(rows.first) + row)
    return once // len(rows.first), once % len(rows.first)


def places(wanted: Ints, rows: Ints) -> Ints:
    """Return where each number is among the rows, or −1."""
    order = np.argsort(rows)
    place = order[np.minimum(np.searchsorted(rows, wanted, sorter=order), len(rows) - 1)]
    return np.where(rows[place] == wanted, place, -1)


def _equal(queries: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """Return the places of all equal numbers in two lists."""
    order = np.argsort(rows, kind="stable")
    start, end = (np.searchsorted(rows[order], queries, side=side) for side in ("left", "right"))
    count = end - start
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(len(queries)), count), order[np.repeat(start, count) + within]
