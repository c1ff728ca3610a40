"""What is known about a surface if texture and single marks are combined.

An image has three values: the score of its texture, that of its marks, and the peak of the map of both. The tails of
those of good images make them comparable: each says how rare it would be in a good image, in nats. The peak counts
most: it is high where texture and marks differ at the same place. The map of an image shows the surroundings of each
place as well. When images are added, what is known about marks stays, and so do the tails and the tables of rarities.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import run
from vwkde._compute.resources import Resources
from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.combined import Marking
from vwkde.inspection.model.features import FeatureSet, marking_of
from vwkde.inspection.model.known_marks import KnownMarks, MarkComparison, learn_marks
from vwkde.inspection.model.learnt import Judgement, Learnt, coordinates_of
from vwkde.inspection.model.library import Comparison, make_library
from vwkde.inspection.model.measuring import Measured, mapped
from vwkde.inspection.model.rarity import Rarities, fit_rarities
from vwkde.inspection.model.tails import Tail, fit_tail

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Shares = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class Both:
    """What good images have: tails of the scores of texture and of marks and of the peak of the map, and rarities.

    `shares` is how much each of the three counts in the score of an image.
    """

    tail: Tail
    rarities: Rarities
    shares: Shares

    def score(self, values: Floats) -> Floats:
        """Return the mean rarity of the two scores and the peak, (…, 3)."""
        return np.asarray(self.tail(values) @ np.array(self.shares))

    def map(self, texture: Comparison, marks: MarkComparison) -> Floats:
        """Return how rare each place is in good images, in nats, at the size of measurement."""
        return self.rarities.map((texture.log_ratio, marks.excess))

    def peaks(self, texture: Comparison, marks: MarkComparison) -> tuple[float, float]:
        """Return the largest value of that map, and that of what is shown of it."""
        return self.rarities.peaks(self.map(texture, marks))


@dataclass(frozen=True, eq=False, kw_only=True)
class LearntCombined(Learnt):
    """What was learnt from the good images of a surface.

    `kept_values` are the score of each by its marks alone and the peak of its map without surroundings, (images, 2):
    what its score is made of, and what more images do not change.
    """

    shares: ClassVar[Shares] = (0.25, 0.25, 0.5)
    """How much texture, marks and the peak of the map count: the peak as much as the other two."""

    marking: Marking
    known: KnownMarks
    kept_values: Floats
    both: Both

    def judge(self, image: Singles, resources: Resources) -> Judgement:
        """Return how an image compares with the good ones."""
        marks = self.known.compare(self.marking(image))
        texture = self.compare(image, resources)
        joint = self.both.map(texture, marks)
        score = self.both.score(np.array([texture.score, marks.score, joint.max()]))
        log_ratio = self.marking.spread(self.both.rarities.shown(joint), self.image_shape).astype(np.float32)
        return Judgement(float(score), texture.nearest, log_ratio)

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what is known with more good images; marks and tails do not change."""
        library = self._kernels.grown(mapped(seen.features, self.coordinates))
        sums = library.mutual_sums(self.sums, resources)
        texture = library.left_out(sums, resources)
        marks = [self.known.compare(image) for image in seen.marks]
        pairs = zip(texture[len(self.names) :], marks, strict=True)
        joint, shown = np.transpose([self.both.peaks(*pair) for pair in pairs])
        kept = np.column_stack([[each.score for each in marks], joint])
        return replace(
            self.with_images(seen),
            library=library,
            sums=sums,
            kept_values=np.concatenate([self.kept_values, kept]),
            peaks=Calibration(np.append(self.peaks.scores, shown), false_reject_rate),
        )._calibrated(texture, false_reject_rate)

    def fewer(self, count: int, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what was known with the first good images only; nothing else that was learnt depends on the others."""
        library = replace(self._kernels, patches=self.library.patches[:count])
        sums = self.sums[:count, :count]
        return replace(
            self.with_first(count),
            library=library,
            sums=sums,
            kept_values=self.kept_values[:count],
            peaks=Calibration(self.peaks.scores[:count], false_reject_rate),
        )._calibrated(library.left_out(sums, resources), false_reject_rate)

    def _calibrated(self, texture: list[Comparison], false_reject_rate: float) -> "LearntCombined":
        """Return this with a threshold for scores, given how the texture of each good image compares with others."""
        values = np.column_stack([[each.score for each in texture], self.kept_values])
        return replace(self, scores=calibrate(self.both.score(values), false_reject_rate))


def learn_combined(
    seen: Measured, features: FeatureSet, candidates: int, seed: int, false_reject_rate: float, resources: Resources
) -> LearntCombined:
    """Learn from good images: their texture and their marks, and how each compares with the others."""
    marking = marking_of(features) or Marking()
    coordinates = coordinates_of(seen, features, seed)
    library = make_library(mapped(seen.features, coordinates), candidates, seed, features.worst, True)
    sums = library.mutual_sums(resources=resources)
    shape = marking.shape(seen.shape)
    known, marks = learn_marks(seen.marks, shape, seed)
    both, values, peaks = fit_both(library.left_out(sums, resources), marks, shape, marking, LearntCombined.shares)
    images = seen.shape, seen.names, seen.fingerprints, seen.thumbnails
    thresholds = calibrate(both.score(values), false_reject_rate), Calibration(peaks, false_reject_rate)
    learnt = (features, *images, coordinates, library, sums, *thresholds)
    return LearntCombined(*learnt, marking=marking, known=known, kept_values=values[:, 1:], both=both)


def fit_both(
    texture: list[Comparison], marks: list[MarkComparison], shape: tuple[int, ...], marking: Marking, shares: Shares
) -> tuple[Both, Floats, Floats]:
    """Return what good images have, scores and peaks of each, (images, 3), and the peaks of what maps show."""
    pairs = [(one.log_ratio, other.excess) for one, other in zip(texture, marks, strict=True)]
    rarities = fit_rarities(pairs, shape, marking.patches)
    peaks, shown = np.transpose(run(lambda pair: rarities.peaks(rarities.map(pair)), pairs))
    values = np.stack([[each.score for each in texture], [each.score for each in marks], peaks], axis=-1)
    return Both(fit_tail(values), rarities, shares), values, shown
