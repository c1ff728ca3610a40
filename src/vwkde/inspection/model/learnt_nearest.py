"""What is known about a surface if patches are compared with the nearest good ones.

Of each good image, only some patches are kept, and its score against the others. When images are added, the scores of
the earlier ones stay: more patches could only lower them, so the threshold errs on the side of fewer rejections.
"""

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.resources import Resources
from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.coordinates import fit_rotated_coordinates
from vwkde.inspection.model.features import FeatureSet
from vwkde.inspection.model.learnt import Learnt, pixel_map
from vwkde.inspection.model.library import Comparison
from vwkde.inspection.model.measuring import Measured, mapped
from vwkde.inspection.model.nearest import NearestPatches, keep_patches

Floats = NDArray[np.float64]

NO_SUMS = np.empty((0, 0))
"""No pairs of images are compared."""


@dataclass(frozen=True, eq=False)
class LearntNearest(Learnt):
    """What was learnt from the good images of a surface; `library` is of `NearestPatches`, and `sums` are empty."""

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> "Learnt":
        """Return what is known with more good images; coordinates and bandwidths do not change."""
        del resources
        patches, count = mapped(seen.features, self.coordinates), len(self.names)
        library = self._nearest.grown(patches, seed=count)
        compared = library.left_out(patches, first=count)
        scores, peaks = _scores(compared), _peaks(compared, self.features, self.image_shape)
        return replace(
            self.with_images(seen),
            library=library,
            scores=calibrate(np.append(self.scores.scores, scores), false_reject_rate),
            peaks=Calibration(np.append(self.peaks.scores, peaks), false_reject_rate),
        )

    def fewer(self, count: int, false_reject_rate: float, resources: Resources) -> "Learnt":
        """Return what was known with the first good images only."""
        del resources
        return replace(
            self.with_first(count),
            library=self._nearest.fewer(count),
            scores=calibrate(self.scores.scores[:count], false_reject_rate),
            peaks=Calibration(self.peaks.scores[:count], false_reject_rate),
        )

    @property
    def _nearest(self) -> NearestPatches:
        return cast(NearestPatches, self.library)


def learn_nearest(seen: Measured, features: FeatureSet, seed: int, false_reject_rate: float) -> LearntNearest:
    """Learn from good images: the coordinates of their patches, and the score of each against the others."""
    coordinates = fit_rotated_coordinates(seen.features, features.components)
    patches = mapped(seen.features, coordinates)
    library = keep_patches(patches, features.worst or patches.shape[1], seed)
    compared = library.left_out(patches)
    calibrations = (
        calibrate(_scores(compared), false_reject_rate),
        Calibration(_peaks(compared, features, seen.shape), false_reject_rate),
    )
    images = seen.shape, seen.names, seen.fingerprints, seen.thumbnails
    return LearntNearest(features, *images, coordinates, library, NO_SUMS, *calibrations)


def _scores(compared: list[Comparison]) -> Floats:
    return np.array([each.score for each in compared])


def _peaks(compared: list[Comparison], features: FeatureSet, image_shape: tuple[int, ...]) -> Floats:
    return np.array([pixel_map(each, features, image_shape).max() for each in compared], dtype=np.float64)
