"""What is known about a surface if patches are compared with the nearest good ones, and marks as in `combined`.

Of each good image, only some patches are kept, and its score against the others. When images are added, the scores of
the earlier ones stay: more patches could only lower them, so the threshold errs on the side of fewer rejections.
"""

from dataclasses import dataclass, replace
from typing import ClassVar, cast

import numpy as np

from vwkde._compute.resources import Resources
from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.coordinates import fit_rotated_coordinates
from vwkde.inspection.model.features.combined import Marking
from vwkde.inspection.model.features.registry import FeatureSet, marking_of
from vwkde.inspection.model.learnt.base import Learnt
from vwkde.inspection.model.learnt.combined import LearntCombined, compared_drawings
from vwkde.inspection.model.learnt.joint import Compared, Shares, fit_joint, median_values
from vwkde.inspection.model.learnt.nearest import NearestPatches, keep_patches
from vwkde.inspection.model.marks.known import learn_marks
from vwkde.inspection.model.measuring import Measured, mapped

NO_SUMS = np.empty((0, 0))
"""No pairs of images are compared."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LearntNearest(LearntCombined):
    """What was learnt from the good images of a surface; `library` is of `NearestPatches`, and `sums` are empty."""

    shares: ClassVar[Shares] = (0.5, 0.0, 0.5)
    """The peak of the map tells images apart; whether its highest values would do so better was not measured."""

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what is known with more good images; coordinates, bandwidths, marks and tails do not change."""
        del resources
        patches, count = mapped(seen.features, self.coordinates), len(self.names)
        library = self._nearest.grown(patches, seed=count)
        texture = library.left_out(patches, first=count)
        new = np.array([self.joint.values(image) for image in self.compared(texture, seen)])
        values = np.concatenate([self.values, new])
        like = median_values(values, np.stack([each.neighbours for each in texture]))
        peaks, scores = self.joint.peaks(new, like), self.joint.score(new, like)
        return replace(
            self.with_images(seen),
            library=library,
            values=values,
            scores=calibrate(np.append(self.scores.scores, scores), false_reject_rate),
            peaks=Calibration(np.append(self.peaks.scores, peaks), false_reject_rate),
        )

    def fewer(self, count: int, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what was known with the first good images only."""
        del resources
        return replace(
            self.with_first(count),
            library=self._nearest.fewer(count),
            values=self.values[:count],
            scores=calibrate(self.scores.scores[:count], false_reject_rate),
            peaks=Calibration(self.peaks.scores[:count], false_reject_rate),
        )

    @property
    def _nearest(self) -> NearestPatches:
        return cast(NearestPatches, self.library)


def learn_nearest(seen: Measured, features: FeatureSet, seed: int, false_reject_rate: float) -> LearntNearest:
    """Learn from good images: their patches and their marks, and how each compares with the others."""
    marking = marking_of(features) or Marking()
    coordinates = fit_rotated_coordinates(seen.features, features.components)
    patches = mapped(seen.features, coordinates)
    library = keep_patches(patches, features.worst or patches.shape[1], seed)
    shape = marking.shape(seen.shape)
    known, marks, of_drawings = learn_marks(seen.marks, seen.made_up, shape, seed, seen.drawn_marks)
    good = [Compared(*parts) for parts in zip(library.left_out(patches), marks, strict=True)]
    drawings = compared_drawings(seen, coordinates, of_drawings, library.compare_with_others)
    joint, values, like = fit_joint(good, shape, marking, LearntNearest.shares, drawings)
    images = seen.shape, seen.names, seen.fingerprints, seen.thumbnails
    learnt = (features, *images, coordinates, library, NO_SUMS, *joint.calibrations(values, like, false_reject_rate))
    return LearntNearest(*learnt, marking=marking, known=known, values=values, joint=joint)
