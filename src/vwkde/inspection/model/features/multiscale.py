"""The features named `multiscale`: brightness, roughness and grain of patches, on an image and on smaller copies.

In each patch of each copy, the log of the mean amplitude of waves as a function of their direction becomes a Fourier
series, cut after the second harmonic, for six wavelengths from an eighth of a patch to three quarters of it. The
distance of the largest amplitude from the mean distinguishes a single streak from an even grain. In addition there are
the mean gray value, and the mean, largest and smallest log of the local deviation.

A patch is two by two cells, so cells are measured once for all patches that cover them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.filters.bands import EVERY, ORIENTATIONS, amplitudes
from vwkde.inspection.model.filters.pyramid import PYRAMID, Pyramid, halved

Singles = NDArray[np.float32]

OCTAVES = 3
"""Number of copies, each of half the size of the one before, whose waves describe a patch."""
HARMONICS = 2
DIM, SMOOTH = 1e-4, 2e-3
"""Added to amplitudes and to deviations before their logarithm is taken; half a gray level of 256 is 2e-3."""
WINDOW = 1.0
"""Standard deviation, in pixels, of the window of local deviation."""


@dataclass(frozen=True)
class MultiScale:
    """Gray value, oriented grain at six wavelengths and local roughness, on several copies of an image."""

    components: int | None = 16
    worst: int | None = 5
    scaled: bool = True
    grid: Pyramid = PYRAMID

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, (patches of all copies, 1, 41); the last is the copy's number."""
        halvings = self.grid.halvings(image.shape)
        copies = _copies(self.grid.extended(image.astype(np.float32)), halvings)
        waves = [amplitudes(copy) for copy in copies]
        parts = []
        for scale in range(len(halvings)):
            grain = [part for octave in range(OCTAVES) for part in _grain(waves[scale + octave], self._side(octave))]
            features = np.stack([*grain, *_roughness(copies[scale], self.grid.step)], axis=-1)
            number = np.full((*features.shape[:2], 1), scale, dtype=np.float32)
            parts.append(np.concatenate([features, number], axis=-1).reshape(-1, 1, features.shape[-1] + 1))
        return np.concatenate(parts).astype(np.float32)

    def _side(self, octave: int) -> int:
        """Return the side of a cell in the amplitudes of a copy that was halved this many times more."""
        return self.grid.step // EVERY >> octave


def _copies(image: Singles, halvings: range) -> list[Singles]:
    """Return the copies that have patches, and those that only add longer waves."""
    copies = [image]
    for _ in range(halvings[-1] + OCTAVES - 1):
        copies.append(halved(copies[-1]))
    return copies[halvings[0] :]


def _grain(waves: Singles, side: int) -> list[Singles]:
    """Return strength, direction and peak of every wavelength of one copy, each (rows, columns) of patches."""
    level = np.log(_means(waves, side) + DIM)
    peak = np.log(_maxima(waves, side) + DIM) - level
    grain: list[Singles] = []
    for first in range(0, len(level), ORIENTATIONS):
        series = np.fft.rfft(level[first : first + ORIENTATIONS], axis=0)[: HARMONICS + 1] / ORIENTATIONS
        one = peak[first : first + ORIENTATIONS].mean(axis=0)
        grain += [series[0].real, *series[1:].real, *series[1:].imag, one]
    return grain


def _roughness(copy: Singles, side: int) -> list[Singles]:
    """Return the mean gray value, and the mean, largest and smallest log of the local deviation."""
    mean, square = (ndimage.gaussian_filter(values, WINDOW) for values in (copy, copy**2))
    rough = np.log(np.sqrt(np.maximum(square - mean**2, 0)) + SMOOTH)
    return [_means(copy, side), _means(rough, side), _maxima(rough, side), -_maxima(-rough, side)]


def _means(values: Singles, side: int) -> Singles:
    """Return the means over patches of two by two cells of the last two axes."""
    cells = _cells(values, side).mean(axis=-3).mean(axis=-1)  # whole rows first, which are fast
    return np.asarray((cells[..., 1:, 1:] + cells[..., 1:, :-1] + cells[..., :-1, 1:] + cells[..., :-1, :-1]) / 4)


def _maxima(values: Singles, side: int) -> Singles:
    """Return the maxima over patches of two by two cells of the last two axes."""
    cells = _cells(values, side).max(axis=-3).max(axis=-1)
    rows = np.maximum(cells[..., 1:, :], cells[..., :-1, :])
    return np.asarray(np.maximum(rows[..., 1:], rows[..., :-1]))


def _cells(values: Singles, side: int) -> Singles:
    """Return square cells of the last two axes, (…, rows, side, columns, side)."""
    rows, columns = (length // side for length in values.shape[-2:])
    return values.reshape(*values.shape[:-2], rows, side, columns, side)
