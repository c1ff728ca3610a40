"""Mutual information of discrete X and Y, from the table of their counts.

The plain value of the table is too large, by about (a − 1)(b − 1)/2n for a and b values. The jackknife removes that
bias: n times the plain value, minus n − 1 times its mean over tables without one row, or without one group.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from vwkde._data.copies import find_distinct
from vwkde._data.validation import Array
from vwkde.information._opinions import Opinion
from vwkde.information._pairing import Paired
from vwkde.results import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ROWS_FOR_EACH = 10
"""Mean number of rows for each value from which X or Y is taken for discrete."""
_CELLS = 0.5
"""Degrees of freedom of the table, for each row, up to which its counts say enough."""


def codes_of(values: Array) -> Ints | None:
    """Return the number of each row among the different rows, in their order, or None unless there are few."""
    distinct = find_distinct(values)
    if len(distinct.first) * _ROWS_FOR_EACH > len(values):
        return None
    place = np.empty(len(distinct.first), dtype=np.intp)
    place[np.lexsort(distinct.values.T[::-1])] = np.arange(len(place))
    return place[distinct.behind]


def fits_in_a_table(x: Ints, y: Ints) -> bool:
    """Return whether there are enough rows for the table of X and Y."""
    return bool(x.max() * y.max() <= _CELLS * len(x))


def by_table(x: Ints, y: Ints, paired: Paired) -> Opinion:
    """Return the information of discrete X and Y. In doubt is half of what two corrections of the bias differ by."""
    table = Table(x, y)
    value = table.jackknifed(paired.group)
    other = table.information - table.degrees_of_freedom / (2 * paired.rows)
    terms = table.log_ratio
    least = (x.max() * y.max()) / (2 * paired.rows**2)
    estimate = Estimate(
        value,
        float(np.sqrt(paired.variance_of_mean(terms) + least)),
        "mutual-information",
        systematic_error=abs(value - other) / 2,
        degrees_of_freedom=paired.rows - 1,
        diagnostics={"method": "table", "rows": len(x), "values": [int(x.max()) + 1, int(y.max()) + 1]},
    )
    return Opinion(estimate, terms, least)


@dataclass(frozen=True)
class Table:
    """The values of X and Y at each row, as numbers."""

    x: Ints
    y: Ints

    @property
    def cell(self) -> Ints:
        """The number of each row's cell."""
        return self.x * (self.y.max() + 1) + self.y

    @property
    def information(self) -> float:
        """The plain value of the table."""
        return _information(*(np.bincount(each) for each in (self.cell, self.x, self.y)))

    @property
    def degrees_of_freedom(self) -> int:
        """The number of cells with rows, minus those that the margins explain."""
        cells, rows, columns = (len(np.unique(each)) for each in (self.cell, self.x, self.y))
        return cells - rows - columns + 1

    @property
    def log_ratio(self) -> Floats:
        """The logarithm of p(x, y) / p(x)p(y) at each row."""
        cell, x, y = (np.bincount(each)[each] for each in (self.cell, self.x, self.y))
        return np.asarray(np.log(cell * len(self.x)) - np.log(x) - np.log(y))

    def jackknifed(self, group: Ints | None) -> float:
        """Return the value without the leading part of its bias, by leaving out rows or groups."""
        left_out, count = self._units(group)
        units = count.sum()
        without = np.average([self._without(rows) for rows in left_out], weights=count)
        return float(units * self.information - (units - 1) * without)

    def _units(self, group: Ints | None) -> tuple[list[Ints], Ints]:
        """Return the rows of each unit to leave out, and how many units are like it; rows of a cell are all alike."""
        if group is None:
            _, example, count = np.unique(self.cell, return_index=True, return_counts=True)
            return list(example[:, None]), count
        order = np.argsort(group, kind="stable")
        units = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
        return units, np.ones(len(units), dtype=np.intp)

    def _without(self, rows: Ints) -> float:
        parts = self.cell, self.x, self.y
        return _information(*(np.bincount(each) - np.bincount(each[rows], minlength=each.max() + 1) for each in parts))


def _information(cells: Ints, x: Ints, y: Ints) -> float:
    rows = float(x.sum())
    mean_logs = [xlogy(counts, counts).sum() / rows for counts in (cells, x, y)]
    return float(mean_logs[0] - mean_logs[1] - mean_logs[2] + np.log(rows))
