"""Columns that count in a part of the rows only, as further columns.

A subgroup is a level of one column, or a range of it, and perhaps of a second and a third one. It tells whether a row
belongs to it; inside of it some columns count, and outside these are zero.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


class Limits(NamedTuple):
    """The values of a column from one to another, both included."""

    column: int
    low: float
    high: float

    def hold(self, x: Floats) -> Flags:
        """Return whether rows lie between."""
        values = x[:, self.column]
        return np.asarray((values >= self.low) & (values <= self.high))


@dataclass(frozen=True)
class Subgroup:
    """Rows within some limits, and the columns that count there, at most two, with their means and deviations."""

    limits: tuple[Limits, ...]
    columns: tuple[int, ...]
    middle: Floats
    scale: Floats

    @classmethod
    def of(cls, limits: tuple[Limits, ...], columns: tuple[int, ...], x: Floats) -> "Subgroup":
        """Return a subgroup with the means and deviations of the columns among its rows."""
        inside = x[hold_all(limits, x)][:, list(columns)]
        deviation = inside.std(axis=0)
        return cls(limits, columns, inside.mean(axis=0), np.where(deviation > 0, deviation, 1.0))

    def further(self, x: Floats) -> list[Floats]:
        """Return whether rows belong to it and, for those that do, the columns, their squares and their product."""
        inside = hold_all(self.limits, x)
        z = np.where(inside[:, None], (x[:, list(self.columns)] - self.middle) / self.scale, 0.0).T
        product = [z[0] * z[1]] if len(z) > 1 else []
        return [inside.astype(np.float64), *z, *z**2, *product]


def hold_all(limits: tuple[Limits, ...], x: Floats) -> Flags:
    """Return whether rows lie within all of the limits."""
    return np.asarray(np.logical_and.reduce([each.hold(x) for each in limits]))
