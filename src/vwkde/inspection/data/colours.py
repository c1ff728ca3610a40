"""Colour images: brightness, and two differences of colours that are zero for gray."""

import numpy as np
from numpy.typing import NDArray

Singles = NDArray[np.float32]

PLANES = 3
"""Brightness, red against green, and blue against yellow."""
_WEIGHTS = (19595, 38470, 7471)
"""Of red, green and blue in brightness (ITU-R BT.601), in units of 2⁻¹⁶, as for image files that are read as gray."""
_WHITE = 255
_STRETCH = 2.0
"""How much differences of colours are enlarged: those of real surfaces are small."""


def brightness(image: NDArray[np.floating]) -> Singles:
    """Return the brightness of a colour image, (height, width, 3), in steps of 1/255; a gray image stays as it is."""
    if image.ndim == 2:
        return np.asarray(image)
    levels = np.rint(_WHITE * image).astype(np.int64) @ np.array(_WEIGHTS)
    return ((levels + 2**15) >> 16).astype(np.float32) / np.float32(_WHITE)


def planes_of(image: NDArray[np.floating]) -> list[Singles]:
    """Return the planes of a colour image, each gray with values from 0 to 1; a gray image is its only plane."""
    if image.ndim == 2:
        return [image]
    red, green, blue = (image[..., channel].astype(np.float32) for channel in range(3))
    differences = (red - green) / 2, (blue - (red + green) / 2) / 2
    stretched = (np.clip(0.5 + _STRETCH * each, 0, 1).astype(np.float32) for each in differences)
    return [brightness(image), *stretched]
