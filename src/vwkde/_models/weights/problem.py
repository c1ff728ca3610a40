"""What a weight is fitted to."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.resources import Resources
from vwkde._data.sample import Sample
from vwkde._models.derivatives.protocol import Derivatives

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WeightSettings:
    """The parameters of `DensityRatio` that describe the weight; `kind` is its `weighting`."""

    kind: str
    derivatives: Any
    target: str
    length_scale: float | str
    ridge: float
    max_basis: int


@dataclass(frozen=True)
class WeightProblem:
    """Two samples, the derivatives of their densities, and where the bias counts.

    `models` are the derivatives of the densities, `tilted` those of the densities tilted by a guide; both are the same
    without a guide. The bias counts at `points`, with the `importance` of each, which has mean one. If there are
    `streamed` samples, it counts at all their rows instead, in memory or not.
    """

    samples: tuple[Sample, Sample]
    models: tuple[Derivatives, Derivatives]
    tilted: tuple[Derivatives, Derivatives]
    points: Floats
    importance: Floats
    streamed: tuple[Sample, ...]
    settings: WeightSettings
    seed: int
    resources: Resources
