"""How much changed, where and in which rows: what one fitted ratio answers about two tables."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning, DisjointSupportError, OverlapWarning
from vwkde.monitoring._columns import Column
from vwkde.monitoring._shares import Shares, shares_of
from vwkde.monitoring._tables import Tables
from vwkde.ratio._plain import PlainRatio
from vwkde.results import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MOST_ROWS = 3_000
"""Rows of each table that the ratio is fitted to: more change the amount by less than its interval."""


@dataclass(frozen=True)
class Measured:
    """The amount of drift, the shares of the columns, and the log ratio (current / reference) at the current rows."""

    total_variation: Estimate
    jensen_shannon: Estimate
    shares: Shares | None
    log_ratio: Floats


def measure(
    tables: Tables, groups: tuple[Ints | None, Ints | None], random: np.random.Generator, random_state: int
) -> Measured:
    """Fit the ratio of the current table to the reference, and return its answers."""
    encoded = tables.encoded
    reference, current = (_some(len(side), random) for side in encoded)
    group = [None if each is None else each[rows] for each, rows in zip(groups, (reference, current), strict=True)]
    ratio = PlainRatio(subspace=False, random_state=random_state)  # columns mean something, and the search is slow
    part = [column.part(reference, current) for column in tables.columns]
    if not any((side != side[:1]).any() for side in encoded):  # two tables of equal rows have no density
        return _apart(part, len(encoded[1]))
    try:
        with without(DegenerateDataWarning), without(OverlapWarning):
            ratio.fit(encoded[1][current], encoded[0][reference], groups=_pair(group[1], group[0]))
            amounts = [ratio.divergence(kind) for kind in _LARGEST]
    except DisjointSupportError:
        return _apart(part, len(encoded[1]))
    if tables.is_coarse:  # differences among the categories that count as one do not show
        amounts = [replace(amount, open_above=True) for amount in amounts]
    at_reference, at_current = ratio.denominator_log_ratio_, ratio.numerator_log_ratio_
    log_ratio = np.empty(len(encoded[1]))
    others = np.setdiff1d(np.arange(len(log_ratio)), current)
    log_ratio[current] = at_current
    log_ratio[others] = ratio.log_ratio(encoded[1][others]) if len(others) else 0.0
    return Measured(amounts[0], amounts[1], shares_of(part, at_reference, at_current), log_ratio)


def _some(rows: int, random: np.random.Generator) -> Ints:
    return np.sort(random.permutation(rows)[:_MOST_ROWS])


def _pair(one: Ints | None, other: Ints | None) -> tuple[Ints | None, Ints | None] | None:
    return None if one is None and other is None else (one, other)


def _apart(columns: list[Column], rows: int) -> Measured:
    """Return the answers about tables that do not meet: every row tells which table it is from."""
    sides = [
        np.full(len(side), value) for side, value in ((columns[0].reference, -np.inf), (columns[0].current, np.inf))
    ]
    error = 1 / min(map(len, sides))  # that a row of one table lies among the other's, and was not seen
    amounts = [Estimate(most, error, kind) for kind, most in _LARGEST.items()]
    return Measured(amounts[0], amounts[1], shares_of(columns, *sides), np.full(rows, np.inf))


_LARGEST = {"total-variation": 1.0, "jensen-shannon": float(np.log(2))}
