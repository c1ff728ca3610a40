"""Filters for single marks: spots, lines and edges of eight directions, and patches of other roughness or brightness.

Lines and edges are long and narrow, so that they add up what a crack or a scratch has along its length. Both signs
count: a dark line and a bright one are different marks.
"""

from functools import lru_cache

import numpy as np
import scipy.fft
from numpy.typing import NDArray
from scipy import ndimage

Singles = NDArray[np.float32]
Complexes = NDArray[np.complex64]

DIRECTIONS = 8
KINDS = 2 * (2 * DIRECTIONS + 3)
"""Number of filters: a spot, lines, edges, roughness and brightness, each of both signs."""
_SPOT = (1.2, 2.4)
"""Standard deviations, in pixels, of the centre of a spot and of its surround."""
_LINE, _EDGE = (1.1, 4.4), (1.4, 3.7)
"""Standard deviations, in pixels, across and along a line or an edge."""
DETAIL, AROUND = 2.0, 2.5
"""Standard deviations, in pixels, of what counts as brightness, and of the window in which roughness is measured."""
SMOOTH = 0.02
"""Added to roughness before its logarithm is taken: a fiftieth of the contrast of the whole image."""
MARGIN = 24
"""Pixels of mirrored margin on every side, so that filters do not see the opposite edge."""


def strengths(image: Singles) -> Singles:
    """Return how strongly each filter responds at every pixel, (filters, rows, columns)."""
    extended = np.pad(image, MARGIN, mode="symmetric")
    sides = tuple(scipy.fft.next_fast_len(side, real=True) for side in extended.shape)
    spectrum = scipy.fft.rfft2(extended, s=sides)
    filtered = scipy.fft.irfft2(spectrum * bank(sides), s=sides, overwrite_x=True)
    inner = filtered[:, MARGIN:, MARGIN:][:, : image.shape[0], : image.shape[1]]
    brightness = ndimage.gaussian_filter(image, DETAIL)
    rough = np.log(np.sqrt(ndimage.gaussian_filter((image - brightness) ** 2, AROUND)) + SMOOTH)
    signed = np.concatenate([inner, rough[None], brightness[None]]).astype(np.float32)
    return np.concatenate([signed, -signed])


@lru_cache(maxsize=16)
def bank(sides: tuple[int, ...]) -> Complexes:
    """Return the transfer functions of spot, lines and edges for a spectrum of this shape."""
    down = 2 * np.pi * scipy.fft.fftfreq(sides[0])[:, None]
    right = 2 * np.pi * scipy.fft.rfftfreq(sides[1])
    square = down**2 + right**2
    bank = [np.exp(-0.5 * square * _SPOT[0] ** 2) - np.exp(-0.5 * square * _SPOT[1] ** 2)]
    for turn in np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
        across = right * np.cos(turn) + down * np.sin(turn)
        along = down * np.cos(turn) - right * np.sin(turn)
        bank.append((across * _LINE[0]) ** 2 * _long(across, along, _LINE))
        bank.append(1j * across * _EDGE[0] * _long(across, along, _EDGE))
    return np.stack(bank).astype(np.complex64)


def _long(across: NDArray[np.float64], along: NDArray[np.float64], widths: tuple[float, float]) -> NDArray[np.float64]:
    return np.exp(-0.5 * ((across * widths[0]) ** 2 + (along * widths[1]) ** 2))
