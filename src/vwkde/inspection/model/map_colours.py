"""The colours of a map of log ratios, on one scale for all images."""

import numpy as np
from numpy.typing import NDArray

WARM = np.array([[255, 237, 111], [240, 59, 32], [128, 0, 38]], dtype=np.float64)
"""Colours from the threshold of the map to twice the threshold and above."""
_TINY = float(np.finfo(np.float32).tiny)


def map_colours(log_ratio: NDArray[np.float32], threshold: float) -> NDArray[np.uint8]:
    """Return a map in colour, shape (height, width, 4): opaque where it exceeds its threshold, clear elsewhere.

    The scale is the same for all images, so a good image stays clear instead of showing its own largest value.
    """
    excess = log_ratio.astype(np.float64) / max(threshold, _TINY) - 1  # single precision might overflow
    level = np.clip(excess, 0, 1)
    colours = [np.interp(level, [0, 0.5, 1], WARM[:, channel]) for channel in range(3)]
    return np.rint(np.stack([*colours, 255 * (excess > 0)], axis=-1)).astype(np.uint8)
