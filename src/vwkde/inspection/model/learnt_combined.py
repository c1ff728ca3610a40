"""What is known about a surface if texture and single marks are combined.

An image has three values: the score of its texture, that of its marks, and the peak of the map of both. Surfaces differ
in how high these are in good images. So each is compared with the medians of those of the few good images that the
image is most like, and the tails of the differences in good images make them comparable: each says how rare it would
be in a good image, in nats. The peak counts most: it is high where texture and marks differ at the same place.

The map of an image shows the surroundings of each place as well, and is scaled by the peaks of the good images that it
is like. When images are added, what is known about marks stays, and so do the tails and the tables of rarities.
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
Places = NDArray[np.intp]
Singles = NDArray[np.float32]
Shares = tuple[float, float, float]

VALUES = 4
"""Number of values of a good image: texture, marks and peak, which make up its score, and the peak of what is shown."""
_IN_SCORE, _PEAK, _SHOWN = slice(3), 2, 3


@dataclass(frozen=True, eq=False)
class Both:
    """What good images have: tails of texture, marks and the peak of the map, and rarities.

    The centres of the tails are the medians of the three values, their widths those of the tails of the differences
    from good images that are alike. `shares` is how much each of the three counts in the score of an image.
    """

    tail: Tail
    rarities: Rarities
    shares: Shares

    def score(self, values: Floats, like: Floats) -> Floats:
        """Return the mean rarity of values, (…, 3 or more), given those of good images that are alike."""
        beyond = values[..., _IN_SCORE] - like[..., _IN_SCORE]
        return np.asarray(beyond / self.tail.width @ np.array(self.shares))

    def level(self, like: Floats) -> Floats:
        """Return the factor of a map: less than one if the maps of good images that are alike have high peaks."""
        return np.asarray((1 + self.tail.centre[_PEAK]) / (1 + like[..., _PEAK]))  # a nat more, for maps without peaks

    def map(self, texture: Comparison, marks: MarkComparison) -> Floats:
        """Return how rare each place is in good images, in nats, at the size of measurement."""
        return self.rarities.map((texture.log_ratio, marks.excess, marks.weighed))

    def values(self, texture: Comparison, marks: MarkComparison) -> Floats:
        """Return the values of an image."""
        return np.array([texture.score, marks.score, *self.rarities.peaks(self.map(texture, marks))])

    def calibrations(self, values: Floats, like: Floats, false_reject_rate: float) -> tuple[Calibration, Calibration]:
        """Return the calibrations of scores and of maps, given the values of good images."""
        scores, peaks = self.score(values, like), self.peaks(values, like)
        return calibrate(scores, false_reject_rate), Calibration(peaks, false_reject_rate)

    def peaks(self, values: Floats, like: Floats) -> Floats:
        """Return the largest values of what maps show, given the values of images."""
        return np.asarray(values[..., _SHOWN] * self.level(like))


@dataclass(frozen=True, eq=False, kw_only=True)
class LearntCombined(Learnt):
    """What was learnt from the good images of a surface; `values` are theirs, each judged by others."""

    shares: ClassVar[Shares] = (0.25, 0.25, 0.5)
    """How much texture, marks and the peak of the map count: the peak as much as the other two."""

    marking: Marking
    known: KnownMarks
    values: Floats
    both: Both

    def of_like(self, neighbours: Places) -> Floats:
        """Return the medians of the values of these good images, (…, images)."""
        return median_values(self.values, neighbours)

    def judge(self, image: Singles, resources: Resources) -> Judgement:
        """Return how an image compares with the good ones."""
        marks = self.known.compare(self.marking(image))
        texture = self.compare(image, resources)
        joint, like = self.both.map(texture, marks), self.of_like(texture.neighbours)
        score = self.both.score(np.array([texture.score, marks.score, joint.max()]), like)
        shown = self.both.rarities.shown(joint) * self.both.level(like)
        log_ratio = self.marking.spread(shown, self.image_shape).astype(np.float32)
        return Judgement(float(score), texture.nearest, log_ratio)

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what is known with more good images; marks and tails do not change."""
        library = self._kernels.grown(mapped(seen.features, self.coordinates))
        sums = library.mutual_sums(self.sums, resources)
        texture = library.left_out(sums, resources)
        marks = [self.known.compare(image) for image in seen.marks]
        new = [self.both.values(*pair) for pair in zip(texture[len(self.names) :], marks, strict=True)]
        grown = replace(self.with_images(seen), library=library, sums=sums, values=np.concatenate([self.values, new]))
        return grown._calibrated(texture, false_reject_rate)

    def fewer(self, count: int, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what was known with the first good images only; nothing else that was learnt depends on the others."""
        library = replace(self._kernels, patches=self.library.patches[:count])
        sums = self.sums[:count, :count]
        first = replace(self.with_first(count), library=library, sums=sums, values=self.values[:count])
        return first._calibrated(library.left_out(sums, resources), false_reject_rate)

    def _calibrated(self, texture: list[Comparison], false_reject_rate: float) -> "LearntCombined":
        """Return this with thresholds, given how the texture of each good image compares with others.

        Peaks of maps stay, so that nothing but the texture of good images need be kept.
        """
        values = np.column_stack([[each.score for each in texture], self.values[:, 1:]])
        like = median_values(values, np.stack([each.neighbours for each in texture]))
        scores, peaks = self.both.calibrations(values, like, false_reject_rate)
        return replace(self, values=values, scores=scores, peaks=peaks)


def median_values(values: Floats, neighbours: Places) -> Floats:
    """Return the medians of the values of some good images, (…, images)."""
    return np.asarray(np.median(values[neighbours], axis=-2))


def learn_combined(
    seen: Measured, features: FeatureSet, candidates: int, seed: int, false_reject_rate: float, resources: Resources
) -> LearntCombined:
    """Learn from good images: their texture and their marks, and how each compares with the others."""
    marking = marking_of(features) or Marking()
    coordinates = coordinates_of(seen, features, seed)
    library = make_library(mapped(seen.features, coordinates), candidates, seed, features.worst, True)
    sums = library.mutual_sums(resources=resources)
    shape = marking.shape(seen.shape)
    known, marks = learn_marks(seen.marks, seen.made_up, shape, seed)
    texture = library.left_out(sums, resources)
    both, values, like = fit_both(texture, marks, shape, marking, LearntCombined.shares)
    images = seen.shape, seen.names, seen.fingerprints, seen.thumbnails
    learnt = (features, *images, coordinates, library, sums, *both.calibrations(values, like, false_reject_rate))
    return LearntCombined(*learnt, marking=marking, known=known, values=values, both=both)


def fit_both(
    texture: list[Comparison], marks: list[MarkComparison], shape: tuple[int, ...], marking: Marking, shares: Shares
) -> tuple[Both, Floats, Floats]:
    """Return what good images have, the values of each, and the medians of those of the good images that it is like."""
    pairs = list(zip(texture, marks, strict=True))
    places = [(one.log_ratio, other.excess, other.weighed) for one, other in pairs]
    rarities = fit_rarities(places, shape, marking.patches)
    unscaled = Both(Tail(np.zeros(3), np.ones(3)), rarities, shares)
    values = np.array(run(lambda pair: unscaled.values(*pair), pairs))
    like = median_values(values, np.stack([each.neighbours for each in texture]))
    width = fit_tail((values - like)[:, _IN_SCORE]).width
    return replace(unscaled, tail=Tail(np.median(values[:, _IN_SCORE], axis=0), width)), values, like
