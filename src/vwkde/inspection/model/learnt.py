"""What is known of a surface once good images have been learnt."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.calibration import Calibration
from vwkde.inspection.model.coordinates import Coordinates
from vwkde.inspection.model.features import FeatureSet
from vwkde.inspection.model.library import Library

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Learnt:
    """A surface as its good images show it.

    `names`, `fingerprints` (None where a model file has none) and `thumbnails` have one entry for each good image.
    `sums` are the mean log kernel sums between all of them, kept so that images can be added. `scores` calibrates the
    scores of images, `peaks` the largest values of their maps.
    """

    features: FeatureSet
    image_shape: tuple[int, ...]
    names: list[str]
    fingerprints: list[str | None]
    thumbnails: NDArray[np.uint8]
    coordinates: Coordinates
    library: Library
    sums: Floats
    scores: Calibration
    peaks: Calibration
