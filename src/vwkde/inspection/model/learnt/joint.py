"""How texture, single marks and, if there are any, trained networks become one score and one map.

An image has a score for its texture, the mean of the highest values of the joint map, and the peak of this map.
Surfaces differ in how high these are in good images. So each is compared with the medians of those of the few good
images that the image is most like, and the tails of the differences in good images make them comparable: each says how
rare it would be in a good image, in nats. The highest values count most: the map is high where all differ at the same
place, and a defect has many such places, while chance has few.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import run
from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.features.combined import Marking
from vwkde.inspection.model.learnt.library import Comparison
from vwkde.inspection.model.learnt.outlining import patches_outline
from vwkde.inspection.model.learnt.rarity import Evidence, Rarities, fit_rarities, mean_of_highest
from vwkde.inspection.model.marks.known import MarkComparison
from vwkde.inspection.model.tails import Tail, fit_tail

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Shares = tuple[float, ...]
"""How much texture, the highest values of the map, and its peak count in the score of an image."""


@dataclass(frozen=True, eq=False)
class Compared:
    """How an image compares with good ones: its texture, its marks and, with trained networks, their log odds."""

    texture: Comparison
    marks: MarkComparison
    odds: Singles | None = None

    @property
    def evidence(self) -> Evidence:
        """What is known about the places of the image."""
        both = self.texture.log_ratio, self.marks.excess, self.marks.weighed
        return both if self.odds is None else (*both, self.odds)


@dataclass(frozen=True, eq=False)
class Joint:
    """What good images have: tails of what counts in a score, and rarities.

    The centres of the tails are the medians of these values, their widths those of the tails of the differences from
    good images that are alike. `shares` is how much each of them counts in the score of an image.

    The values of an image are the score of its texture, the mean of the highest values of its map, the peak of the map,
    and the peak of what is shown of it.
    """

    tail: Tail
    rarities: Rarities
    shares: Shares

    def score(self, values: Floats, like: Floats) -> Floats:
        """Return the mean rarity of values, without the last or not, given those of good images that are alike."""
        counted = len(self.shares)
        return np.asarray((values[..., :counted] - like[..., :counted]) / self.tail.width @ np.array(self.shares))

    def level(self, like: Floats) -> Floats:
        """Return the factor of a map: less than one if the maps of good images that are alike have high peaks."""
        return np.asarray((1 + self.tail.centre[-1]) / (1 + like[..., -2]))  # a nat more, for maps without peaks

    def maps(self, image: Compared) -> tuple[Floats, Floats]:
        """Return how rare each place is in good images, in nats, at the size of measurement, and what is shown."""
        return self.rarities.maps(image.evidence)

    def values(self, image: Compared) -> Floats:
        """Return the values of an image."""
        joint, shown = self.maps(image)
        return np.array([*self.counted(image, joint), shown.max()])

    def counted(self, image: Compared, joint: Floats) -> Floats:
        """Return the values of an image that count in its score, given its map."""
        return np.array([image.texture.score, mean_of_highest(joint), joint.max()])

    def calibrations(self, values: Floats, like: Floats, false_reject_rate: float) -> tuple[Calibration, Calibration]:
        """Return the calibrations of scores and of maps, given the values of good images."""
        scores, peaks = self.score(values, like), self.peaks(values, like)
        return calibrate(scores, false_reject_rate), Calibration(peaks, false_reject_rate)

    def peaks(self, values: Floats, like: Floats) -> Floats:
        """Return the largest values of what maps show, given the values of images."""
        return np.asarray(values[..., -1] * self.level(like))


def median_values(values: Floats, neighbours: Places) -> Floats:
    """Return the medians of the values of some good images, (…, images)."""
    return np.asarray(np.median(values[neighbours], axis=-2))


def fit_joint(
    good: Sequence[Compared],
    shape: tuple[int, ...],
    marking: Marking,
    shares: Shares,
    drawings: Sequence[tuple[Compared, Sequence[Mask]]] = (),
) -> tuple[Joint, Floats, Floats]:
    """Return what good images have, the values of each, and the medians of those of the good images that it is like.

    `drawings` are images with made-up defects, and where these are; they say whether patches are shown.
    """
    rarities = fit_rarities([image.evidence for image in good], shape, marking.patches)
    outlines = patches_outline(rarities, [(image.evidence, where) for image, where in drawings])
    rarities = replace(rarities, patches_shown=outlines)
    unscaled = Joint(Tail(np.zeros(len(shares)), np.ones(len(shares))), rarities, shares)
    values = np.array(run(unscaled.values, good))
    like = median_values(values, np.stack([image.texture.neighbours for image in good]))
    width = fit_tail((values - like)[:, :-1]).width
    return replace(unscaled, tail=Tail(np.median(values[:, :-1], axis=0), width)), values, like
