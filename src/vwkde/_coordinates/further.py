"""Normal scores of columns, and further columns that are made of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._data.validation import Array

Floats = NDArray[np.float64]


class Further(Protocol):
    """What is made of normal scores: products, or what counts in a part of the rows."""

    def further(self, x: Floats) -> list[Floats]:
        """Return the further columns at rows of normal scores."""


@dataclass(frozen=True)
class WithFurther:
    """Coordinates that are normal scores, and what is made of them."""

    coordinates: Callable[[Array], Floats]
    made: tuple[Further, ...]

    def __call__(self, x: Array) -> Floats:
        """Return the columns and the further ones."""
        return self.added(self.coordinates(x))

    def added(self, x: Floats) -> Floats:
        """Return normal scores and the further columns."""
        return np.column_stack([x, *(column for each in self.made for column in each.further(x))])


def add_further(samples: tuple[Sample, Sample], made: tuple[Further, ...]) -> tuple[Sample, Sample]:
    """Return samples of normal scores with further columns."""
    return _added(samples[0], made), _added(samples[1], made)


def _added(sample: Sample, made: tuple[Further, ...]) -> Sample:
    rest = sample.rest and replace(sample.rest, coordinates=WithFurther(sample.rest.coordinates, made))
    return replace(sample, points=WithFurther(np.asarray, made).added(sample.points), rest=rest)
