"""The features named `multiscale`, of a batch of images on a torch device."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import scipy.fft

from vwkde._compute.devices import send
from vwkde.inspection.model.features.multiscale import DIM, HARMONICS, OCTAVES, SMOOTH, WINDOW
from vwkde.inspection.model.filters.bands import EVERY, MARGIN, ORIENTATIONS, bank
from vwkde.inspection.model.filters.pyramid import PYRAMID
from vwkde.inspection.model.on_device.filters import halved, mirrored, smoothed

if TYPE_CHECKING:
    from torch import Tensor


def patches_of(images: "Tensor") -> "Tensor":
    """Return the features of every patch of images, (images, rows, columns), as (images, patches, 41)."""
    import torch

    high, wide = images.shape[1:]
    halvings, (padded_high, padded_wide) = PYRAMID.halvings((high, wide)), PYRAMID.padded((high, wide))
    copies = [mirrored(images, ((0, padded_high - high), (0, padded_wide - wide)))]
    for _ in range(halvings[-1] + OCTAVES - 1):
        copies.append(halved(copies[-1]))
    copies = copies[halvings[0] :]
    waves = [_amplitudes(copy) for copy in copies]
    parts = []
    for scale in range(len(halvings)):
        grain = [
            part for octave in range(OCTAVES) for part in _grain(waves[scale + octave], PYRAMID.step // EVERY >> octave)
        ]
        features = torch.stack([*grain, *_roughness(copies[scale], PYRAMID.step)], dim=-1)
        number = torch.full((*features.shape[:3], 1), float(scale), dtype=torch.float32, device=images.device)
        parts.append(torch.cat([features, number], dim=-1).reshape(len(images), -1, features.shape[-1] + 1))
    return torch.cat(parts, dim=1)


def _amplitudes(images: "Tensor") -> "Tensor":
    """Return the amplitude of every wavelength and orientation at every second pixel, (images, filters, …)."""
    import torch

    extended = mirrored(images, ((MARGIN, MARGIN), (MARGIN, MARGIN)))
    sides = tuple(EVERY * scipy.fft.next_fast_len(-(-side // EVERY)) for side in extended.shape[1:])
    spectrum = torch.fft.fft2(extended, s=sides)
    down, across, response = _filters(sides, str(images.device))
    bands = spectrum[:, down[:, :, None], across[:, None, :]] * response
    first = MARGIN // EVERY
    rows, columns = (slice(first, first + -(-side // EVERY)) for side in images.shape[1:])
    return torch.fft.ifft2(bands)[..., rows, columns].abs()


@lru_cache(maxsize=16)
def _filters(sides: tuple[int, ...], device: str) -> tuple["Tensor", "Tensor", "Tensor"]:
    """Return the rows and the columns of a spectrum that each filter keeps, and its values there."""
    down, across, response = zip(*bank(sides), strict=True)
    return send(np.stack(down), device), send(np.stack(across), device), send(np.stack(response), device)


def _grain(waves: "Tensor", side: int) -> list["Tensor"]:
    """Return strength, direction and peak of every wavelength of one copy, each (images, rows, columns)."""
    import torch

    level = (_means(waves, side) + DIM).log()
    peak = (_maxima(waves, side) + DIM).log() - level
    grain: list[Tensor] = []
    for first in range(0, level.shape[1], ORIENTATIONS):
        series = torch.fft.rfft(level[:, first : first + ORIENTATIONS], dim=1)[:, : HARMONICS + 1] / ORIENTATIONS
        one = peak[:, first : first + ORIENTATIONS].mean(dim=1)
        turned = series[:, 1:].unbind(dim=1)
        grain += [series[:, 0].real, *(each.real for each in turned), *(each.imag for each in turned), one]
    return grain


def _roughness(copy: "Tensor", side: int) -> list["Tensor"]:
    """Return the mean gray value, and the mean, largest and smallest log of the local deviation."""
    mean, square = (smoothed(values, WINDOW) for values in (copy, copy**2))
    rough = ((square - mean**2).clamp(min=0).sqrt() + SMOOTH).log()
    return [_means(copy, side), _means(rough, side), _maxima(rough, side), -_maxima(-rough, side)]


def _means(values: "Tensor", side: int) -> "Tensor":
    """Return the means over patches of two by two cells of the last two axes."""
    cells = _cells(values, side).mean(dim=(-3, -1))
    return (cells[..., 1:, 1:] + cells[..., 1:, :-1] + cells[..., :-1, 1:] + cells[..., :-1, :-1]) / 4


def _maxima(values: "Tensor", side: int) -> "Tensor":
    """Return the maxima over patches of two by two cells of the last two axes."""
    cells = _cells(values, side).amax(dim=(-3, -1))
    rows = cells[..., 1:, :].maximum(cells[..., :-1, :])
    return rows[..., 1:].maximum(rows[..., :-1])


def _cells(values: "Tensor", side: int) -> "Tensor":
    """Return square cells of the last two axes, (…, rows, side, columns, side)."""
    rows, columns = (length // side for length in values.shape[-2:])
    return values.reshape(*values.shape[:-2], rows, side, columns, side)
