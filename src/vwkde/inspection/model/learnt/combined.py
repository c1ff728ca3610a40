"""What is known about a surface if texture and single marks are combined, with or without trained networks.

The map of an image shows the surroundings of each place as well, and is scaled by the peaks of the good images that it
is like. When images are added, what is known about marks stays, and so do the networks, the tails and the tables of
rarities.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import run
from vwkde._compute.resources import Resources
from vwkde.inspection.model.coordinates import Coordinates
from vwkde.inspection.model.features.combined import Marking
from vwkde.inspection.model.features.registry import FeatureSet, is_trained, marking_of
from vwkde.inspection.model.learnt.base import Judgement, Learnt, coordinates_of
from vwkde.inspection.model.learnt.joint import Compared, Joint, Shares, fit_joint, median_values
from vwkde.inspection.model.learnt.library import Comparison, make_library
from vwkde.inspection.model.marks.known import KnownMarks, MarkComparison, learn_marks
from vwkde.inspection.model.measuring import Measured, mapped
from vwkde.inspection.model.trained.networks import Networks
from vwkde.inspection.model.trained.training import train_networks

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class LearntCombined(Learnt):
    """What was learnt from the good images of a surface; `values` are theirs, each judged by others.

    `networks` are those that were trained on made-up defects, if the features have some.
    """

    known_tails: ClassVar[bool] = True
    shares: ClassVar[Shares] = (0.25, 0.5, 0.25)
    """How much texture, the highest values of the map and its peak count: the highest as much as the other two."""

    marking: Marking
    known: KnownMarks
    values: Floats
    joint: Joint
    networks: Networks | None = None

    @property
    def n_networks(self) -> int:
        """The number of trained networks."""
        return 0 if self.networks is None else len(self.networks)

    def of_like(self, neighbours: Places) -> Floats:
        """Return the medians of the values of these good images, (…, images)."""
        return median_values(self.values, neighbours)

    def judge(self, image: Singles, resources: Resources) -> Judgement:
        """Return how an image compares with the good ones."""
        marks = self.known.compare(self.marking(image))
        odds = None if self.networks is None else self.networks(self.marking.small(image))
        found = Compared(self.compare(image, resources), marks, odds)
        (joint, shown), like = self.joint.maps(found), self.of_like(found.texture.neighbours)
        score = self.joint.score(self.joint.counted(found, joint), like)
        log_ratio = self.marking.spread(shown * self.joint.level(like), self.image_shape).astype(np.float32)
        return Judgement(float(score), found.texture.nearest, log_ratio)

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> Learnt:
        """Return what is known with more good images; marks, networks and tails do not change."""
        library = self._kernels.grown(mapped(seen.features, self.coordinates))
        sums = library.mutual_sums(self.sums, resources)
        texture = library.left_out(sums, resources)
        new = [self.joint.values(image) for image in self.compared(texture[len(self.names) :], seen)]
        grown = replace(self.with_images(seen), library=library, sums=sums, values=np.concatenate([self.values, new]))
        return grown._calibrated(texture, false_reject_rate)

    def compared(self, texture: Sequence[Comparison], seen: Measured) -> list[Compared]:
        """Return how images that were not learnt compare with the good ones, given how their texture does."""
        marks = [self.known.compare(image) for image in seen.marks]
        odds = [None] * len(marks) if self.networks is None else run(self.networks, seen.small)
        return [Compared(*parts) for parts in zip(texture, marks, odds, strict=True)]

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
        scores, peaks = self.joint.calibrations(values, like, false_reject_rate)
        return replace(self, values=values, scores=scores, peaks=peaks)


def learn_combined(
    seen: Measured, features: FeatureSet, candidates: int, seed: int, false_reject_rate: float, resources: Resources
) -> LearntCombined:
    """Learn from good images: their texture and their marks, and how each compares with the others."""
    marking = marking_of(features) or Marking()
    coordinates = coordinates_of(seen, features, seed)
    library = make_library(mapped(seen.features, coordinates), candidates, seed, features.worst, True)
    sums = library.mutual_sums(resources=resources)
    shape = marking.shape(seen.shape)
    known, marks, of_drawings = learn_marks(seen.marks, seen.made_up, shape, seed, seen.drawn_marks)
    texture = library.left_out(sums, resources)
    networks, odds = _trained(seen, features, seed, resources.device)
    good = [Compared(*parts) for parts in zip(texture, marks, odds, strict=True)]

    def judged(patches: Singles, number: int) -> Comparison:
        return library.against(patches, texture[number].neighbours, resources)

    drawings = compared_drawings(seen, coordinates, of_drawings, judged)
    joint, values, like = fit_joint(good, shape, marking, LearntCombined.shares, drawings)
    images = seen.shape, seen.names, seen.fingerprints, seen.thumbnails
    learnt = (features, *images, coordinates, library, sums, *joint.calibrations(values, like, false_reject_rate))
    return LearntCombined(*learnt, marking=marking, known=known, values=values, joint=joint, networks=networks)


def compared_drawings(
    seen: Measured,
    coordinates: Coordinates,
    marks: Mapping[int, MarkComparison],
    judged: Callable[[Singles, int], Comparison],
) -> list[tuple[Compared, list[Mask]]]:
    """Return how images with made-up defects compare with the good ones, and where these defects are.

    `marks` is how their marks do, by the numbers of the images, and `judged` compares the patches of such an image with
    those of the other good images, given its number.
    """
    return [
        (Compared(judged(coordinates(drawing.features), number), marks[number]), drawing.where)
        for number, drawing in seen.drawings.items()
    ]


def _trained(
    seen: Measured, features: FeatureSet, seed: int, device: str
) -> tuple[Networks | None, Sequence[Singles | None]]:
    """Return trained networks and the log odds of each good image by those that have not seen it, if asked for."""
    return train_networks(seen.small, seed, device) if is_trained(features) else (None, [None] * len(seen.names))
