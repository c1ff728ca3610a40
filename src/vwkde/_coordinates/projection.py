"""Samples and points projected on a few directions."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._data.validation import Array

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """Coordinates followed by a projection on some directions."""

    coordinates: Callable[[Array], Floats]
    directions: Floats

    def __call__(self, x: Array) -> Floats:
        """Return the projections, of shape (n, k)."""
        return self.coordinates(x) @ self.directions


def project_samples(samples: tuple[Sample, Sample], directions: Floats) -> tuple[Sample, Sample]:
    """Return the projections of the samples on some directions."""
    return _projected(samples[0], directions), _projected(samples[1], directions)


def _projected(sample: Sample, directions: Floats) -> Sample:
    rest = sample.rest and replace(sample.rest, coordinates=Projection(sample.rest.coordinates, directions))
    return replace(sample, points=sample.points @ directions, rest=rest, pairs=None)
