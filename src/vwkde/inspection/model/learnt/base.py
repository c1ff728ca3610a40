"""What is known about a surface after fitting good images, and how it is learnt."""

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, cast

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.resources import Resources
from vwkde.inspection.model.calibration import Calibration, calibrate
from vwkde.inspection.model.coordinates import Coordinates, fit_coordinates, fit_scaled_coordinates
from vwkde.inspection.model.features.registry import FeatureSet
from vwkde.inspection.model.frames import Frame
from vwkde.inspection.model.history import Change, Making
from vwkde.inspection.model.learnt.library import Comparison, Library, make_library
from vwkde.inspection.model.learnt.nearest import NearestPatches
from vwkde.inspection.model.measuring import Measured, mapped, rows_of

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class Judgement:
    """An image against the good ones: its score in nats, the nearest good image, and the map of its pixels."""

    score: float
    nearest: int
    log_ratio: Singles


@dataclass(frozen=True, eq=False)
class Learnt:
    """What was learnt from the good images of a surface.

    `names`, `fingerprints` (None where an old model file has none) and `thumbnails` have one entry per good image.
    `sums` are the mean log kernel sums between all pairs, kept so that images can be added. `scores` calibrates the
    scores of images, `peaks` the largest values of their maps. `changes` are those since the fit, `made` is about this.
    `own_frame` is where images are compared, if not as they are.
    """

    coloured: ClassVar[bool] = False
    """Whether images are judged with their colours."""
    known_tails: ClassVar[bool] = False
    """Whether a score says how rare an image would be among good ones, so that a far too large one is told."""

    features: FeatureSet
    image_shape: tuple[int, ...]
    names: list[str]
    fingerprints: list[str | None]
    thumbnails: NDArray[np.uint8]
    coordinates: Coordinates
    library: Library | NearestPatches
    sums: Floats
    scores: Calibration
    peaks: Calibration
    changes: tuple[Change, ...] = ()
    made: Making = field(default_factory=Making)
    own_frame: Frame | None = None

    @property
    def unlike(self) -> list[int]:
        """The numbers of the good images that are unlike the others, as far as scores tell."""
        return self.scores.unlike if self.known_tails else []

    @property
    def n_networks(self) -> int:
        """The number of trained networks."""
        return 0

    @property
    def frame(self) -> Frame:
        """The frame to which images are brought before they are judged."""
        return self.own_frame or Frame((self.image_shape[0], self.image_shape[1]))

    def judge(self, image: Singles, resources: Resources) -> Judgement:
        """Return how an image compares with the good ones."""
        compared = self.compare(image, resources)
        return Judgement(compared.score, compared.nearest, pixel_map(compared, self.features, self.image_shape))

    def compare(self, image: Singles, resources: Resources) -> Comparison:
        """Return how the patches of an image compare with those of the good ones."""
        return self.library.compare(self.coordinates(rows_of(self.features(image))), resources)

    def more(self, seen: Measured, false_reject_rate: float, resources: Resources) -> "Learnt":
        """Return what is known with more good images; coordinates and bandwidths do not change."""
        library = self._kernels.grown(mapped(seen.features, self.coordinates))
        sums = library.mutual_sums(self.sums, resources)
        images = self.features, self.image_shape
        scores, peaks = _calibrations(library, sums, *images, false_reject_rate, resources)
        return replace(self.with_images(seen), library=library, sums=sums, scores=scores, peaks=peaks)

    def fewer(self, count: int, false_reject_rate: float, resources: Resources) -> "Learnt":
        """Return what was known with the first good images only; nothing else that was learnt depends on the others."""
        library = replace(self._kernels, patches=self.library.patches[:count])
        sums = self.sums[:count, :count]
        images = self.features, self.image_shape
        scores, peaks = _calibrations(library, sums, *images, false_reject_rate, resources)
        return replace(self.with_first(count), library=library, sums=sums, scores=scores, peaks=peaks)

    @property
    def _kernels(self) -> Library:
        return cast(Library, self.library)

    def with_images(self, seen: Measured) -> Self:
        """Return this with the names, fingerprints and thumbnails of more good images, but with no other change."""
        return replace(
            self,
            names=[*self.names, *seen.names],
            fingerprints=[*self.fingerprints, *seen.fingerprints],
            thumbnails=np.concatenate([self.thumbnails, seen.thumbnails]),
        )

    def with_first(self, count: int) -> Self:
        """Return this with the names, fingerprints and thumbnails of the first good images only."""
        return replace(
            self,
            names=self.names[:count],
            fingerprints=self.fingerprints[:count],
            thumbnails=self.thumbnails[:count],
        )


def learn(
    seen: Measured, features: FeatureSet, candidates: int, seed: int, false_reject_rate: float, resources: Resources
) -> Learnt:
    """Learn from good images: the coordinates of their patches, and the score of each against the others."""
    coordinates = coordinates_of(seen, features, seed)
    library = make_library(mapped(seen.features, coordinates), candidates, seed, features.worst)
    sums = library.mutual_sums(resources=resources)
    calibrations = _calibrations(library, sums, features, seen.shape, false_reject_rate, resources)
    images = seen.shape, seen.names, seen.fingerprints, seen.thumbnails
    return Learnt(features, *images, coordinates, library, sums, *calibrations)


def coordinates_of(seen: Measured, features: FeatureSet, seed: int) -> Coordinates:
    """Return the coordinates in which patches with these features are compared."""
    if features.scaled and features.components:
        return fit_scaled_coordinates(seen.features, features.components, seed)
    return fit_coordinates(seen.features, features.components)


def pixel_map(compared: Comparison, features: FeatureSet, image_shape: tuple[int, ...]) -> Singles:
    """Return the log ratios of an image's patches, spread to its pixels."""
    return features.grid.spread(compared.log_ratio, image_shape).astype(np.float32)


def _calibrations(
    library: Library,
    sums: Floats,
    features: FeatureSet,
    image_shape: tuple[int, ...],
    false_reject_rate: float,
    resources: Resources,
) -> tuple[Calibration, Calibration]:
    """Return the calibrations of scores and of maps, from each image of a library against the others."""
    compared = library.left_out(sums, resources)
    scores = np.array([each.score for each in compared])
    peaks = np.array([pixel_map(each, features, image_shape).max() for each in compared], dtype=np.float64)
    return calibrate(scores, false_reject_rate), Calibration(peaks, false_reject_rate)
