"""The frame in which images are compared: one size and, for parts that lie a little elsewhere each time, one place."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import scipy.fft
from numpy.typing import NDArray

from vwkde._runtime.lazy import lazy
from vwkde.inspection.data.arrays import check_shape
from vwkde.inspection.data.colours import brightness
from vwkde.inspection.data.errors import refuse
from vwkde.inspection.model.filters.interpolation import enlarged, scaled, working_shape

Singles = NDArray[np.float32]
Shape = tuple[int, int]

LEAST_SIDE = 32
"""Minimum length of a side of an image, in pixels."""
_MOST = 2**16
"""Maximum number of pixels at which shifts are measured."""
_FARTHEST = 0.1
"""Largest shift, as a share of a side."""
_WAVES = 0.25
"""Frequencies above this, in cycles per pixel, do not count: they are mostly noise."""
_CLEAR = 8.0
"""A shift counts if the match there is this many standard deviations of all: textures match anywhere, by chance."""
_FEW = 10
"""Number of good images whose mean is the reference for shifts."""


@dataclass(frozen=True)
class Framing:
    """What is asked of a frame: a size, None for that of the images; whether images are shifted; and their colours."""

    size: Shape | None = None
    align: bool = False
    colour: bool = False

    @property
    def needed(self) -> int:
        """The number of images from which the frame is made."""
        return _FEW if self.align else 1

    def made_from(self, images: Sequence[Singles]) -> "Frame":
        """Return the frame, given the first good images; without any, one of no size."""
        shape = self.size or (images[0].shape if images else (0, 0))
        plain = Frame((int(shape[0]), int(shape[1])), self.size is not None, colour=self.colour)
        if not self.align or not images:
            return plain
        small = [plain.small(plain.sized(image)) for image in images if plain.takes(image.shape)]
        first = replace(plain, reference=small[0])
        placed = [_moved(each, first.small_shift(each)) for each in small]
        return replace(plain, reference=np.mean(placed, axis=0, dtype=np.float32))


AS_THEY_ARE = Framing()
"""Images have one shape, and stay where they are."""


@dataclass(frozen=True, eq=False)
class Framed:
    """An image in the frame, its shape before, and by how many rows and columns it was moved."""

    image: Singles
    shape: tuple[int, ...]
    shift: Shape = (0, 0)


@dataclass(frozen=True, eq=False)
class Frame:
    """The shape of the images that are compared; with `any_size`, images are scaled to it, otherwise they must have it.

    `reference` is a small mean of good images, to whose place others are moved; None leaves them where they are. With
    `colour`, images have three colours, (height, width, 3).
    """

    shape: Shape
    any_size: bool = False
    reference: Singles | None = None
    colour: bool = False

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Return whether images of a shape can be used."""
        return min(shape[:2]) >= LEAST_SIDE if self.any_size else shape[:2] == self.shape

    def bring(self, image: Singles, name: str) -> Framed:
        """Return an image in the frame; one that cannot be used is an error with its name."""
        if not self.any_size:
            check_shape(image, self.shape, name)
        elif not self.takes(image.shape):
            high, wide = image.shape[:2]
            refuse(name, f"the image has {wide}×{high} pixels, and each side needs at least {LEAST_SIDE}.")
        inside = self.sized(image)
        if self.reference is None:
            return Framed(inside, image.shape[:2])
        shift = self._shift(inside)
        return Framed(_moved(inside, shift), image.shape[:2], shift)

    def take_back(self, values: Singles, framed: Framed) -> Singles:
        """Return a map in the frame as one of the image from which it was made."""
        if framed.shift != (0, 0):
            down, right = framed.shift
            values = _moved(values, (-down, -right))
        return values if values.shape == framed.shape else enlarged(values, framed.shape).astype(np.float32)

    def sized(self, image: Singles) -> Singles:
        """Return an image at the size of the frame."""
        if not self.any_size or image.shape[:2] == self.shape:
            return image
        if image.ndim == 2:
            return scaled(image, self.shape)
        return np.stack([scaled(image[..., channel], self.shape) for channel in range(3)], axis=-1)

    def small(self, image: Singles) -> Singles:
        """Return an image at the size at which shifts are measured."""
        return scaled(brightness(image), working_shape(self.shape, _MOST)).astype(np.float32, copy=False)

    def _shift(self, image: Singles) -> Shape:
        small = self.small(image)
        down, right = self.small_shift(small)
        high, wide = (whole / part for whole, part in zip(self.shape, small.shape, strict=True))
        return round(down * high), round(right * wide)

    def small_shift(self, small: Singles) -> tuple[float, float]:
        """Return by how many rows and columns to move a small image, so that it matches the reference."""
        cross = _spectrum(small).conj() * self._reference_spectrum
        match = scipy.fft.irfft2(cross / np.maximum(np.abs(cross), 1e-12) * _low_pass(small.shape), s=small.shape)
        rows, columns = (np.arange(-reach, reach + 1) for reach in _near(small.shape))
        window = match[np.ix_(rows, columns)]
        row, column = np.unravel_index(window.argmax(), window.shape)
        if window[row, column] < _CLEAR * match.std():
            return 0.0, 0.0
        down, right = _peak(window[:, column], int(row)), _peak(window[row], int(column))
        return float(rows[row]) + down, float(columns[column]) + right

    @lazy
    def _reference_spectrum(self) -> Any:
        return _spectrum(np.asarray(self.reference))


def read_frame(shape: Sequence[int], any_size: Any, colour: Any, reference: NDArray[Any] | None) -> Frame:
    """Return the frame of a model file; parts that do not fit together are a ValueError."""
    frame = Frame((shape[0], shape[1]), any_size, reference, colour)
    if not isinstance(any_size, bool) or not isinstance(colour, bool):
        raise ValueError("any_size and colour must be true or false")
    if reference is not None:
        wanted = working_shape(frame.shape, _MOST)
        is_image = reference.dtype == np.float32 and reference.shape == wanted
        if not is_image or not (reference.min() >= -1 and reference.max() <= 2):
            raise ValueError(f"reference must be an image of shape {wanted}")
    return frame


def _spectrum(image: Singles) -> Any:
    """Return the spectrum of an image that fades out towards its edges, where parts come and go."""
    fade = np.outer(*(np.hanning(side + 2)[1:-1] for side in image.shape))
    return scipy.fft.rfft2((image - image.mean()) * fade)


@cache
def _low_pass(shape: Shape) -> NDArray[np.float64]:
    down, right = scipy.fft.fftfreq(shape[0])[:, None], scipy.fft.rfftfreq(shape[1])
    return np.exp(-0.5 * (down**2 + right**2) / (_WAVES / 2) ** 2)


def _near(shape: Shape) -> Shape:
    """Return how far a shift is looked for in each direction, in pixels."""
    high, wide = (max(1, min(int(_FARTHEST * side), (side - 1) // 2)) for side in shape)
    return high, wide


def _peak(values: NDArray[np.floating], place: int) -> float:
    """Return how far the top of a parabola through three values is from the middle one; 0 at the ends."""
    if not 0 < place < len(values) - 1:
        return 0.0
    before, at, after = (float(value) for value in values[place - 1 : place + 2])
    bend = before - 2 * at + after
    return 0.5 * (before - after) / bend if bend < 0 else 0.0


def _moved(values: Singles, shift: tuple[float, float]) -> Singles:
    """Return an image moved down and right by whole pixels; edge pixels are repeated where nothing comes from."""
    down, right = (
        np.clip(np.arange(side) - round(by), 0, side - 1) for side, by in zip(values.shape[:2], shift, strict=True)
    )
    return values[np.ix_(down, right)]
