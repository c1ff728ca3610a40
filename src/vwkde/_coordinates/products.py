"""Products of functions of columns, as further columns.

A function of a column is a wave along the rank of its values: the normal distribution function of their normal scores.
A product becomes two columns: its size, and steps, which change from one to minus one where a factor has an edge.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

Floats = NDArray[np.float64]

_WAVES = (
    *((np.cos, 1), (np.cos, 2), (np.cos, 3), (np.sin, 2), (np.cos, 4), (np.sin, 4)),
    *((np.cos, 5), (np.cos, 6), (np.sin, 6), (np.cos, 7), (np.cos, 8), (np.sin, 8)),
)
"""The functions, by their numbers of half waves: cosines of one to eight, and sines of as many as begin and end alike.

Together they find a square wave that begins anywhere.
"""
FUNCTIONS = len(_WAVES)


def wave(column: Floats, number: int) -> Floats:
    """Return one of the functions of a column of normal scores: of unit variance if they are normal."""
    function, half_waves = _WAVES[number]
    return np.asarray(np.sqrt(2) * function(np.pi * half_waves * ndtr(column)))


def edges_of(number: int) -> tuple[float, ...]:
    """Return the normal scores at which one of the functions changes its sign."""
    function, half_waves = _WAVES[number]
    ranks = np.arange(1, half_waves) if function is np.sin else np.arange(half_waves) + 0.5
    return tuple(ndtri(ranks / half_waves).tolist())


class Factor(NamedTuple):
    """A function of one column by its number, and the edges: where the steps of the product change their sign."""

    column: int
    number: int
    edges: tuple[float, ...]


@dataclass(frozen=True)
class Product:
    """A product of functions of different columns, which are normal scores."""

    factors: tuple[Factor, ...]

    @property
    def columns(self) -> tuple[int, ...]:
        """The columns that it depends on."""
        return tuple(factor.column for factor in self.factors)

    def value(self, x: Floats) -> Floats:
        """Return the product of the functions."""
        return np.asarray(np.prod([wave(x[:, column], number) for column, number, _ in self.factors], axis=0))

    def further(self, x: Floats) -> list[Floats]:
        """Return its size and its steps at rows, as two columns."""
        return [self.size(x), self.steps(x)]

    def size(self, x: Floats) -> Floats:
        """Return the geometric mean of the functions, with the sign of their product: most products are tiny."""
        value = self.value(x)
        return np.asarray(np.sign(value) * np.abs(value) ** (1 / len(self.factors)))

    def steps(self, x: Floats) -> Floats:
        """Return one, or minus one beyond an odd number of edges."""
        beyond = [np.searchsorted(edges, x[:, column]) for column, _, edges in self.factors]
        return np.asarray(1.0 - 2.0 * (np.sum(beyond, axis=0) % 2))
