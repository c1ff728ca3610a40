"""Where the patches of a network's middle layer are, and how values at them become a map of the pixels."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.filters.interpolation import enlarged

Floats = NDArray[np.float64]
Shape = tuple[int, int]

STEP = 8
"""Distance of neighbouring patches in the image that a network sees, in pixels."""
_UNIT = 32
"""Sides of this image are multiples of this, so that layers of most networks divide them evenly."""
_SMOOTHING = 0.5
"""Standard deviation of the Gaussian that smooths a map, in steps of the grid: it blurs no more than the layers do."""


@dataclass(frozen=True)
class LayerGrid:
    """Patches `STEP` pixels apart on a copy of the image, scaled to the size that a network sees.

    Parameters
    ----------
    fixed : tuple of int, default=None
        The only shape that the network takes; None for any.
    least, most : int
        Minimum length of the shorter side and maximum number of pixels of the copy; other images are scaled.
    """

    fixed: Shape | None = None
    least: int = 128
    most: int = 512 * 512

    @property
    def surroundings(self) -> bool:
        """Whether a map shows the surroundings of each place, too: layers are averages already."""
        return False

    def seen(self, image_shape: tuple[int, ...]) -> Shape:
        """Return the shape of the copy of an image that the network sees.

        Raises
        ------
        ValueError
            If the shape is not that of a gray image of at least 32 × 32 pixels.
        """
        if len(image_shape) != 2 or min(image_shape) < _UNIT:
            raise ValueError(f"An image must be gray and at least 32 × 32 pixels. Got shape {image_shape} instead.")
        if self.fixed is not None:
            return self.fixed
        height, width = image_shape
        scale = max(1.0, self.least / min(image_shape))
        scale = min(scale, np.sqrt(self.most / (height * width)))
        rows, columns = (max(_UNIT, round(scale * side / _UNIT) * _UNIT) for side in image_shape)
        return rows, columns

    def shape(self, image_shape: tuple[int, ...]) -> Shape:
        """Return the number of rows and of columns of patches."""
        height, width = self.seen(image_shape)
        return -(-height // STEP), -(-width // STEP)

    def places(self, image_shape: tuple[int, ...]) -> list[slice]:
        """Return where the patches of the only copy are among all patches: everywhere."""
        rows, columns = self.shape(image_shape)
        return [slice(0, rows * columns)]

    def spread(self, values: Floats, image_shape: tuple[int, ...]) -> Floats:
        """Return a map of pixels: smoothed, then linear between the centres of patches."""
        smooth = ndimage.gaussian_filter(values.reshape(self.shape(image_shape)), _SMOOTHING, mode="nearest")
        return enlarged(smooth, image_shape)
