"""Single marks on a batch of images on a torch device, and how they compare with those of good images."""

from functools import lru_cache
from typing import TYPE_CHECKING

import scipy.fft

from vwkde._compute.devices import send
from vwkde.inspection.model.marks.filters import AROUND, DETAIL, MARGIN, SMOOTH, bank
from vwkde.inspection.model.marks.known import KnownMarks
from vwkde.inspection.model.marks.strengths import (
    CELL,
    EVEN,
    LEAST_USUAL,
    MARKS,
    SURROUNDINGS,
    SURROUNDINGS_CUT,
    every,
    ranks,
)
from vwkde.inspection.model.on_device.filters import enlarged, halved, made_smaller, mirrored, smoothed
from vwkde.inspection.model.on_device.weighing import WeighingOnDevice

if TYPE_CHECKING:
    from torch import Tensor


def marks_of(images: "Tensor") -> "Tensor":
    """Return how strong each kind of mark is in every cell of every copy, (images, kinds, cells)."""
    import torch

    copy, cells = largest_copy(images), []
    for number in range(len(MARKS.shapes(tuple(images.shape[1:])))):
        copy = halved(copy) if number else copy
        strongest = torch.nn.functional.max_pool2d(_strengths(copy), CELL, ceil_mode=True)
        cells.append(_unusual(strongest.flatten(start_dim=2)))
    return torch.cat(cells, dim=2)


def _unusual(cells: "Tensor") -> "Tensor":
    """Return how far marks, (images, kinds, cells), are above the middle, in units of what is usual in the image."""
    some = cells[..., :: every(cells.shape[2])].sort(dim=2).values
    middle, upper = (some[..., rank, None] for rank in ranks(some.shape[2]))
    return (cells - middle) / (upper - middle).clamp(min=LEAST_USUAL)


def largest_copy(images: "Tensor") -> "Tensor":
    """Return the largest copies of images, evened: without slow changes of brightness, divided by their contrast."""
    images = made_smaller(images, MARKS.shapes(tuple(images.shape[1:]))[0])
    detail = images - smoothed(images, SURROUNDINGS, "mirror", SURROUNDINGS_CUT)
    return detail / ((detail**2).mean(dim=(1, 2), keepdim=True).sqrt() + EVEN)


def _strengths(images: "Tensor") -> "Tensor":
    """Return how strongly each filter responds at every pixel, (images, filters, rows, columns)."""
    import torch

    high, wide = images.shape[1:]
    extended = mirrored(images, ((MARGIN, MARGIN), (MARGIN, MARGIN)))
    sides = tuple(scipy.fft.next_fast_len(side, real=True) for side in extended.shape[1:])
    spectrum = torch.fft.rfft2(extended, s=sides)
    filtered = torch.fft.irfft2(spectrum[:, None] * _filters(sides, str(images.device)), s=sides)
    inner = filtered[..., MARGIN : MARGIN + high, MARGIN : MARGIN + wide]
    brightness = smoothed(images, DETAIL)
    rough = (smoothed((images - brightness) ** 2, AROUND).sqrt() + SMOOTH).log()
    signed = torch.cat([inner, rough[:, None], brightness[:, None]], dim=1)
    return torch.cat([signed, -signed], dim=1)


@lru_cache(maxsize=16)
def _filters(sides: tuple[int, ...], device: str) -> "Tensor":
    return send(bank(sides), device)


class MarksOnDevice:
    """What is known about the marks of good images, on a torch device."""

    def __init__(self, known: KnownMarks, device: str) -> None:
        self._shape = known.image_shape
        self._mean, self._spread = send(known.mean, device), send(known.spread, device)
        self._centre, self._width = send(known.tail.centre, device), send(known.tail.width, device)
        self._weighing = WeighingOnDevice(known.weighing, known.image_shape, device)

    def compare(self, images: "Tensor") -> tuple["Tensor", "Tensor"]:
        """Return the strongest excess and the weighed marks of images, as `KnownMarks.compare` does."""
        import torch

        standardised = (marks_of(images) - self._mean) / self._spread
        excess = []
        for number, cells in enumerate(MARKS.cells(self._shape)):
            rarity = (standardised[:, :, cells] - self._centre[number][:, None]) / self._width[number][:, None]
            excess.append(rarity.amax(dim=1).float())
        return torch.cat(excess, dim=1), self._weighing(standardised)


def spread_marks(values: "Tensor", shape: tuple[int, ...]) -> "Tensor":
    """Return maps of pixels, as `Marks.spread` does, for values at cells, (images, cells)."""
    import torch

    places = zip(MARKS.cells(shape), MARKS.grids(shape), strict=True)
    return torch.stack([enlarged(values[:, cells].reshape(-1, *grid), shape) for cells, grid in places]).mean(dim=0)
