"""Products of functions of several columns, by which the samples differ where simple models see nothing.

If an even number of three columns is negative in most rows of one sample, no two of the columns show it, trees do not
know where to begin, and kernels in many columns are wide. But the mean of the product of the three differs between the
samples. So all products of some functions of two to six columns are compared, as many as take little time: with many
columns fewer functions, and products of fewer columns.

What the best simple model explains is left out: a row counts with its residual. The products of half of the columns
are the lines of a matrix, those of the other half the lines of another one, and the product of both matrices has all
sums. The threshold is that of the largest of so many normal numbers, so that equal samples hardly ever pass it.

A product shows which columns go together, and the samples may differ by steps. Of those the functions see a part only:
so the edges of a product that was found are moved to where the samples are farthest apart.
"""

from itertools import combinations, pairwise
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from vwkde._coordinates.products import FUNCTIONS, Factor, Product, edges_of, wave
from vwkde._data.sample import Sample
from vwkde._fit.residuals import Residuals

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.intp]
Samples = tuple[Sample, Sample]

_FEWEST_ROWS = 100
_MOST_COLUMNS = 6
"""Columns of a product at most."""
_MOST_SUMS = 80_000
"""Sums that are computed at most for the products of one number of columns."""
_LEVEL = 0.002
"""Chance that anything is found in equal samples."""
_CHECKED = 100
"""Products of one number of columns whose standard errors are computed: those with the largest sums."""
_MOST_PRODUCTS = 4
_STILL_MISSED = 3.0
"""Standard errors by which one of the products found must differ at the residuals of the best model."""
_SWEEPS = 2
"""How often each edge is moved."""


class _Part(NamedTuple):
    """Products of some columns: their values (products, rows), their columns, and the numbers of their functions."""

    values: Singles
    columns: Ints
    numbers: Ints


def missed_products(samples: Samples, simple: Residuals, best: Residuals) -> tuple[Product, ...]:
    """Return products that clearly differ at the residuals of a simple model; the clearest first, of any columns one.

    There are none if the best model misses none of them. The columns should be normal scores.
    """
    if not most_columns_compared(samples):
        return ()
    x = np.concatenate([sample.points for sample in samples])
    likely, threshold = _likely(x, simple)
    found: list[Product] = []
    features: list[Floats] = []
    left = simple
    for product in likely:
        if product.columns in [other.columns for other in found] or left.excess(product.value(x)) < threshold:
            continue
        found.append(_sharpened(product, x, left))
        features += [product.value(x), found[-1].steps(x)]
        if len(found) == _MOST_PRODUCTS:
            break
        left = simple.without(features)
    return tuple(found) if any(best.excess(each) > _STILL_MISSED for each in features) else ()


def most_columns_compared(samples: Samples) -> int:
    """Return of how many columns products are compared at most; zero if none are."""
    if min(sample.effective_rows for sample in samples) < _FEWEST_ROWS:
        return 0
    return max(_functions_by_size(samples[0].points.shape[1]), default=0)


def _likely(x: Floats, residuals: Residuals) -> tuple[list[Product], float]:
    """Return the products that exceed the threshold in standard errors, the clearest first, and the threshold."""
    plan = _functions_by_size(x.shape[1])
    functions = np.array([_functions(column, max(plan.values())) for column in x.T], dtype=np.float32)
    length = max(float(np.linalg.norm(residuals.left)), np.finfo(np.float64).tiny)
    weight = (residuals.left / length).astype(np.float32)
    found = [each for k, count in plan.items() for each in _largest(functions[:, :count], weight, k)]
    compared = sum(comb(x.shape[1], k) * count**k for k, count in plan.items())
    threshold = float(-ndtri(0.5 * _LEVEL / compared))
    clear = [(excess, product) for excess, product in found if excess > threshold * residuals.inflation]
    return [product for _, product in sorted(clear, key=lambda each: -each[0])], threshold


def _functions_by_size(columns: int) -> dict[int, int]:
    """Return the number of columns in a product, and how many functions of each of them are used."""
    plan = {}
    for size in range(2, min(_MOST_COLUMNS, columns) + 1):
        plain = comb(columns, (size + 1) // 2) * comb(columns, size // 2)
        if plain <= _MOST_SUMS:
            plan[size] = min(FUNCTIONS, int((_MOST_SUMS / plain) ** (1 / size)))
    return plan


def _functions(column: Floats, count: int) -> list[Floats]:
    """Return so many functions of a column; those that repeat others, if the column has few values, are zero."""
    different = len(np.unique(column)) - 1
    return [wave(column, k) if k < different else np.zeros(len(column)) for k in range(count)]


def _largest(functions: Singles, weight: Singles, size: int) -> list[tuple[float, Product]]:
    """Return the products of so many columns with the largest sums over rows, and the sums in standard errors.

    `functions` are (columns, functions, rows); `weight` is that of the rows, of unit length.
    """
    one, other = _products(functions, (size + 1) // 2), _products(functions, size // 2)
    sums = np.abs((one.values * weight) @ other.values.T)
    sums[one.columns[:, -1:] >= other.columns[:, 0]] = 0.0  # columns in increasing order: every product once
    places = np.argpartition(sums, -min(_CHECKED, sums.size), axis=None)[-_CHECKED:]
    i, j = np.unravel_index(places[sums.flat[places] > 0], sums.shape)
    errors = np.linalg.norm(one.values[i] * other.values[j] * weight, axis=1)
    columns = np.concatenate([one.columns[i], other.columns[j]], axis=1).tolist()
    numbers = np.concatenate([one.numbers[i], other.numbers[j]], axis=1).tolist()
    factors = [
        [Factor(c, k, edges_of(k)) for c, k in zip(*each, strict=True)] for each in zip(columns, numbers, strict=True)
    ]
    return [(float(e), Product(tuple(f))) for e, f in zip(sums[i, j] / errors, factors, strict=True)]


def _products(functions: Singles, size: int) -> _Part:
    """Return all products of functions, (columns, functions, rows), of so many different columns."""
    chosen = np.array(list(combinations(range(len(functions)), size)), dtype=np.intp)
    numbers = np.indices((functions.shape[1],) * size).reshape(size, -1).T
    columns, numbers = np.repeat(chosen, len(numbers), axis=0), np.tile(numbers, (len(chosen), 1))
    values = functions[columns[:, 0], numbers[:, 0]]
    for k in range(1, size):
        values *= functions[columns[:, k], numbers[:, k]]
    return _Part(values, columns, numbers)


def _sharpened(product: Product, x: Floats, residuals: Residuals) -> Product:
    """Return the product with its edges moved, by turns, to where its steps explain most."""
    factors = list(product.factors)
    for _ in range(_SWEEPS):
        for k, factor in enumerate(factors):
            others = Product((*factors[:k], *factors[k + 1 :]))
            terms = residuals.left * others.steps(x)
            factors[k] = factor._replace(edges=_moved(factor.edges, x[:, factor.column], terms))
    return Product(tuple(factors))


def _moved(edges: tuple[float, ...], column: Floats, terms: Floats) -> tuple[float, ...]:
    """Return edges at which the sign of terms should change for their sum to be large, each nearest to where it was."""
    order = np.argsort(column, kind="stable")
    values, sums = column[order], np.cumsum(terms[order])
    between = np.flatnonzero(values[1:] > values[:-1])
    places, sums = (values[between] + values[between + 1]) / 2, sums[between]
    sign = np.sign(np.sum(terms * (-1.0) ** np.searchsorted(edges, column)))
    halfway = [(one + next_one) / 2 for one, next_one in pairwise(edges)]
    limits = np.searchsorted(places, [-np.inf, *halfway, np.inf])
    moved = list(edges)
    for k, (start, end) in enumerate(pairwise(limits)):
        if end > start:
            moved[k] = float(places[start + np.argmax(sign * (-1.0) ** k * sums[start:end])])
    return tuple(moved)
