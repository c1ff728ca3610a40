"""Two columns that scatter closely around a curve: what one of them tells about the other, by what the curve leaves.

For any curve f, R = Y − f(X) is Y from a place that moves with X, so h(X, Y) = h(X, R) and

    I(X; Y) = I(X; R) + h(Y) − h(R).

Scatter that is narrower than rows are apart is nothing to the neighbours of (x, y), but R is as wide as it is: what is
left between X and R is hardly any dependence, and entropies of single columns are easy. A curve that was fitted to the
rows where it is used leaves too little, one that was not leaves too much: the mean of both entropies is used, and their
difference is in doubt. Long tails are drawn in first, which changes no information.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma

from vwkde._models.guides.splines import AdditiveSplines

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_KNOTS = (2, 4, 8, 16, 32)
_CLEARLY = 0.99
"""Part of the mean distance from a curve that one with more knots must leave at most."""
_ROWS_PER_KNOT = 10
_ROUNDING = 1e-6
"""Part of a column's width below which what a curve leaves may be rounding in single precision."""


_ROUGH = 0.7
"""Squared differences of what is left at neighbouring rows, over those at any two rows, if it is scatter: about one."""


class Relation(NamedTuple):
    """A column that tells about another one, which is known up to what a curve leaves of it.

    `left` is that at rows which the curve has not seen, and `closest` what a curve through all rows leaves.
    """

    known: Floats
    other: Floats
    left: Floats
    closest: Floats

    @property
    def is_scatter(self) -> bool:
        """Whether something is left, more than rounding, and jumps from row to row: no curve with more knots fits."""
        distinct = all(len(np.unique(each)) == len(each) for each in (self.left, self.closest))
        if not distinct or _width(self.left) <= _ROUNDING * _width(self.other):
            return False
        in_order = self.closest[np.argsort(self.known)]
        return bool(np.mean(np.diff(in_order) ** 2) > _ROUGH * 2 * np.var(in_order))


def find_relation(x: Floats, y: Floats, fold: Ints) -> Relation | None:
    """Return what the curve leaves that explains more, of Y in X or of X in Y.

    x and y are columns, (rows,), and `fold` numbers the rows that are left out together. There is none if a column has
    equal values, or if what is left is no scatter.
    """
    if any(len(np.unique(column)) < len(column) for column in (x, y)):
        return None
    x, y = _drawn_in(x), _drawn_in(y)
    found = [_relation(known, other, fold) for known, other in ((x, y), (y, x))]
    best = max(found, key=lambda each: _width(each.other) / max(_width(each.left), _ROUNDING * _width(each.other)))
    return best if best.is_scatter else None


def information_in_widths(relation: Relation, k: int) -> tuple[Floats, float]:
    """Return log p(R) − log p(Y) at all rows, by their k-th neighbours in each column, and how much is in doubt.

    The mean is h(Y) − h(R).
    """
    unseen, seen, other = (_log_density(each, k) for each in (relation.left, relation.closest, relation.other))
    return (unseen + seen) / 2 - other, abs(float(np.mean(seen - unseen)))


def _relation(x: Floats, y: Floats, fold: Ints) -> Relation:
    """Return what a curve of y in x leaves, with as many knots as pay at rows of other folds."""
    best, least, most = y, np.inf, _KNOTS[0]
    for knots in (count for count in _KNOTS if count * _ROWS_PER_KNOT <= len(x)):
        left = np.empty_like(y)
        for number in np.unique(fold):
            here, there = fold == number, fold != number
            left[here] = _left(x[there], y[there], x[here], y[here], knots)
        distance = float(np.mean(np.abs(left)))
        if distance < _CLEARLY * least:
            best, least, most = left, distance, knots
    return Relation(x, y, best, _left(x, y, x, y, most))


def _left(x: Floats, y: Floats, at: Floats, of: Floats, knots: int) -> Floats:
    """Return what a curve of y in x leaves of a column, `of`, at points."""
    splines = AdditiveSplines(knots).fit(x[:, None])
    slopes = np.linalg.lstsq(_features(splines, x), y)[0]
    return np.asarray(of - _features(splines, at) @ slopes)


def _drawn_in(column: Floats) -> Floats:
    """Return a column with tails that grow like a logarithm."""
    return np.asarray(np.arcsinh((column - np.median(column)) / _width(column)))


def _width(column: Floats) -> float:
    """Return the distance between the quartiles."""
    low, high = np.quantile(column, [0.25, 0.75])
    return float(high - low)


def _features(splines: AdditiveSplines, x: Floats) -> Floats:
    return np.column_stack([np.ones(len(x)), splines.transform(x[:, None])])


def _log_density(values: Floats, k: int) -> Floats:
    """Return the log density at distinct values of a column, by the distance to the k-th neighbour of each."""
    order = np.argsort(values)
    padded = np.concatenate([np.full(k, -np.inf), values[order], np.full(k, np.inf)])
    near = np.lib.stride_tricks.sliding_window_view(padded, 2 * k + 1)
    distance = np.sort(np.abs(near - near[:, k, None]), axis=1)[:, k]  # the first is the value itself
    result = np.empty(len(values))
    result[order] = digamma(k) - digamma(len(values)) - np.log(2 * distance)
    return result
