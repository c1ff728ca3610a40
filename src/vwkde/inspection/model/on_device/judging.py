"""A fitted model on a torch device, which judges batches of images."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.devices import send
from vwkde.inspection.model.filters.pyramid import PYRAMID
from vwkde.inspection.model.learnt.base import Judgement, Learnt, pixel_map
from vwkde.inspection.model.learnt.combined import LearntCombined
from vwkde.inspection.model.learnt.library import Comparison, Library
from vwkde.inspection.model.learnt.rarity import (
    AROUND_CUT,
    COUNTS,
    FIRST_SPARED,
    POWER,
    RAISED,
    SPARED,
    around_width,
    bends,
    highest,
    places_of,
    strong,
)
from vwkde.inspection.model.marks.strengths import MARKS
from vwkde.inspection.model.on_device.comparing import Compared, CoordinatesOnDevice, LibraryOnDevice
from vwkde.inspection.model.on_device.filters import enlarged, interpolated, smoothed
from vwkde.inspection.model.on_device.marks import MarksOnDevice, largest_copy, spread_marks
from vwkde.inspection.model.on_device.measuring import OnDevice, batch_size, on_device

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]


class CombinedOnDevice:
    """A model with the features named `combined` or `trained`, on a torch device."""

    def __init__(self, learnt: LearntCombined, images: OnDevice) -> None:
        device = images.device
        self._learnt, self._images = learnt, images
        self._coordinates = CoordinatesOnDevice(learnt.coordinates, device)
        self._library = _library_of(learnt, device)
        self._marks = MarksOnDevice(learnt.known, device)

    @property
    def batch(self) -> int:
        """The number of images to judge at a time."""
        return batch_size(self._learnt.image_shape)

    def __call__(self, images: Sequence[Singles]) -> list[Judgement]:
        """Return how images compare with the good ones, as `LearntCombined.judge` does for each."""
        import torch

        with torch.no_grad():
            return self._judged(self._images.sent(images))

    def _judged(self, images: "Tensor") -> list[Judgement]:
        import torch

        compared = [self._library.compare(each) for each in self._coordinates(self._images.patches(images))]
        log_ratio = torch.stack([each.log_ratio for each in compared])
        joint, shown = self._maps(
            (log_ratio, *self._marks.compare(images), *self._odds(images)), tuple(images.shape[1:])
        )
        texture, places = torch.stack([each.score for each in compared]), joint.flatten(start_dim=1)
        of_highest = places.topk(highest(places.shape[1]), dim=1).values.mean(dim=1)
        values = torch.stack([texture, of_highest, places.amax(dim=1)], dim=1)
        neighbours = torch.stack([each.neighbours for each in compared]).cpu().numpy()
        like, known = self._learnt.of_like(neighbours), self._learnt.joint
        found = known.score(values.cpu().numpy(), like)
        part = self._images.part
        levelled = shown * send(known.level(like), self._images.device)[:, None, None]
        maps = enlarged(levelled, self._learnt.image_shape if part is None else part.shape())
        return [
            Judgement(float(score), int(nearest), self._placed(values))
            for score, nearest, values in zip(found, neighbours[:, 0], maps.float().cpu().numpy(), strict=True)
        ]

    def _odds(self, images: "Tensor") -> list["Tensor"]:
        """Return the log odds of trained networks, (images, cells), if there are some."""
        if self._learnt.networks is None:
            return []
        seen = largest_copy(images).double()  # a GPU may round single precision to ten bits
        return [self._learnt.networks.mean_odds(seen).flatten(start_dim=1)]

    def _maps(self, evidence: tuple["Tensor", ...], shape: tuple[int, ...]) -> tuple["Tensor", "Tensor"]:
        """Return the maps of the inspected part, as `Rarities.maps` does, at the size at which it is measured."""
        known = self._learnt.joint.rarities
        tables = known.parts()
        places = places_of(shape, on_largest=len(evidence) - 2)
        patches, cells, *largest = (
            _counted(values.double(), of_part, of_copies) ** POWER
            for values, of_part, of_copies in zip(evidence, places, tables, strict=True)
        )
        grid = MARKS.grids(shape)[0]
        on_largest = [enlarged(powers.reshape(-1, *grid), shape) for powers in largest]
        spread = [_spread_patches(patches, shape), spread_marks(cells, shape), *on_largest]
        parts = [powers.sqrt().sqrt() for powers in spread]
        joint = _averaged(parts)
        return joint, _with_surroundings(joint) if known.patches_shown else _averaged(parts, 1)

    def _placed(self, values: Singles) -> Singles:
        part = self._images.part
        return values if part is None else part.placed(values.astype(np.float64)).astype(np.float32)


def _averaged(parts: Sequence["Tensor"], first: int = 0) -> "Tensor":
    """Return the mean of rarities, as `rarity.averaged` does."""
    import torch

    counts = COUNTS[first : len(parts)]
    counted = [count * part for count, part in zip(counts, parts[first:], strict=True)]
    return torch.stack(counted).sum(dim=0) / sum(counts)


def _with_surroundings(maps: "Tensor") -> "Tensor":
    """Return maps, (images, rows, columns), as `rarity.with_surroundings` does for each."""
    shape = tuple(maps.shape[1:])
    some = maps[:, SPARED // 2 :: SPARED, SPARED // 2 :: SPARED].square()
    around = smoothed(some, around_width(shape), truncate=AROUND_CUT)
    return maps.maximum(RAISED * interpolated(around, shape, [float(SPARED)] * 2, FIRST_SPARED).sqrt())


def _counted(values: "Tensor", places: Sequence[slice], tables: Floats) -> "Tensor":
    """Return the rarity of values, (images, places), as `rarity.counted` does for each copy."""
    import torch

    parts = []
    for copy, (place, table) in enumerate(zip(places, tables, strict=True)):
        here = values[:, place]
        steps = zip(table.tolist(), bends(table).tolist(), strict=True)
        rarity = sum((bend * (here - entry).clamp(min=0) for entry, bend in steps), torch.zeros_like(here))
        parts.append(strong(copy) * (rarity.clamp(min=0) / strong(copy)).asinh())
    return torch.cat(parts, dim=1)


def _spread_patches(values: "Tensor", shape: tuple[int, ...]) -> "Tensor":
    """Return maps of pixels, as `Pyramid.spread` does, for values at patches, (images, patches)."""
    import torch

    grids = PYRAMID.grids(shape)
    parts = torch.split(values, [rows * columns for rows, columns in grids], dim=1)
    maps = [
        interpolated(part.reshape(-1, *grid), shape, [float(PYRAMID.step << k)] * 2, 1.0)
        for k, grid, part in zip(PYRAMID.halvings(shape), grids, parts, strict=True)
    ]
    return torch.stack(maps).mean(dim=0)


class TextureOnDevice:
    """A model with the features named `texture`, on a torch device; the CPU spreads patches to maps."""

    def __init__(self, learnt: Learnt, images: OnDevice) -> None:
        self._learnt, self._images = learnt, images
        self._coordinates = CoordinatesOnDevice(learnt.coordinates, images.device)
        self._library = _library_of(learnt, images.device)

    @property
    def batch(self) -> int:
        """The number of images to judge at a time."""
        return batch_size(self._learnt.image_shape)

    def __call__(self, images: Sequence[Singles]) -> list[Judgement]:
        """Return how images compare with the good ones, as `Learnt.judge` does for each."""
        import torch

        with torch.no_grad():
            patches = self._coordinates(self._images.patches(self._images.sent(images)))
            return [self._judgement(self._library.compare(each)) for each in patches]

    def _judgement(self, compared: Compared) -> Judgement:
        log_ratio = compared.log_ratio.cpu().numpy()
        found = Comparison(float(compared.score), compared.neighbours.cpu().numpy(), log_ratio)
        spread = pixel_map(found, self._learnt.features, self._learnt.image_shape)
        return Judgement(found.score, found.nearest, spread)


def _library_of(learnt: Learnt, device: str) -> LibraryOnDevice:
    library = learnt.library
    if not isinstance(library, Library) or library.worst is None:
        raise TypeError("the library of such a model has kernels and counts the worst patches")
    return LibraryOnDevice(library, library.worst, device)


@lru_cache(maxsize=2)
def judge_on_device(learnt: Learnt, device: str | None) -> CombinedOnDevice | TextureOnDevice | None:
    """Return the model on a device other than the CPU; None if all or part of it is computed on the CPU."""
    images = None if learnt.coloured else on_device(learnt.features, device)
    if images is None:
        return None
    return CombinedOnDevice(learnt, images) if isinstance(learnt, LearntCombined) else TextureOnDevice(learnt, images)
