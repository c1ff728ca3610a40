"""The features named `texture`, of a batch of images on a torch device."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from vwkde._compute.devices import send
from vwkde.inspection.model.features.patches import FLAT, PatchGrid
from vwkde.inspection.model.features.texture import DIM, EVEN, HARMONICS, MARGIN, ORIENTATIONS, SCALES, SMOOTH, bank
from vwkde.inspection.model.on_device.filters import mirrored, smoothed

if TYPE_CHECKING:
    from torch import Tensor


def texture_of(images: "Tensor", grid: PatchGrid) -> "Tensor":
    """Return the features of every patch of images, (images, rows, columns), as (images, patches, 41)."""
    import torch

    windows = _Windows(grid, (images.shape[1], images.shape[2]), str(images.device))
    parts = [windows.means(images), *_grain(images, windows), *_roughness(images, windows)]
    return torch.stack([part.float() for part in parts], dim=-1).flatten(start_dim=1, end_dim=2)


def _grain(images: "Tensor", windows: "_Windows") -> list["Tensor"]:
    """Return strength, direction and peak of every wavelength, each (images, rows, columns)."""
    import torch

    high, wide = images.shape[1:]
    extended = mirrored(images, ((MARGIN, MARGIN), (MARGIN, MARGIN)))
    sides = tuple(scipy.fft.next_fast_len(side) for side in extended.shape[1:])
    spectrum = torch.fft.fft2(extended, s=sides)
    grain: list[Tensor] = []
    for radial, angular in _filters(sides, str(images.device)):
        levels, peaks = [], []
        for angle in angular:
            filtered = torch.fft.ifft2(spectrum * radial * angle)
            amplitude = filtered[:, MARGIN : MARGIN + high, MARGIN : MARGIN + wide].abs()
            levels.append((windows.means(amplitude) + DIM).log())
            peaks.append((windows.maxima(amplitude) + DIM).log() - levels[-1])
        series = torch.fft.rfft(torch.stack(levels), dim=0)[: HARMONICS + 1] / ORIENTATIONS
        grain += [series[0].real, *series[1:].real, *series[1:].imag, torch.stack(peaks).mean(dim=0)]
    return grain


def _roughness(images: "Tensor", windows: "_Windows") -> list["Tensor"]:
    """Return how the log of the local deviation is distributed."""
    roughness: list[Tensor] = []
    for scale in SCALES:
        mean, square = (smoothed(values, scale) for values in (images, images**2))
        rough = ((square - mean**2).clamp(min=0).sqrt() + SMOOTH).log()
        middle, spread, skewness = windows.moments(rough.double())
        roughness += [middle, (spread + EVEN).log(), skewness, -windows.maxima(-rough), windows.maxima(rough)]
    return roughness


@lru_cache(maxsize=2)
def _filters(sides: tuple[int, ...], device: str) -> list[tuple["Tensor", list["Tensor"]]]:
    return [(send(radial, device), [send(each, device) for each in angular]) for radial, angular in bank(sides)]


class _Windows:
    """The patches of images of one shape, on a torch device."""

    def __init__(self, grid: PatchGrid, shape: tuple[int, int], device: str) -> None:
        starts = [grid.starts(side) for side in shape]
        self._area = grid.size**2
        self._rows, self._columns = (
            send(_padded(grid.covers(each), side), device) for each, side in zip(starts, shape, strict=True)
        )
        self._inside = [send(each[:, None] + np.arange(grid.size), device) for each in starts]

    def means(self, values: "Tensor") -> "Tensor":
        """Return the means over patches."""
        return self._rows @ values.double() @ self._columns.T / self._area

    def maxima(self, values: "Tensor") -> "Tensor":
        """Return the largest values in patches."""
        rows, columns = self._inside
        return values[:, rows].amax(dim=2)[:, :, columns].amax(dim=3).double()

    def moments(self, values: "Tensor") -> tuple["Tensor", "Tensor", "Tensor"]:
        """Return mean, standard deviation and skewness over patches."""
        centre = values.mean(dim=(1, 2), keepdim=True)
        first, second, third = (self.means((values - centre) ** power) for power in (1, 2, 3))
        deviation = (second - first**2).clamp(min=0).sqrt()
        flat = deviation <= FLAT
        skew = (third - 3 * first * second + 2 * first**3) / deviation.masked_fill(flat, 1.0) ** 3
        return first + centre, deviation, skew.masked_fill(flat, 0.0)


def _padded(covers: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """Return which pixels of a whole side patches cover."""
    return np.pad(covers, [(0, 0), (0, side - covers.shape[1])])
