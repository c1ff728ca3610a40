"""Cubic splines of single columns, as features of a regression."""

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline

Floats = NDArray[np.float64]

KNOTS = 8
_DEGREE = 3


class AdditiveSplines:
    """Cubic splines of single columns, with knots at quantiles; columns of few values are left unchanged.

    `knots` is their number, for all columns or for each. With `straight`, all columns are there unchanged too.
    """

    def __init__(self, knots: int | Sequence[int] = KNOTS, straight: bool = False) -> None:
        self.knots = knots
        self.straight = straight

    def fit(self, x: Floats) -> Self:
        """Place the knots."""
        wanted = np.broadcast_to(self.knots, x.shape[1])
        knots = [np.unique(np.quantile(column, np.linspace(0, 1, k))) for column, k in zip(x.T, wanted, strict=True)]
        counts = np.array([len(each) for each in knots])
        self.unchanged_ = np.arange(len(counts)) if self.straight else np.flatnonzero(counts <= 2)
        self.splines_ = [(column, _basis(knots[column])) for column in np.flatnonzero(counts > 2)]
        return self

    def transform(self, x: Floats) -> Floats:
        """Return the splines' values, side by side."""
        parts = [basis.values(x[:, column]) for column, basis in self.splines_]
        return np.concatenate([*parts, x[:, self.unchanged_]], axis=1)


class _Basis(NamedTuple):
    """Splines that go on as straight lines outside `ends`; all but one, since they add up to one."""

    splines: BSpline
    slopes: BSpline
    ends: tuple[float, float]

    def values(self, column: Floats) -> Floats:
        inside = np.clip(column, *self.ends)
        values = self.splines(inside)
        outside = np.flatnonzero(column != inside)
        values[outside] += (column - inside)[outside, None] * self.slopes(inside[outside])
        return np.asarray(values)


def _basis(knots: Floats) -> _Basis:
    """Return the splines with these knots, and a few more beyond the ends, as far from each other as the last two."""
    beyond = np.arange(1, _DEGREE + 1)
    below, above = knots[0] - beyond[::-1] * (knots[1] - knots[0]), knots[-1] + beyond * (knots[-1] - knots[-2])
    count = len(knots) + _DEGREE - 1
    splines = BSpline(np.concatenate([below, knots, above]), np.eye(count)[:, :-1], _DEGREE)
    return _Basis(splines, splines.derivative(), (float(knots[0]), float(knots[-1])))
