"""Parts of the rows in which the samples differ where the best model sees nothing.

Often two columns go together in one category only, or the outcome of a treatment changes for few of the rows, which
two or three other columns tell. Over all rows such a difference is small, and a model that has to learn the part and
the difference at a time finds neither. So parts are made of the levels of columns with few values, and of quarters and
halves of others, of one column or of two. In each part, the number of rows and the means of the other columns and of
their products are compared, by what the best simple model leaves unexplained. The threshold is that of the largest of
so many normal numbers. What differs most is narrowed by a further column where that makes it clearer, and the limits
of ranges are moved to where the samples differ most.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from vwkde._coordinates.subgroups import Limits, Subgroup, hold_all
from vwkde._data.sample import Sample
from vwkde._fit.residuals import Residuals
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Samples = tuple[Sample, Sample]

_FEWEST_ROWS = 100
_FEWEST_INSIDE, _FEWEST_OF_A_SAMPLE = 40, 10
"""Rows that a part must have of both samples together, and of each."""
_MOST_COLUMNS = 60
_MOST_WITH_PRODUCTS = 30
"""Columns up to which their products are compared in parts of one column."""
_MOST_LEVELS = 12
"""Different values up to which each value of a column is a part."""
_ATOM = 0.1
"""Share of the rows from which one value of another column is a part."""
_QUARTERS = (0.25, 0.5, 0.75)
_MOST_LIMITS = 3
_MOST_PAIRS = 3_200
"""Parts of two columns up to which such parts are compared."""
_MOST_OF_PAIRS = 70_000
"""Products in parts of two columns up to which these are compared."""
_CONSTANT = 1e-9
"""Variance of a normal score below which it does not count in a part."""
_LEVEL = 0.01
"""Chance that anything is found in equal samples."""
_NARROWED = 20
"""Clearest differences that are narrowed by further columns."""
_CLEARER = 1.0
"""Standard errors by which a further column must make a difference clearer."""
_SHARPENED = 5
"""Clearest differences whose limits are moved."""
_MOST_FOUND = 4
_STILL_MISSED = 3.0
"""Standard errors by which a difference that was found must show at the residuals of the best model."""
_EDGES = 20
"""Places among the values of a column to which the limits of a range are moved."""
_SWEEPS = 2
"""How often each limit is moved."""


class _Difference(NamedTuple):
    """How clearly the samples differ in a part: in the number of rows, a column, or the product of two or of one."""

    excess: float
    limits: tuple[Limits, ...]
    columns: tuple[int, ...]


def missed_subgroups(samples: Samples, simple: Residuals, best: Residuals) -> tuple[Subgroup, ...]:
    """Return the parts in which the samples clearly differ at the residuals of a simple model, the clearest first.

    There are none if the best model misses none of the differences. The columns should be normal scores.
    """
    x = np.concatenate([sample.points for sample in samples])
    if min(sample.effective_rows for sample in samples) < _FEWEST_ROWS or not 2 <= x.shape[1] <= _MOST_COLUMNS:
        return ()
    scan = _Scan(x, len(samples[0]), simple.without([*x.T, *(x**2).T]))
    found: list[Subgroup] = []
    missed = False
    while len(found) < _MOST_FOUND and (clearest := scan.clearest()):
        found.append(Subgroup.of(clearest.limits, tuple(dict.fromkeys(clearest.columns)), x))
        missed |= replace(scan, residuals=best).excess(clearest) > _STILL_MISSED
        scan = replace(scan, residuals=scan.residuals.without(found[-1].further(x)))
    return tuple(found) if missed else ()


@dataclass(frozen=True)
class _Scan:
    """The rows of both samples, the first of them those of the numerator, and what is left unexplained there."""

    x: Floats
    numerators: int
    residuals: Residuals

    def clearest(self) -> _Difference | None:
        """Return the clearest difference, with its limits moved to where it is; None if none exceeds the threshold."""
        singles = list(self._singles())
        pairs = [(a, b) for a, b in combinations(singles, 2) if a[0].column != b[0].column]
        columns = self.x.shape[1]
        with_products = len(pairs) * columns * (columns + 1) / 2 <= _MOST_OF_PAIRS
        compared = _Compared(columns <= _MOST_WITH_PRODUCTS)
        for limits, inside in singles:
            compared.add(self._part((limits,), inside))
        compared.products = with_products
        for (a, one), (b, two) in pairs if len(pairs) <= _MOST_PAIRS else ():
            compared.add(self._part((a, b), one & two))
        narrowed = [self._narrowed(each, singles) for each in sorted(compared.differences, reverse=True)[:_NARROWED]]
        # narrowing finds what parts of two columns tell of the others, so these count even if not all were compared
        count = max(compared.count + len(narrowed) * len(singles), len(pairs) * (1 + columns))
        threshold = -ndtri(0.5 * _LEVEL / count)
        clear = sorted((each for each in narrowed if each.excess > threshold), reverse=True)[:_SHARPENED]
        return max(map(self._sharpened, clear), default=None)

    def excess(self, difference: _Difference) -> float:
        """Return how clear a difference is at these residuals."""
        part = self._part(difference.limits, hold_all(difference.limits, self.x))
        return part.difference(difference.columns).excess if part else 0.0

    def _singles(self) -> Iterator[tuple[Limits, Flags]]:
        """Yield the parts of single columns, and which rows they have."""
        for column, values in enumerate(self.x.T):
            for limits in _limits(values, column):
                yield limits, limits.hold(self.x)

    def _narrowed(self, difference: _Difference, singles: list[tuple[Limits, Flags]]) -> _Difference:
        while len(difference.limits) < _MOST_LIMITS:
            inside = hold_all(difference.limits, self.x)
            known = {*(each.column for each in difference.limits), *difference.columns}
            tried = [
                self._part((*difference.limits, limits), inside & more)
                for limits, more in singles
                if limits.column not in known
            ]
            best = max((part.difference(difference.columns) for part in tried if part), default=None)
            if best is None or best.excess < difference.excess + _CLEARER:
                break
            difference = best
        return difference

    def _sharpened(self, difference: _Difference) -> _Difference:
        """Return a difference whose ranges begin and end where it is clearest, of the columns that then differ most."""
        for _ in range(_SWEEPS):
            for at, limits in enumerate(difference.limits):
                for moved in _moved(limits, self.x[:, limits.column]):
                    tried = difference._replace(limits=(*difference.limits[:at], moved, *difference.limits[at + 1 :]))
                    difference = max(difference, tried._replace(excess=self.excess(tried)))
            part = self._part(difference.limits, hold_all(difference.limits, self.x))
            products = self.x.shape[1] <= _MOST_WITH_PRODUCTS
            difference = max([difference, *(part.differences(products) if part else ())])
        return difference

    def _part(self, limits: tuple[Limits, ...], inside: Flags) -> "_Part | None":
        """Return the rows within limits; None if these are too few."""
        rows = np.flatnonzero(inside)
        ours = int(np.searchsorted(rows, self.numerators))
        if len(rows) < _FEWEST_INSIDE or min(ours, len(rows) - ours) < _FEWEST_OF_A_SAMPLE:
            return None
        return _Part(limits, self.x[rows], self.residuals.at(rows))


class _Compared:
    """The clearest differences of the parts that were compared, and the number of all of them."""

    def __init__(self, products: bool) -> None:
        self.products = products
        self.differences: list[_Difference] = []
        self.count = 0

    def add(self, part: "_Part | None") -> None:
        """Compare the samples in a part."""
        if part:
            self.differences += part.differences(self.products)
            self.count += part.compared(self.products)


@dataclass(frozen=True)
class _Part:
    """The rows within some limits, and what is left unexplained there."""

    limits: tuple[Limits, ...]
    x: Floats
    residuals: Residuals

    @lazy
    def z(self) -> Floats:
        """The columns with mean zero and variance one; zero if they do not vary."""
        z = self.x - self.x.mean(axis=0)
        variance = (z**2).mean(axis=0)
        return np.asarray(z * np.where(variance > _CONSTANT, 1 / np.sqrt(np.maximum(variance, _CONSTANT)), 0.0))

    def compared(self, products: bool) -> int:
        """Return how many differences are compared."""
        columns = int(self.z.any(axis=0).sum())
        return 1 + columns + (columns * (columns + 1) // 2 if products else 0)

    def differences(self, products: bool) -> list[_Difference]:
        """Return the difference in the number of rows, and the clearest ones of columns and of products."""
        each = self.residuals.excesses(self.z)
        column = int(np.argmax(each))
        found = [self.difference(()), _Difference(float(each[column]), self.limits, (column,))]
        if products:
            pairs = self.residuals.excesses_of_products(self.z)
            i, j = divmod(int(np.argmax(pairs)), len(pairs))
            found.append(_Difference(float(pairs[i, j]), self.limits, (i, j)))
        return found

    def difference(self, columns: tuple[int, ...]) -> _Difference:
        """Return the difference in the product of columns, or in the number of rows if there are none."""
        values = self.z[:, list(columns)].prod(axis=1)
        values = values - values.mean() if columns else values
        return _Difference(self.residuals.excess(values), self.limits, columns)


def _limits(values: Floats, column: int) -> Iterator[Limits]:
    """Yield the parts of one column."""
    levels, counts = np.unique(values, return_counts=True)
    if len(levels) <= _MOST_LEVELS:
        yield from (Limits(column, level, level) for level in levels.tolist() if len(levels) > 1)
        return
    low, middle, high = np.quantile(values, _QUARTERS)
    yield from (Limits(column, -np.inf, edge) for edge in sorted({low, middle}))
    yield from (Limits(column, np.nextafter(edge, np.inf), np.inf) for edge in sorted({middle, high}))
    if low < high:
        yield Limits(column, low, high)
    yield from (Limits(column, level, level) for level in levels[counts > _ATOM * len(values)].tolist())


def _moved(limits: Limits, values: Floats) -> Iterator[Limits]:
    """Yield ranges with another begin or another end, but not all values; a single value stays."""
    if limits.low == limits.high:
        return
    edges = np.unique(np.quantile(values, np.arange(1, _EDGES) / _EDGES)).tolist()
    begins = (limits._replace(low=low) for low in (-np.inf, *edges) if low < limits.high)
    ends = (limits._replace(high=high) for high in (*edges, np.inf) if limits.low < high)
    yield from (each for each in (*begins, *ends) if np.isfinite([each.low, each.high]).any())
