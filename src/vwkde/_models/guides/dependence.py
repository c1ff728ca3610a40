"""The guide named "dependence": log odds that are sums of products of two bent columns, each product by itself.

A rotation of columns that are not normal, or tails that come to go together, change how columns depend on each other
beyond their correlations. Of d columns some d² products then have other means, each by next to nothing: a ridge or a
tree finds none of them, and products that differ clearly (`_fit/products.py`) are rare. But all coefficients together
are an estimate without bias: their noise averages out, and its variance is known.

Columns are normal scores, decorrelated, and bent by Hermite polynomials. Products of these are uncorrelated where
columns are independent, so that each coefficient is the difference of two means over a variance. Sums over rows of all
products of a kind are one product of matrices.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._coordinates.axes import principal_axes
from vwkde._data.sample import Sample
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.hermite import hermite_polynomials
from vwkde._models.guides.kind import Fit

Floats = NDArray[np.float64]
Samples = tuple[Sample, Sample]

_MOST_COLUMNS = 100
_MOST_ROWS = 20_000
"""Rows of each sample that show whether there is anything to find."""
_FLIPS = 24
"""Sets of random signs by which the scatter of a sum of squares is known."""
_CLEARLY = 4.0
"""Standard deviations by which the squared differences of a kind of products must exceed those by chance."""
_LEAST_VARIANCE = 1e-3
"""Variance below which a product hardly varies, as of flags; that of normal columns is one."""
_MOST_NOISE = 2.0
"""Variance of the log odds above which the rows are too few for so many products."""


class Kind(NamedTuple):
    """Products of one polynomial of a column and one of another, given by their degrees; zero stands for no column."""

    first: int
    second: int

    def mask(self, shape: tuple[int, ...]) -> NDArray[np.bool_]:
        """Return which products count: of different columns and, if both degrees are equal, each pair once."""
        every = np.ones(shape, dtype=bool)
        if not self.first:
            return every
        return np.triu(every, 1) if self.first == self.second else every & ~np.eye(len(every), dtype=bool)


KINDS = (Kind(1, 2), Kind(1, 3), Kind(2, 2))
_SIMPLE = (Kind(0, 1), Kind(0, 2), Kind(0, 3), Kind(1, 1))
"""Single columns and correlations, which other guides know as well."""


class _Products(NamedTuple):
    """The coefficients of all products of a kind, (columns, columns) or (1, columns), and their variances."""

    kind: Kind
    coefficients: Floats
    variances: Floats


@dataclass(frozen=True)
class Dependence:
    """A guide that is linear in products of bent columns; `root` decorrelates the columns first."""

    centre: Floats
    root: Floats
    products: tuple[_Products, ...]
    level: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        bent = _bent(x, self.centre, self.root)
        sums = [_at_rows(bent[each.kind.first], each.coefficients, bent[each.kind.second]) for each in self.products]
        return np.sum(sums, axis=0) - self.level

    def noise(self, x: Floats) -> Floats:
        """Return the variance of the log odds at points."""
        squares = {degree: values**2 for degree, values in _bent(x, self.centre, self.root).items()}
        sums = [_at_rows(squares[each.kind.first], each.variances, squares[each.kind.second]) for each in self.products]
        return np.asarray(np.sum(sums, axis=0))


def dependence_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with the kinds of products that clearly differ, or the clearest; then with simple ones too."""
    excess = _excess((numerator, denominator))
    clear = tuple(kind for kind in KINDS if excess[kind] > _CLEARLY) or (max(KINDS, key=excess.__getitem__),)
    return partial(fit_dependence, clear), partial(fit_dependence, (*_SIMPLE, *clear))


def show_dependence(numerator: Sample, denominator: Sample) -> bool:
    """Return whether the means of products clearly differ between the samples, for some kind of them."""
    columns, rows = numerator.points.shape[1], min(numerator.effective_rows, denominator.effective_rows)
    if denominator.pairs is not None or not 2 <= columns <= _MOST_COLUMNS or columns**2 * 2 / rows > _MOST_NOISE:
        return False
    random = np.random.default_rng(0)
    some = numerator.thinned(_MOST_ROWS, random), denominator.thinned(_MOST_ROWS, random)
    return max(_excess(some).values()) > _CLEARLY


def fit_dependence(kinds: tuple[Kind, ...], numerator: Sample, denominator: Sample) -> Dependence:
    """Fit the coefficients of some kinds of products."""
    samples = numerator, denominator
    centre, root = _whitening(samples)
    bent = [_bent(sample.points, centre, root) for sample in samples]
    products, level = [], 0.0
    for kind in kinds:
        (p, p_variance), (q, q_variance) = (
            _moments(kind, values, sample.weight) for values, sample in zip(bent, samples, strict=True)
        )
        counted = _inverse(kind, 0.5 * (p_variance + q_variance))
        coefficients = (p - q) * counted
        of_means = p_variance / numerator.effective_rows + q_variance / denominator.effective_rows
        products.append(_Products(kind, coefficients, of_means * counted**2))
        level += 0.5 * float(np.sum(coefficients * (p + q)))
    return Dependence(centre, root, tuple(products), level)


def _whitening(samples: Samples) -> tuple[Floats, Floats]:
    """Return the mean of both samples and the symmetric root that decorrelates their columns."""
    centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)
    principal = principal_axes(pooled_covariance(samples), 1e-6)
    return centre, principal.root @ principal.axes.T


def _bent(x: Floats, centre: Floats, root: Floats) -> dict[int, Floats]:
    """Return polynomials of decorrelated columns by their degrees."""
    return dict(enumerate([np.ones((len(x), 1)), *hermite_polynomials((x - centre) @ root)]))


def _at_rows(first: Floats, coefficients: Floats, second: Floats) -> Floats:
    """Return, for each row, the sum of the products of two columns times their coefficients."""
    return np.einsum("ni,ni->n", first @ coefficients, second)


def _moments(kind: Kind, bent: dict[int, Floats], weight: Floats) -> tuple[Floats, Floats]:
    """Return the means and variances of all products of a kind."""
    share = (weight / weight.sum())[:, None]
    mean = bent[kind.first].T @ (share * bent[kind.second])
    square = (bent[kind.first] ** 2).T @ (share * bent[kind.second] ** 2)
    return mean, np.maximum(square - mean**2, 0.0)


def _inverse(kind: Kind, variance: Floats) -> Floats:
    """Return one over the variance of the products that count, and zero for the others."""
    varying = (variance > _LEAST_VARIANCE) & kind.mask(variance.shape)
    return np.divide(1.0, variance, out=np.zeros(variance.shape), where=varying)


def _excess(samples: Samples) -> dict[Kind, float]:
    """Return how far the squared differences of each kind exceed those of rows with random signs, in their scatter.

    With random signs the products are as dependent on each other as they are.
    """
    shares = [sample.weight / sample.weight.sum() for sample in samples]
    signed = np.concatenate([shares[0], -shares[1]])
    centre, root = _whitening(samples)
    with parallel.single_threaded_blas():
        bent = _bent(np.concatenate([sample.points for sample in samples]), centre, root)
        return {kind: _excess_of(kind, bent, signed) for kind in KINDS}


def _excess_of(kind: Kind, bent: dict[int, Floats], signed: Floats) -> float:
    first, second = (bent[degree].astype(np.float32) for degree in kind)
    size = np.abs(signed)
    mean = first.T @ (second * (size / size.sum())[:, None].astype(np.float32))
    squares = (signed**2 / (signed @ signed))[:, None].astype(np.float32)
    counted = _inverse(kind, (first**2).T @ (squares * second**2) - mean**2)

    def total(signs: Floats) -> float:
        difference = first.T @ (second * signs[:, None].astype(np.float32)) - mean * signs.sum()
        return float(np.sum(difference**2 * counted))

    by_chance = [total(signs) for signs in _flipped(signed)]
    scatter = float(np.std(by_chance, ddof=1))
    return (total(signed) - float(np.mean(by_chance))) / scatter if scatter else 0.0


def _flipped(signed: Floats) -> Iterator[Floats]:
    random = np.random.default_rng(0)
    return (signed * random.choice([-1.0, 1.0], size=len(signed)) for _ in range(_FLIPS))
