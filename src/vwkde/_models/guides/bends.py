"""The guide named "bends": columns that follow curves of other columns, which bend or scatter otherwise in one sample.

Both samples are chains of columns, as in `_models/chain.py`, but a column may also go with squares, cubes, products or
waves of those before it. The curves are found first, in either sample. One chain then describes both samples, and only
what clearly differs between them belongs to one of them. So a few rows of one sample need not show all of a curve
that many rows of the other one do, and equal samples have a log ratio of zero.

The columns keep their own scale: mapped to normal scores, curves would be others.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.chain import Column, Link, fit_links, log_student, scale_features, waves, with_constant
from vwkde._models.forward import Forward, counting
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.kind import Fit

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Samples = tuple[Sample, Sample]
Curves = Callable[[Floats], Floats]
"""Functions of some columns that another one may follow."""

_MOST_COLUMNS = 30
_MOST_WITH_PRODUCTS = 10
"""Columns up to which products of two are curves as well: of many, some would count by chance."""
_MOST_ROWS = 2_000
"""Rows of each sample that show whether columns follow curves, and in which order."""
_FARTHEST = 4.0
"""Standard deviations beyond which a column bends no further."""
_CLEARLY = 3.0
"""Standard errors by which a curve of one column must count to say which of two columns comes first."""
_DIFFERENT = 2.0
"""Standard errors by which a coefficient must differ between the samples to be fitted to each of them."""
_MOST_CURVES, _MOST_DIFFERENCES = 12, 40
_CURVES_OF_ONE = 6
"""Curves of a single column: two powers and four waves."""
_NEW = 1e-2
"""Share of the squares of a curve that straight functions must leave for it to be one."""
_LEAST_VARIANCE = 1e-12
"""Variance of what is left of a column, in units of its own, below which it is rounding."""


def polynomials(x: Floats) -> Floats:
    """Return squares and cubes of columns and, if they are few, products of two."""
    near = np.clip(x, -_FARTHEST, _FARTHEST)
    parts = [near**2 - 1, near**3 - 3 * near]
    return np.column_stack([*parts, *_products(near)])


def waves_and_products(x: Floats) -> Floats:
    """Return waves along columns and, if they are few, products of two."""
    near = np.clip(x, -_FARTHEST, _FARTHEST)
    return np.column_stack([*waves(near), *_products(near)])


def _products(x: Floats) -> list[Floats]:
    one, other = np.triu_indices(x.shape[1], 1)
    return [x[:, one] * x[:, other]] if x.shape[1] <= _MOST_WITH_PRODUCTS else []


def bend_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with polynomials, and with waves."""
    order = _order(_some_rows(numerator, denominator))
    return tuple(partial(fit_bends, order, curves) for curves in (polynomials, waves_and_products))


def have_bends(numerator: Sample, denominator: Sample) -> bool:
    """Return whether some column follows a curve of others in one of the samples."""
    if denominator.pairs is not None or not 2 <= numerator.points.shape[1] <= _MOST_COLUMNS:
        return False
    followed = _followed(_some_rows(numerator, denominator))
    return bool(followed.max() > _hardly_by_chance(followed.size))


def fit_bends(order: Ints, curves: Curves, numerator: Sample, denominator: Sample) -> "Bends":
    """Return the guide from one chain of columns for both samples, with what differs between them."""
    rows = _Rows.of(numerator, denominator).taken(order)
    links = tuple(rows.link(j, curves) for j in range(len(order)))
    return Bends(order, rows.centre, rows.unit, curves, tuple(link for link in links if link.differs))


class _BentLink(NamedTuple):
    """The number of a column in a chain, the curves that it follows, which coefficients differ, and its fit.

    The fit is that to the rows of both samples. The last of its coefficients are those that only rows of the first
    sample have; the last feature of the scale is one for them and zero for others.
    """

    column: int
    bends: Ints
    different: Ints
    fit: Link

    @property
    def differs(self) -> bool:
        """Whether the samples differ in the column, given those before it."""
        last = _scale_features(np.empty((0, self.column)), 0.0).shape[1] - 1
        return bool(len(self.different) or last in self.fit.used)

    def log_density(self, z: Floats, side: float, curves: Curves) -> Floats:
        """Return the log density of the column, given those before it, in one of the samples."""
        before = z[:, : self.column]
        mean = _with_different(_design(before, self.bends, curves), self.different, side) @ self.fit.line
        log_variance = _scale_features(before, side)[:, self.fit.used] @ self.fit.log_variance
        return log_student(z[:, self.column] - mean, log_variance, self.fit.freedom)


@dataclass(frozen=True)
class Bends:
    """The log ratio of two chains; of their links, only those that differ between the samples."""

    order: Ints
    centre: Floats
    unit: Floats
    curves: Curves
    links: tuple[_BentLink, ...]

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratio of the two chains."""
        z = (x[:, self.order] - self.centre) / self.unit
        result = np.zeros(len(x))
        for link in self.links:
            result += link.log_density(z, 1.0, self.curves) - link.log_density(z, 0.0, self.curves)
        return result


class _Rows(NamedTuple):
    """The rows of both samples in units of their deviations, their weights, and 1 for those of the first sample."""

    z: Floats
    weight: Floats
    side: Floats
    centre: Floats
    unit: Floats

    @classmethod
    def of(cls, numerator: Sample, denominator: Sample) -> "_Rows":
        """Return the rows of two samples."""
        samples = numerator, denominator
        centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)
        unit = np.sqrt(np.maximum(np.diag(pooled_covariance(samples)), np.finfo(np.float64).tiny))
        z = (np.concatenate([sample.points for sample in samples]) - centre) / unit
        weight = np.concatenate([sample.weight * sample.effective_rows / sample.weight.sum() for sample in samples])
        return cls(z, weight, np.repeat([1.0, 0.0], [len(sample) for sample in samples]), centre, unit)

    def taken(self, order: Ints) -> "_Rows":
        """Return the columns in an order."""
        return self._replace(z=self.z[:, order], centre=self.centre[order], unit=self.unit[order])

    def curves_of(self, j: int, curves: Curves) -> Ints:
        """Return the curves that a column follows in one of the samples, among those of the columns before it."""
        before = self.z[:, :j]
        bent = curves(before)
        sides = (self.side == side for side in (1, 0))
        each = [Forward(self.z[here, j], with_constant(before)[here], bent[here], self.weight[here]) for here in sides]
        return counting(each, _hardly_by_chance(bent.shape[1]), _MOST_CURVES)

    def link(self, j: int, curves: Curves) -> _BentLink:
        """Fit a column, given those before it."""
        before, y = self.z[:, :j], self.z[:, j]
        bends = self.curves_of(j, curves) if j else np.empty(0, dtype=np.intp)
        design = _design(before, bends, curves)
        left = y - design @ np.linalg.lstsq(design, y)[0]
        variances = (max(left[self.side == side].var(), _LEAST_VARIANCE) for side in (1, 0))
        own = Forward(y, design, design * self.side[:, None], self.weight / np.where(self.side, *variances))
        different = counting([own], _DIFFERENT, _MOST_DIFFERENCES)
        both = _with_different(design, different, self.side)
        column = Column(y, both, _scale_features(before, self.side), self.weight)
        return _BentLink(j, bends, different, fit_links([column])[0])


def _some_rows(numerator: Sample, denominator: Sample) -> _Rows:
    random = np.random.default_rng(0)
    return _Rows.of(numerator.thinned(_MOST_ROWS, random), denominator.thinned(_MOST_ROWS, random))


def _design(before: Floats, bends: Ints, curves: Curves) -> Floats:
    return np.column_stack([with_constant(before), curves(before)[:, bends]])


def _with_different(design: Floats, different: Ints, side: Floats | float) -> Floats:
    """Return columns, and those that differ once more, which only rows of the first sample have."""
    return np.column_stack([design, design[:, different] * np.reshape(side, (-1, 1))])


def _scale_features(before: Floats, side: Floats | float) -> Floats:
    """Return what the scale of a column may depend on: the columns before it, and which sample a row is of."""
    return np.column_stack([scale_features(before), np.broadcast_to(side, len(before))])


def _hardly_by_chance(count: int) -> float:
    """Return by how many standard errors hardly any of so many curves counts by chance."""
    return float(1 + np.sqrt(2 * np.log(max(count, 1))))


def _order(rows: _Rows) -> Ints:
    """Return an order of the columns in which few follow curves of later ones."""
    columns = len(rows.centre)
    of_one = _followed(rows)[: _CURVES_OF_ONE * columns].reshape(_CURVES_OF_ONE, columns, columns).max(axis=0)
    bent_by = np.maximum(of_one**2 - _CLEARLY**2, 0.0)
    left: list[int] = list(range(columns))
    order: list[int] = []
    while left:
        net = bent_by[np.ix_(left, left)]
        order.append(left.pop(int(np.argmax(net.sum(axis=0) - net.sum(axis=1)))))
    return np.array(order[::-1])


def _followed(rows: _Rows) -> Floats:
    """Return by how many standard errors columns follow curves, (curves, columns), in the sample that shows it better.

    The first curves are all of one kind of each column, then those of the next; products come last. What a column
    shares with straight functions of all others is taken out of it, and of the curves.
    """
    z, columns = rows.z, len(rows.centre)
    one, other = np.triu_indices(columns, 1)
    kinds = [polynomials(z[:, [i]]) for i in range(columns)], [waves_and_products(z[:, [i]]) for i in range(columns)]
    by_column = [np.concatenate(of_column, axis=1) for of_column in zip(*kinds, strict=True)]
    curves = np.stack(by_column, axis=2).reshape(len(z), -1)
    own = np.tile(np.eye(columns, dtype=bool), (_CURVES_OF_ONE, 1))
    if columns <= _MOST_WITH_PRODUCTS:
        curves = np.column_stack([curves, z[:, one] * z[:, other]])
        own = np.concatenate([own, np.eye(columns, dtype=bool)[one] | np.eye(columns, dtype=bool)[other]])
    found = [_counts(curves[here], z[here], rows.weight[here]) for here in (rows.side == 1, rows.side == 0)]
    return np.where(own, 0.0, np.max(found, axis=0))


def _counts(curves: Floats, z: Floats, weight: Floats) -> Floats:
    """Return by how many standard errors, those of each row, each column follows each curve beside straight ones."""
    root = np.sqrt(weight)[:, None]
    straight, curved = with_constant(z) * root, curves * root
    left = (straight @ np.linalg.pinv(straight.T @ straight))[:, 1:]  # what the others leave of each column, scaled
    new = curved - straight @ np.linalg.lstsq(straight, curved)[0]
    error = np.sqrt((new**2).T @ left**2)
    says_more = (new**2).sum(axis=0) > _NEW * (curved**2).sum(axis=0)
    slope = np.abs(curved.T @ left)
    return np.divide(slope, error, out=np.zeros_like(slope), where=says_more[:, None] & (error > 0))
