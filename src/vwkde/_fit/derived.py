"""Derived columns by which the samples differ where the best model sees nothing.

How far two columns are apart, their sum, and heaps of values are no products and no curves of single columns, so models
of normal scores see little of them. Where columns are of one kind, as the steps of a series or the places of particles
are, a curve that all of them share, or all of their distances, shows what no single one does. And some columns tell of
a row as a whole: its place along the main directions, its distance from them, equal values, values at a limit. All of
these are compared by what the best model leaves unexplained, apart from curves of single columns. The threshold is so
high that equal samples hardly ever pass it. Columns count in units of their own, so that the units of the data do not
matter; only whether two columns are equal, and quotients of amounts, need the values as they are.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from vwkde._coordinates.derived import (
    Amount,
    Combination,
    Derived,
    Parts,
    Standard,
    amount,
    find_heaps,
    shared_curves,
    standard,
    steps_of,
)
from vwkde._coordinates.of_rows import at_limits, directions, equal, repeated
from vwkde._fit.residuals import Residuals

Floats = NDArray[np.float64]

_FEWEST_ROWS = 100
_MOST_COLUMNS = 20
"""Columns up to which all pairs of them are compared."""
_FEWEST_VALUES = 12
"""Different values of a column whose sums and differences with others are compared."""
_FEWEST_SHARED = 3
"""Columns from which they may share a curve."""
_COPY = 1e-9
"""Distance of a correlation from one, or minus one, of a column that copies another."""
_HALF_WAVES = np.arange(1, 7)
"""Of waves along the ranks of a column, by which the samples are compared."""
_MOST_WAVES = 120
"""Waves of single columns that are taken out at most, so that many columns cost little."""
_LEVELS = 0.01, 0.002
"""Chances that anything is found in equal samples: heaps, shared curves and what tells of rows, or of two columns."""
_MOST_FOUND = 8
_COMPARED_AGAIN = 40
"""Columns with the largest statistics, which are compared again when others are known."""


def missed_columns(p: Floats, q: Floats, residuals: Residuals) -> tuple[Derived, ...]:
    """Return derived columns that clearly differ at the residuals of a model, the clearest first.

    The rows of both samples are as they were given.
    """
    if min(len(p), len(q)) < _FEWEST_ROWS:
        return ()
    x = np.concatenate([p, q])
    several = max(1, _MOST_WAVES // x.shape[1])
    left = residuals.without([wave for column in x.T for wave in _waves(column)[:several]])
    columns = _different(x)
    kinds = [*_heaps(x), *_shared(x, columns), *_of_rows(x, columns)], list(_of_two(x, columns))
    possible = [(each, level / len(kind)) for kind, level in zip(kinds, _LEVELS, strict=True) for each in kind]
    return tuple(_clear(possible, x, left))


def _clear(possible: list[tuple[Derived, float]], x: Floats, left: Residuals) -> list[Derived]:
    """Return those that differ by less than the chance that goes with them, the clearest first.

    Each is compared beside those before it.
    """
    clear: list[Derived] = []
    for _ in range(_MOST_FOUND):
        parts = ((_chance(_waves(each(x)), left) / most, number) for number, (each, most) in enumerate(possible))
        unlikely = sorted(pair for pair in parts if pair[0] < 1)[:_COMPARED_AGAIN]
        if not unlikely:
            break
        (clearest, _), *possible = [possible[number] for _, number in unlikely]
        clear.append(clearest)
        left = left.without(list(_waves(clearest(x))))
    return clear


def _heaps(x: Floats) -> Iterator[Derived]:
    """Return the heaps of columns that have some."""
    yield from filter(None, (find_heaps(column, number) for number, column in enumerate(x.T)))


def _different(x: Floats) -> list[Standard]:
    """Return the columns of several values, in units of their own, without copies of others."""
    found: list[Standard] = []
    values: list[Floats] = []
    for number, column in enumerate(x.T):
        each = standard(x, number) if len(np.unique(column)) >= _FEWEST_VALUES else None
        if each is None:
            continue
        scaled = each(x) - each(x).mean()
        scaled /= np.linalg.norm(scaled)
        if all(abs(scaled @ other) < 1 - _COPY for other in values):
            found.append(each)
            values.append(scaled)
    return found


def _shared(x: Floats, columns: list[Standard]) -> Iterator[Derived]:
    """Return the curves that columns, their steps or their distances share."""
    if len(columns) < _FEWEST_SHARED:
        return
    yield shared_curves(x, Parts(tuple(columns), "columns"))
    if steps := steps_of(x, columns):
        yield shared_curves(x, steps)
    if len(columns) <= _MOST_COLUMNS:
        yield shared_curves(x, Parts(tuple(columns), "distances"))


def _of_rows(x: Floats, columns: list[Standard]) -> Iterator[Derived]:
    """Return what tells of a row as a whole."""
    if x.shape[1] >= _FEWEST_SHARED:
        of_values: list[Derived | None] = [repeated(x), at_limits(x, _FEWEST_VALUES)]
        yield from filter(None, of_values)
    if len(columns) >= _FEWEST_SHARED:
        yield from directions(x, columns)


def _of_two(x: Floats, columns: list[Standard]) -> Iterator[Derived]:
    """Return sums and differences of two columns, products and quotients of amounts, and whether two are equal."""
    amounts = list(filter(None, (amount(x, column.column) for column in columns)))
    alike: tuple[Sequence[Standard | Amount], ...] = columns, amounts
    for each in alike:
        if len(each) <= _MOST_COLUMNS:
            for first, second in combinations(each, 2):
                yield Combination(first, second, -1)
                yield Combination(first, second, 1)
    if x.shape[1] <= _MOST_COLUMNS:
        yield from filter(None, (equal(x, *pair) for pair in combinations(range(x.shape[1]), 2)))


def _waves(values: Floats) -> Floats:
    """Return waves along the ranks of a column, (waves, rows), or columns that are a curve already, around their means.

    Equal values have their mean rank.
    """
    if values.ndim == 2:
        return np.asarray((values - values.mean(axis=0)).T)
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = ((np.cumsum(counts) - counts / 2) / len(values))[places]
    return np.asarray(np.cos(np.pi * _HALF_WAVES[:, None] * ranks))


def _chance(waves: Floats, residuals: Residuals) -> float:
    """Return the chance that the means of waves differ at least as far."""
    terms = waves * residuals.left
    means = terms.sum(axis=1)
    excess = means @ np.linalg.pinv(terms @ terms.T, hermitian=True) @ means / residuals.inflation**2
    return float(chdtrc(len(waves), excess))
