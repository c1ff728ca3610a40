"""The part of an image that is inspected, if not all of it is.

What lies outside is cut off where possible. Inside the remaining box, an ignored pixel takes the value of the nearest
inspected one. So nothing that happens in the ignored part can change a score, whatever the features.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde._runtime.lazy import lazy
from vwkde.inspection.data.arrays import refuse_shape
from vwkde.inspection.model.features.combined import Marking
from vwkde.inspection.model.features.patches import Grid
from vwkde.inspection.model.features.registry import FeatureSet, by_neighbours, is_trained, marking_of
from vwkde.inspection.model.marks.made_up import MadeUpMarks
from vwkde.inspection.model.regions import Box, box_about

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class InspectedPart:
    """The inspected pixels of images of one shape, as a mask of this shape."""

    mask: Mask

    @lazy
    def box(self) -> Box:
        """The smallest box around the inspected pixels."""
        return box_about(self.mask)

    @lazy
    def _sources(self) -> NDArray[np.intp]:
        """For each pixel of the box, the row and the column of the nearest inspected one."""
        missing = ~self.cut(self.mask)
        return np.asarray(ndimage.distance_transform_edt(missing, return_distances=False, return_indices=True))

    def cut(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the values in the box."""
        box = self.box
        return values[box.top : box.bottom, box.left : box.right]

    def filled(self, image: Singles) -> Singles:
        """Return the image in the box, with its ignored pixels replaced."""
        if image.shape != self.mask.shape:
            refuse_shape(self.mask.shape, image.shape, "The mask of what is ignored", "the images")
        rows, columns = self._sources
        return self.cut(image)[rows, columns]

    def shape(self) -> tuple[int, int]:
        """Return the shape of the box."""
        return self.box.bottom - self.box.top, self.box.right - self.box.left

    def placed(self, values: Floats) -> Floats:
        """Return a map of the box as one of the image; ignored pixels have the lowest inspected value."""
        inside = self.cut(self.mask)
        whole = np.full(self.mask.shape, values[inside].min())
        self.cut(whole)[inside] = values[inside]
        return whole


@dataclass(frozen=True)
class GridOfPart:
    """The patches of the inspected part."""

    grid: Grid
    part: InspectedPart

    def shape(self, image_shape: tuple[int, ...]) -> tuple[int, int]:
        """Return the number of patches in each direction."""
        if image_shape != self.part.mask.shape:
            raise ValueError(f"The mask of what is ignored has shape {self.part.mask.shape}, the images {image_shape}.")
        return self.grid.shape(self.part.shape())

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of all pixels of the image."""
        self.shape(image_shape)
        return self.part.placed(self.grid.spread(values, self.part.shape()))


@dataclass(frozen=True)
class MarkingOfPart(Marking):
    """Where and how single marks of the inspected part are measured."""

    marking: Marking
    part: InspectedPart

    def __call__(self, image: Singles) -> Singles:
        """Return how strong each kind of mark is in every cell of the part, (kinds, cells)."""
        return self.marking(self.part.filled(image))

    def made_up(self, image: Singles, number: int) -> MadeUpMarks:
        """Return the marks of some made-up defects in the part."""
        return self.marking.made_up(self.part.filled(image), number)

    def drawn(self, image: Singles, number: int) -> tuple[Singles, list[Mask]]:
        """Return the part with made-up defects, and where in it each of them is."""
        return self.marking.drawn(self.part.filled(image), number)

    def small(self, image: Singles) -> Singles:
        """Return the part at the size of the largest copy of marks."""
        return self.marking.small(self.part.filled(image))

    def shape(self, image_shape: tuple[int, ...]) -> tuple[int, int]:
        """Return the shape at which the part is measured."""
        del image_shape
        return self.marking.shape(self.part.shape())

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of the shape at which the part was measured, as one of the image's pixels."""
        del image_shape
        return self.part.placed(self.marking.spread(values, self.part.shape()))


@dataclass(frozen=True)
class FeaturesOfPart:
    """Features of the inspected part of an image."""

    features: FeatureSet
    part: InspectedPart

    @property
    def grid(self) -> Grid:
        """Where the patches are."""
        return GridOfPart(self.features.grid, self.part)

    @property
    def components(self) -> int | None:
        """As for the whole image."""
        return self.features.components

    @property
    def worst(self) -> int | None:
        """As for the whole image."""
        return self.features.worst

    @property
    def scaled(self) -> bool:
        """As for the whole image."""
        return self.features.scaled

    @property
    def by_neighbours(self) -> bool:
        """As for the whole image."""
        return by_neighbours(self.features)

    @property
    def trained(self) -> bool:
        """As for the whole image."""
        return is_trained(self.features)

    @property
    def marking(self) -> Marking | None:
        """As for the whole image, but of the part."""
        marking = marking_of(self.features)
        return None if marking is None else MarkingOfPart(marking, self.part, patches=marking.patches)

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch of the part, (rows, columns, features)."""
        return self.features(self.part.filled(image))


def ignoring(features: FeatureSet, ignored: Any) -> FeatureSet:
    """Return features that see nothing of the ignored pixels; None ignores nothing."""
    if ignored is None:
        return features
    mask = np.asarray(ignored)
    if mask.dtype != bool or mask.ndim != 2:
        raise ValueError(
            "The 'ignore' parameter must be an array of True and False, of the shape of the images. "
            f"Got {mask.dtype} of shape {mask.shape} instead; for gray values, use for example mask > 0."
        )
    if mask.all():
        raise ValueError("The 'ignore' parameter must leave pixels to inspect. Got True everywhere instead.")
    return FeaturesOfPart(features, InspectedPart(~mask)) if mask.any() else features
