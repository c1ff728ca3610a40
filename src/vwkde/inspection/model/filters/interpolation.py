"""Values on a coarse grid at the pixels of an image, and an image at another size."""

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.extras import require

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Shape = tuple[int, int]


def interpolation(side: int, count: int, step: float, first: float) -> Floats:
    """Return the weights of grid points at pixels along a side, (pixels, points).

    Values are linear between points, which are `step` pixels apart, and constant outside them. The first point is
    `first` steps from the edge.
    """
    place = np.clip((np.arange(side) + 0.5) / step - first, 0, count - 1)
    return np.maximum(1 - np.abs(place[:, None] - np.arange(count)), 0)


def enlarged(values: NDArray[np.floating], shape: tuple[int, ...]) -> Floats:
    """Return values of cells that fill an image, (…, rows, columns), at its pixels or at finer cells."""
    if values.shape[-2:] == shape:
        return values.astype(np.float64)
    high, wide = shape[-2:]
    return _between_cells(_between_cells(values, high, -2), wide, -1)


def _between_cells(values: NDArray[np.floating], side: int, axis: int) -> Floats:
    """Return values of cells that fill a side at its pixels: linear between their centres, constant beyond them."""
    count = values.shape[axis]
    place = np.clip((np.arange(side) + 0.5) * count / side - 0.5, 0, count - 1)
    low = np.minimum(place.astype(np.intp), max(count - 2, 0))
    share = (place - low).reshape(-1, 1) if axis == -2 else place - low
    lower, upper = np.take(values, low, axis), np.take(values, np.minimum(low + 1, count - 1), axis)
    return np.asarray(lower + share * (upper - lower), dtype=np.float64)


def working_shape(image_shape: tuple[int, ...], most: int) -> Shape:
    """Return the shape at which an image is measured: its own, or a smaller one with at most `most` pixels."""
    share = min(1.0, (most / (image_shape[0] * image_shape[1])) ** 0.5)
    high, wide = (max(1, int(share * side)) for side in image_shape)
    return high, wide


def shrunk(image: Singles, shape: Shape) -> Singles:
    """Return an image at a smaller size, each pixel the mean of those that it replaces."""
    return _scaled(image, shape, "BOX")


def scaled(image: Singles, shape: Shape) -> Singles:
    """Return an image at another size, linear between pixels; where it becomes smaller, pixels are averaged."""
    return _scaled(image, shape, "BILINEAR")


def _scaled(image: Singles, shape: Shape, way: str) -> Singles:
    if image.shape == shape:
        return image
    pillow = require("PIL.Image", "Images of this size need Pillow", "inspect")
    picture = pillow.fromarray(np.ascontiguousarray(image, dtype=np.float32))
    return np.asarray(picture.resize(shape[::-1], pillow.Resampling[way]))
