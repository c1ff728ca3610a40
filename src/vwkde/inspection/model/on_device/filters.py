"""Filters of batches of images, (…, rows, columns), on a torch device: those of SciPy, Pillow and NumPy on the CPU."""

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde._compute.devices import send
from vwkde.inspection.model.filters.interpolation import interpolation, shrunk
from vwkde.inspection.model.filters.pyramid import BLUR, TRUNCATE

if TYPE_CHECKING:
    from torch import Tensor

_KEPT = 64
"""Number of matrices that stay on the device."""


def smoothed(values: "Tensor", width: float, mode: str = "reflect", truncate: float = 4.0) -> "Tensor":
    """Return images smoothed by a Gaussian, as `ndimage.gaussian_filter` does."""
    return _filtered(
        values, *(_smoothing(side, width, mode, truncate, 1, str(values.device)) for side in _sides(values))
    )


def halved(values: "Tensor") -> "Tensor":
    """Return images of half the size, as `pyramid.halved` does."""
    return _filtered(
        values, *(_smoothing(side, BLUR, "mirror", TRUNCATE, 2, str(values.device)) for side in _sides(values))
    )


def made_smaller(values: "Tensor", shape: tuple[int, int]) -> "Tensor":
    """Return images at a smaller size, as `interpolation.shrunk` does."""
    if _sides(values) == shape:
        return values
    pairs = zip(_sides(values), shape, strict=True)
    return _filtered(values, *(_shrinking(side, new, str(values.device)) for side, new in pairs))


def enlarged(values: "Tensor", shape: tuple[int, ...]) -> "Tensor":
    """Return values of cells that fill an image at its pixels, as `interpolation.enlarged` does."""
    if _sides(values) == shape:
        return values.double()
    return interpolated(values, shape, [side / count for side, count in zip(shape, _sides(values), strict=True)], 0.5)


def interpolated(values: "Tensor", shape: tuple[int, ...], steps: list[float], first: float) -> "Tensor":
    """Return values at points, `steps` pixels apart in each direction, at all pixels."""
    rows, columns = (
        _interpolation(side, count, step, first, str(values.device))
        for side, count, step in zip(shape, _sides(values), steps, strict=True)
    )
    return rows @ values.double() @ columns.T


def mirrored(values: "Tensor", margins: tuple[tuple[int, int], tuple[int, int]]) -> "Tensor":
    """Return images extended by margins in which they are mirrored, edge pixels too."""
    rows, columns = (
        send(np.pad(np.arange(side), margin, mode="symmetric"), str(values.device))
        for side, margin in zip(_sides(values), margins, strict=True)
    )
    return values[..., rows[:, None], columns]


def _filtered(values: "Tensor", rows: "Tensor", columns: "Tensor") -> "Tensor":
    """Return images times a matrix along each axis; both products are rounded to single precision."""
    return ((rows @ values.double()).float().double() @ columns.T).float()


def _sides(values: "Tensor") -> tuple[int, ...]:
    return tuple(values.shape[-2:])


@lru_cache(maxsize=_KEPT)
def _smoothing(side: int, width: float, mode: str, truncate: float, every: int, device: str) -> "Tensor":
    kernels = ndimage.gaussian_filter1d(np.eye(side), width, axis=0, mode=mode, truncate=truncate)
    return _sent(kernels[::every], device)


@lru_cache(maxsize=_KEPT)
def _shrinking(side: int, new: int, device: str) -> "Tensor":
    return _sent(shrunk(np.eye(side, dtype=np.float32), (new, side)), device)


@lru_cache(maxsize=_KEPT)
def _interpolation(side: int, count: int, step: float, first: float, device: str) -> "Tensor":
    return _sent(interpolation(side, count, step, first), device)


def _sent(matrix: NDArray[np.floating], device: str) -> "Tensor":
    return send(np.ascontiguousarray(matrix, dtype=np.float64), device)
