"""Rare levels of a category that only one of two samples has: more of them than chance explains.

Of levels with one row nothing can be learnt: each is in one sample only, whatever happens, as an id is. A level with
several rows is in one sample only by a chance that is known, if all rows are independent. So the samples differ if much
more levels are. Those with so many rows that hardly any of them is there by chance become one level together.
"""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Floats = NDArray[np.float64]

_CHANCE = 1e-5
"""Largest probability of so many levels in one sample only, if both samples come from one distribution."""
_MOST_BY_CHANCE = 0.1
"""Share of the rows in such levels that may be there by chance."""


def only_in(own: Counter[str], other: Counter[str], levels: list[str]) -> tuple[str, ...]:
    """Return those of the levels that show that a sample has levels of its own; none if chance explains them."""
    mine = np.array([own[level] for level in levels], dtype=np.float64)
    rows = mine + [other[level] for level in levels]
    sizes = float(own.total()), float(other.total())
    alone, shared = mine == rows, (mine > 0) & (mine < rows)
    chance, elsewhere = _chance(rows, *sizes), _chance(rows, *sizes[::-1])
    in_both = np.maximum(1 - chance - elsewhere, np.finfo(float).tiny)
    chance_rows = np.where(shared, rows * chance / in_both, 0.0)  # for each shared level, so many are not, by chance
    for least in np.unique(rows[alone & (rows > 1)]):
        many = rows >= least
        found = float(rows[many & alone].sum())
        clear = _log_probability(float(chance[many].sum()), int((many & alone).sum())) <= np.log(_CHANCE)
        if clear and float(chance_rows[many].sum()) <= _MOST_BY_CHANCE * found:
            return tuple(level for level, kept in zip(levels, many & alone, strict=True) if kept)
    return ()


def _chance(rows: Floats, own: float, other: float) -> Floats:
    """Return the probability that all rows of a level are in one sample, of so many rows, if any rows may be."""
    whole = own + other
    inside = gammaln(own + 1) - gammaln(np.maximum(own - rows, 0) + 1)
    return np.where(rows <= own, np.exp(inside - gammaln(whole + 1) + gammaln(whole - rows + 1)), 0.0)


def _log_probability(expected: float, found: int) -> float:
    """Return an upper limit, by Chernoff, of the log probability of so many events or more where fewer are expected."""
    if found <= expected:
        return 0.0
    return float(found - expected - found * np.log(found / max(expected, np.finfo(float).tiny)))
