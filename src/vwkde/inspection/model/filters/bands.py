"""How strong the waves of two lengths and six directions are around every pixel of an image.

The spectrum of the image passes through log-Gabor filters. A filter keeps less than half of the frequencies in each
direction, so the part around its centre is transformed back alone. That gives the amplitude at every second pixel for
a quarter of the work.
"""

from functools import lru_cache

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from vwkde._compute.parallel import run

Singles = NDArray[np.float32]

WAVELENGTHS = (4.0, 6.0)
"""In pixels. The image of half the size adds 8 and 12, the next 16 and 24."""
ORIENTATIONS = 6
EVERY = 2
"""Amplitudes are returned at every second pixel."""
_BANDWIDTH = 0.65
"""Ratio of the frequency at one standard deviation to the centre frequency of a filter."""
_ANGLE = np.pi / ORIENTATIONS / 1.2
"""Standard deviation of a filter's angle."""
MARGIN = 16
"""Pixels of mirrored margin on every side, so that filters do not see the opposite edge."""


def amplitudes(image: Singles) -> Singles:
    """Return the amplitude of every wavelength and orientation at every second pixel, (filters, rows, columns)."""
    extended = np.pad(image, MARGIN, mode="symmetric")
    sides = tuple(EVERY * scipy.fft.next_fast_len(-(-side // EVERY)) for side in extended.shape)
    spectrum = scipy.fft.fft2(extended.astype(np.complex64), s=sides)
    first = MARGIN // EVERY
    rows, columns = (slice(first, first + -(-side // EVERY)) for side in image.shape)

    def amplitude(part: tuple[NDArray[np.intp], NDArray[np.intp], Singles]) -> Singles:
        down, across, response = part
        band = spectrum[down[:, None], across] * response
        return np.abs(scipy.fft.ifft2(band, overwrite_x=True)[rows, columns])

    return np.stack(run(amplitude, bank(sides)))


@lru_cache(maxsize=8)
def bank(sides: tuple[int, ...]) -> list[tuple[NDArray[np.intp], NDArray[np.intp], Singles]]:
    """Return each filter for a spectrum of this shape: the rows and columns around its centre, and its values there."""
    return [
        _filter(sides, wavelength, np.pi * turn / ORIENTATIONS)
        for wavelength in WAVELENGTHS
        for turn in range(ORIENTATIONS)
    ]


def _filter(
    sides: tuple[int, ...], wavelength: float, direction: float
) -> tuple[NDArray[np.intp], NDArray[np.intp], Singles]:
    centres = np.sin(direction) / wavelength, np.cos(direction) / wavelength
    down, across = (_around(centre, side) for centre, side in zip(centres, sides, strict=True))
    fy, fx = (scipy.fft.fftfreq(side)[chosen] for side, chosen in zip(sides, (down, across), strict=True))
    frequency, angle = np.hypot(fy[:, None], fx), np.arctan2(fy[:, None], fx)
    frequency[frequency == 0] = np.inf
    radial = np.exp(-0.5 * (np.log(frequency * wavelength) / np.log(_BANDWIDTH)) ** 2)
    turn = np.angle(np.exp(1j * (angle - direction)))
    response = 2 * radial * np.exp(-0.5 * (turn / _ANGLE) ** 2) / EVERY**2  # a shorter transform divides by less
    return down, across, response.astype(np.float32)


def _around(centre: float, side: int) -> NDArray[np.intp]:
    """Return the places of the half of all frequencies around one."""
    count = side // EVERY
    return (round(centre * side) - count // 2 + np.arange(count)) % side
