"""A chain of columns that describes two samples at once, in which only what clearly differs belongs to one of them.

A column is a function of those before it plus Student's t noise, as in `chain`, but besides straight functions it may
follow curves: powers, products or waves. These are found first, in either sample. Then one regression describes both
samples, and a coefficient is that of one sample only if it differs. So a few rows of one sample need not show all of
what many rows of the other one do, and equal samples have a log ratio of zero.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._models.chain import Column, Link, fit_links, log_student, scale_features, waves, with_constant
from vwkde._models.forward import Forward, counting

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Curves = Callable[[Floats], Floats]
"""Functions of some columns that another one may follow."""

FIRST, SECOND = 0.5, -0.5
"""The sides of the two samples. If they change places, every difference changes its sign."""
MOST_WITH_PRODUCTS = 10
"""Columns up to which products of two are curves as well: of many, some would count by chance."""
_FARTHEST = 4.0
"""Standard deviations beyond which a column bends no further."""
_DIFFERENT = 2.0
"""Standard errors by which a coefficient must differ between the samples to be fitted to each of them."""
_MOST_CURVES, _MOST_DIFFERENCES = 12, 40
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
    return [x[:, one] * x[:, other]] if x.shape[1] <= MOST_WITH_PRODUCTS else []


def hardly_by_chance(count: int) -> float:
    """Return by how many standard errors hardly any of so many functions counts by chance."""
    return float(1 + np.sqrt(2 * np.log(max(count, 1))))


class SharedLink(NamedTuple):
    """The number of a column in a chain, the curves that it follows, which coefficients differ, and its fit.

    The fit is that to the rows of both samples. The last of its coefficients multiply the side of a row, and so do the
    last features of the scale: all if the scale may be another function in each sample, or else its level alone.
    """

    column: int
    curves: Curves
    followed: Ints
    different: Ints
    fit: Link

    @property
    def differs(self) -> bool:
        """Whether the samples differ in the column, given those before it."""
        return bool(len(self.different) or (self.fit.used >= self._scale_features).any())

    @property
    def _scale_features(self) -> int:
        return scale_features(np.empty((0, self.column))).shape[1]

    def log_ratio(self, z: Floats) -> Floats:
        """Return the log ratio of the column in the two samples, given those before it."""
        before, y = z[:, : self.column], z[:, self.column]
        mean, difference = self._parts_of_mean(before)
        scale, other_scale = self._parts_of_scale(before)

        def log_density(side: float) -> Floats:
            return log_student(y - mean - side * difference, scale + side * other_scale, self.fit.freedom)

        return log_density(FIRST) - log_density(SECOND)

    def _parts_of_mean(self, before: Floats) -> tuple[Floats, Floats]:
        """Return what both samples have in common, and what is multiplied by the side."""
        design = _design(before, self.curves, self.followed)
        common, different = np.split(self.fit.line, [design.shape[1]])
        return design @ common, design[:, self.different] @ different

    def _parts_of_scale(self, before: Floats) -> tuple[Floats, Floats]:
        """Return the same of the log variance."""
        multiplied, feature = np.divmod(self.fit.used, self._scale_features)
        constant = not feature.any()
        features = np.ones((len(before), len(feature))) if constant else scale_features(before)[:, feature]
        common = features @ np.where(multiplied, 0.0, self.fit.log_variance)
        return common, features @ np.where(multiplied, self.fit.log_variance, 0.0)


class Rows(NamedTuple):
    """The rows of both samples in units of their deviations, their weights, and the side of each."""

    z: Floats
    weight: Floats
    side: Floats

    @property
    def halves(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """The rows of each sample."""
        return self.side == FIRST, self.side == SECOND

    def link(self, j: int, curves: Curves, own_scale: bool) -> SharedLink:
        """Fit a column, given those before it; the scale may be another function of them in each sample, or not."""
        before, y = self.z[:, :j], self.z[:, j]
        followed = self._followed(j, curves) if j else np.empty(0, dtype=np.intp)
        design = _design(before, curves, followed)
        left = y - design @ np.linalg.lstsq(design, y)[0]
        variance = np.empty(len(y))
        for here in self.halves:
            variance[here] = max(left[here].var(), _LEAST_VARIANCE)
        own = Forward(y, design, design * self.side[:, None], self.weight / variance)
        different = counting([own], _DIFFERENT, _MOST_DIFFERENCES)
        both = _with_different(design, different, self.side)
        column = Column(y, both, _scale(before, self.side, own_scale), self.weight)
        return SharedLink(j, curves, followed, different, fit_links([column])[0])

    def _followed(self, j: int, curves: Curves) -> Ints:
        """Return the curves that a column follows in one of the samples, among those of the columns before it."""
        before, y = self.z[:, :j], self.z[:, j]
        straight, bent = with_constant(before), curves(before)
        each = [Forward(y[here], straight[here], bent[here], self.weight[here]) for here in self.halves]
        return counting(each, hardly_by_chance(bent.shape[1]), _MOST_CURVES)


def _design(before: Floats, curves: Curves, followed: Ints) -> Floats:
    straight = with_constant(before)
    return np.column_stack([straight, curves(before)[:, followed]]) if len(followed) else straight


def _with_different(design: Floats, different: Ints, side: Floats | float) -> Floats:
    """Return columns, and those that differ once more, times the side."""
    return np.column_stack([design, design[:, different] * np.reshape(side, (-1, 1))])


def _scale(before: Floats, side: Floats | float, own: bool) -> Floats:
    """Return what the scale of a column may depend on: the columns before it, and the side of a row."""
    shared = scale_features(before)
    different = np.arange(shared.shape[1] if own else 1)
    return _with_different(shared, different, side)
