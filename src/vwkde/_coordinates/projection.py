"""Samples and points seen along a few directions only."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._data.validation import Array

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Projection:
    """Coordinates, and of those only the projections on some directions."""

    coordinates: Callable[[Array], Floats]
    directions: Floats

    def __call__(self, x: Array) -> Floats:
        """Return the projections, of shape (n, k)."""
        return self.coordinates(x) @ self.directions


def project_samples(samples: tuple[Sample, Sample], directions: Floats) -> tuple[Sample, Sample]:
    """Return the samples' projections on some directions."""
    return _projected(samples[0], directions), _projected(samples[1], directions)


def _projected(sample: Sample, directions: Floats) -> Sample:
    rest = sample.rest and replace(sample.rest, coordinates=Projection(sample.rest.coordinates, directions))
    return replace(sample, points=sample.points @ directions, rest=rest)
