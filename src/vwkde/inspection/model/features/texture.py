"""The features named `texture`: brightness, roughness and grain of each patch, at several scales and directions.

An image passes through log-Gabor filters of five wavelengths and six orientations. In each patch, the log of the mean
amplitude as a function of the orientation becomes a Fourier series, cut after the second harmonic: the first term is
the strength of the grain at that wavelength, the others its direction and how directed it is. The distance of the
largest amplitude from the mean distinguishes a single streak from an even grain. In addition there are the mean gray
value and, at two small scales, the mean, spread, skewness, minimum and maximum of the log of the local deviation.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.features.patches import WHOLE_GRID, PatchGrid

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_WAVELENGTHS = (4.0, 6.0, 9.0, 14.0, 24.0)
"""In pixels."""
ORIENTATIONS = 6
HARMONICS = 2
_BANDWIDTH = 0.65
"""Ratio of the frequency at one standard deviation to the centre frequency of a filter."""
_ANGLE = np.pi / ORIENTATIONS / 1.2
"""Standard deviation of a filter's angle."""
MARGIN = 32
"""Pixels of mirrored margin on every side, so that filters do not see the opposite edge."""
DIM, SMOOTH = 1e-4, 2e-3
"""Added to amplitudes and to deviations before their logarithm is taken; half a gray level of 256 is 2e-3."""
SCALES = (1.0, 2.0)
"""Standard deviations, in pixels, of the windows of local deviation."""
EVEN = 1e-2
"""Added to the spread of the log deviation before its logarithm is taken."""


@dataclass(frozen=True)
class Texture:
    """Gray value, oriented grain at five wavelengths, and local roughness; the 24 largest principal components."""

    components: int | None = 24
    worst: int | None = 5
    scaled: bool = False
    grid: PatchGrid = WHOLE_GRID

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, of shape (rows, columns, 41)."""
        self.grid.shape(image.shape)
        image = image.astype(np.float32)
        parts = [self.grid.means(image), *_grain(image, self.grid), *_roughness(image, self.grid)]
        return np.stack(parts, axis=-1).astype(np.float32)


def _grain(image: Singles, grid: PatchGrid) -> list[Floats]:
    """Return strength, direction and peak of every wavelength."""
    extended = np.pad(image, MARGIN, mode="symmetric")
    sides = [scipy.fft.next_fast_len(side) for side in extended.shape]
    spectrum = scipy.fft.fft2(extended.astype(np.complex64), s=sides)
    grain: list[Floats] = []
    for radial, angular in bank(tuple(sides)):
        band = spectrum * radial
        levels, peaks = [], []
        for angle in angular:
            filtered = scipy.fft.ifft2(band * angle)[MARGIN:, MARGIN:][: image.shape[0], : image.shape[1]]
            amplitude = np.abs(filtered)
            level = np.log(grid.means(amplitude) + DIM)
            levels.append(level)
            peaks.append(np.log(grid.maxima(amplitude) + DIM) - level)
        series = np.fft.rfft(levels, axis=0)[: HARMONICS + 1] / ORIENTATIONS
        grain += [series[0].real, *series[1:].real, *series[1:].imag, np.mean(peaks, axis=0)]
    return grain


def _roughness(image: Singles, grid: PatchGrid) -> list[Floats]:
    """Return how the log of the local deviation is distributed."""
    roughness: list[Floats] = []
    for scale in SCALES:
        mean, square = (ndimage.gaussian_filter(values, scale) for values in (image, image**2))
        rough = np.log(np.sqrt(np.maximum(square - mean**2, 0)) + SMOOTH)
        middle, spread, skewness, _ = grid.moments(rough.astype(np.float64))
        roughness += [middle, np.log(spread + EVEN), skewness, -grid.maxima(-rough), grid.maxima(rough)]
    return roughness


@lru_cache(maxsize=2)
def bank(sides: tuple[int, ...]) -> list[tuple[Singles, list[Singles]]]:
    """Return the filters for an image of this size: for every wavelength the radial part and its orientations."""
    down, across = np.meshgrid(*(scipy.fft.fftfreq(side) for side in sides), indexing="ij")
    frequency, angle = np.hypot(down, across), np.arctan2(down, across)
    frequency[0, 0] = np.inf
    turns = [np.angle(np.exp(1j * (angle - np.pi * k / ORIENTATIONS))) for k in range(ORIENTATIONS)]
    angular = [(2 * np.exp(-0.5 * (turn / _ANGLE) ** 2)).astype(np.float32) for turn in turns]
    radial = [np.exp(-0.5 * (np.log(frequency * length) / np.log(_BANDWIDTH)) ** 2) for length in _WAVELENGTHS]
    return [(part.astype(np.float32), angular) for part in radial]
