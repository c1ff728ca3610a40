"""What is known about a surface if texture and single marks are combined.

Both have a score and a map. The tails of those of good images make them comparable: each says how rare it would be in a
good image, in nats. The peak of the joint map counts too: it is high where texture and marks differ at the same place,
which by chance they seldom do. When images are added, what is known about marks stays, and so do the tails.
"""

from dataclasses import dataclass, replace

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
from vwkde.inspection.model.marks import MARKS
from vwkde.inspection.model.measuring import Measured, mapped
from vwkde.inspection.model.patches import Grid
from vwkde.inspection.model.pyramid import PYRAMID
from vwkde.inspection.model.tails import Tail, fit_tail

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Pair = tuple[Comparison, MarkComparison]

STRONG = 5.0
"""Values of maps beyond this, in nats, count by their logarithm: so rare is a place only in a defect."""


@dataclass(frozen=True, eq=False)
class Both:
    """Tails of good images: of the scores of texture and marks, (2,), and of the peaks of their maps and the joint."""

    image_shape: tuple[int, ...]
    scores: Tail
    peaks: Tail
    patches: Grid = PYRAMID

    def score(self, scores: Floats, peak: Floats | float) -> Floats:
        """Return the mean of how rare the scores of texture and marks, (…, 2), are, and how rare the map's peak."""
        return np.asarray((self.scores(scores).mean(axis=-1) + peak) / 2)

    def map(self, pair: Pair) -> Floats:
        """Return how rare each place would be as the worst one of a good image, at the size of measurement."""
        return self.peaks[2](_joint(_maps(pair, self.image_shape, self.patches), self.peaks[:2]))


@dataclass(frozen=True, eq=False, kw_only=True)
class LearntCombined(Learnt):
    """What was learnt from the good images of a surface; `mark_scores` is the score of each by its marks alone."""

    marking: Marking
    known: KnownMarks
    mark_scores: Floats
    both: Both

    def judge(self, image: Singles, resources: Resources) -> Judgement:
        """Return how an image compares with the good ones."""
        marks = self.known.compare(self.marking(image))
        pair = self.compare(image, resources), marks
        joint = self.both.map(pair)
        score = self.both.score(np.array([pair[0].score, marks.score]), joint.max())
        log_ratio = self.marking.spread(joint, self.image_shape).astype(np.float32)
        return Judgement(float(score), pair[0].nearest, log_ratio)

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what is known with more good images; marks and tails do not change."""
        library = self._kernels.grown(mapped(seen.features, self.coordinates))
        sums = library.mutual_sums(self.sums, resources)
        texture = library.left_out(sums, resources)
        marks = [self.known.compare(image) for image in seen.marks]
        peaks = [self.both.map(pair).max() for pair in zip(texture[len(self.names) :], marks, strict=True)]
        return replace(
            self.with_images(seen),
            library=library,
            sums=sums,
            mark_scores=np.append(self.mark_scores, [each.score for each in marks]),
            peaks=Calibration(np.append(self.peaks.scores, peaks), false_reject_rate),
        )._calibrated(texture, false_reject_rate)

    def fewer(self, count: int, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what was known with the first good images only; nothing else that was learnt depends on the others."""
        library = replace(self._kernels, patches=self.library.patches[:count])
        sums = self.sums[:count, :count]
        return replace(
            self.with_first(count),
            library=library,
            sums=sums,
            mark_scores=self.mark_scores[:count],
            peaks=Calibration(self.peaks.scores[:count], false_reject_rate),
        )._calibrated(library.left_out(sums, resources), false_reject_rate)

    def _calibrated(self, texture: list[Comparison], false_reject_rate: float) -> "LearntCombined":
        """Return this with a threshold for scores, given how the texture of each good image compares with others."""
        scores = np.stack([[each.score for each in texture], self.mark_scores], axis=-1)
        return replace(self, scores=calibrate(self.both.score(scores, self.peaks.scores), false_reject_rate))


def learn_combined(
    seen: Measured, features: FeatureSet, candidates: int, seed: int, false_reject_rate: float, resources: Resources
) -> LearntCombined:
    """Learn from good images: their texture and their marks, and how each compares with the others."""
    marking = marking_of(features) or Marking()
    coordinates = coordinates_of(seen, features, seed)
    library = make_library(mapped(seen.features, coordinates), candidates, seed, features.worst)
    sums = library.mutual_sums(resources=resources)
    shape = marking.shape(seen.shape)
    known, marks = learn_marks(seen.marks, shape, seed)
    both, scores, rarity = fit_both(list(zip(library.left_out(sums, resources), marks, strict=True)), shape, marking)
    images = seen.shape, seen.names, seen.fingerprints, seen.thumbnails
    thresholds = calibrate(both.score(scores, rarity), false_reject_rate), Calibration(rarity, false_reject_rate)
    learnt = (features, *images, coordinates, library, sums, *thresholds)
    return LearntCombined(*learnt, marking=marking, known=known, mark_scores=scores[:, 1], both=both)


def fit_both(pairs: list[Pair], shape: tuple[int, ...], marking: Marking) -> tuple[Both, Floats, Floats]:
    """Return the tails of good images, the scores of each, (images, 2), and how rare the peak of its joint map is."""
    scores = np.array([[each.score for each in pair] for pair in pairs])
    patches = marking.patches
    peaks = np.array(run(lambda pair: _maps(pair, shape, patches).max(axis=(0, 1)), pairs))
    tails = fit_tail(peaks)
    joint = np.array(run(lambda pair: _joint(_maps(pair, shape, patches), tails).max(), pairs))
    both = Both(shape, fit_tail(scores), fit_tail(np.column_stack([peaks, joint])), patches)
    return both, scores, both.peaks[2](joint)


def _joint(maps: Floats, peaks: Tail) -> Floats:
    """Return the mean of both maps, each in units of how rare its peak would be in a good image."""
    return np.asarray(peaks(maps).mean(axis=-1))


def _maps(pair: Pair, shape: tuple[int, ...], patches: Grid) -> Floats:
    """Return the maps of patches and of marks, (height, width, 2), at the size at which images are measured.

    Values are compressed before the mean over copies of an image: a small copy, which shows a strong defect far and
    wide, must not outweigh the others, which show where it is.
    """
    texture, marks = (STRONG * np.arcsinh(values / STRONG) for values in (pair[0].log_ratio, pair[1].excess))
    return np.stack([patches.spread(texture, shape), MARKS.spread(marks, shape)], axis=-1)
