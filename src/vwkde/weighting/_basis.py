"""Functions of single columns and of pairs of columns, in which a log ratio of many rows is nearly linear.

Each column has a few functions in ascending order: its normal score, the square of it, and cosines of its rank that
swing faster and faster. A pair of columns has products of these, as long as the product of their two orders is small (a
hyperbolic cross): what depends on two columns at once is mostly smooth in one of them.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
"""In single precision the sums take half the time, and are far more exact than the rows determine them."""

_HIGHEST = 12
"""Highest order of a function of one column, and highest product of two orders."""
_MOST_ALONE, _MOST_TERMS, _MOST_PLAIN = 300, 600, 1_000
"""Functions of single columns, and terms in all; with many columns the orders are lower. Plain products of two columns
matter most, and may be more."""
_KNOTS = 200
_FARTHEST = 0.0005
"""Share of rows beyond the outermost knots."""


class Term(NamedTuple):
    """A product of functions: column and order of each, and what it is scaled by."""

    factors: tuple[tuple[int, int], ...]
    scale: float


@dataclass(frozen=True)
class Basis:
    """The terms, and for each column the values and ranks between which its rank is interpolated."""

    knots: tuple[tuple[Floats, Floats], ...]
    orders: tuple[int, ...]
    terms: tuple[Term, ...]

    def __call__(self, x: Floats) -> Singles:
        """Return the terms of rows, (terms, rows); the first is a constant."""
        columns = [_functions(*each) for each in zip(x.T, self.knots, self.orders, strict=True)]
        result = np.empty((1 + len(self.terms), len(x)), dtype=np.float32)
        result[0] = 1.0
        for row, term in zip(result[1:], self.terms, strict=True):
            first, *others = (columns[column][order - 1] for column, order in term.factors)
            np.multiply(first, np.float32(term.scale), out=row)
            for other in others:
                row *= other
        return result


def make_basis(x: Floats) -> Basis:
    """Return the terms for the columns of pooled rows, as many as there may be."""
    knots = tuple(_knots(column) for column in x.T)
    highest = _highest_alone(x.shape[1])
    orders = tuple(min(highest, len(values) - 1) for values, _ in knots)
    alone = [
        Term(((column, order),), order**-2.0) for column, most in enumerate(orders) for order in range(1, most + 1)
    ]
    pairs: list[Term] = []
    for product in range(1, _HIGHEST + 1):
        more = [
            term for one, other in combinations(range(len(orders)), 2) for term in _pair(one, other, orders, product)
        ]
        if len(alone) + len(pairs) + len(more) > (_MOST_PLAIN if product == 1 else _MOST_TERMS):
            break
        pairs += more
    return Basis(knots, orders, (*alone, *pairs))


def _highest_alone(columns: int) -> int:
    """Return the highest order of a function of one column, so that there is room for plain products if possible."""
    beside_products = _MOST_PLAIN // columns - (columns - 1) // 2 - 1
    most = _MOST_ALONE // columns
    return int(np.clip(min(most, beside_products) if beside_products >= 2 else most, 1, _HIGHEST))


def _pair(one: int, other: int, orders: tuple[int, ...], product: int) -> list[Term]:
    """Return the products of functions of two columns whose orders have this product."""
    first = [order for order in range(1, min(product, orders[one]) + 1) if product % order == 0]
    both = [((one, order), (other, product // order)) for order in first if product // order <= orders[other]]
    return [Term(factors, product**-2.0) for factors in both]


def _knots(column: Floats) -> tuple[Floats, Floats]:
    """Return values of a column and the ranks there, from 0 to 1; equal values have their middle rank."""
    values, counts = np.unique(column, return_counts=True)
    rank = (np.cumsum(counts) - counts / 2) / len(column)
    if len(values) <= _KNOTS:
        return values, rank
    inner = np.linspace(0, 1, _KNOTS)[1:-1]
    kept = np.unique(np.searchsorted(rank, [_FARTHEST, *inner, 1 - _FARTHEST]).clip(0, len(values) - 1))
    return values[kept], rank[kept]


def _functions(column: Floats, knots: tuple[Floats, Floats], highest: int) -> Singles:
    """Return the functions of a column, (orders, rows)."""
    rank = np.interp(column, *knots).astype(np.float32)
    score = ndtri(rank)
    functions = [score, (score**2 - 1) / np.sqrt(np.float32(2))]
    waves = [np.full_like(rank, np.sqrt(2)), np.sqrt(np.float32(2)) * np.cos(np.float32(np.pi) * rank)]
    twice = 2 * np.cos(np.float32(np.pi) * rank)
    for order in range(2, highest + 1):  # the cosines of multiples of an angle, each by the two before
        waves.append(twice * waves[-1] - waves[-2])
        functions += waves[-1:] if order > 2 else []
    return np.asarray(functions[:highest], dtype=np.float32)
