"""Rows made of one row of X and one row of Y: a sample of their joint density, or of the product of the marginals."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Pairs:
    """The rows of X and of Y that each row of a sample is made of.

    The columns before `split` are those of X. Rows of the joint sample are pairs of equal numbers. `group` is the
    number of the group of every row of X and Y, if rows belong together.
    """

    split: int
    first: Ints
    second: Ints
    group: Ints | None = None

    @property
    def groups(self) -> tuple[Ints, Ints]:
        """The groups of the rows of X and of Y; without groups, each row is one."""
        return self.group_of(self.first), self.group_of(self.second)

    def group_of(self, rows: Ints) -> Ints:
        """Return the groups of some rows of X or Y."""
        return rows if self.group is None else self.group[rows]

    @property
    def independent(self) -> bool:
        """Whether X and Y come from different rows, so that the sample is one of the product of the marginals."""
        return bool((self.first != self.second).all())

    def take(self, chosen: NDArray[Any]) -> "Pairs":
        """Return the pairs of some rows."""
        return replace(self, first=self.first[chosen], second=self.second[chosen])


def related(queries: Pairs, rows: Pairs) -> tuple[Ints, Ints]:
    """Return every query with every row that has an x, or a y, of the same row or group, each once."""
    matches = [_equal(*groups) for groups in zip(queries.groups, rows.groups, strict=True)]
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
