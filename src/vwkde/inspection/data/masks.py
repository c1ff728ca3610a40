"""Where an image is defective according to its data set: masks in image files, or ellipses in a file of labels."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.images import read_image

_LOSSY_SUFFIXES = (".jpg", ".jpeg")
"""Suffixes of files in which black may not be exactly black."""


class MaskError(ImageError):
    """A mask cannot be used. The message is one line."""


class MaskSource(Protocol):
    """Where the mask of an image comes from."""

    def draw(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Return the mask of an image of this (height, width), true where it is defective."""
        ...


@dataclass(frozen=True)
class MaskFile:
    """A mask in an image file: pixels that are not black are defective (in a JPEG, pixels nearer to white)."""

    path: Path

    def draw(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Return the mask, which must have the shape of the image."""
        mask = self.read()
        if mask.shape != tuple(shape):
            size, wanted = (f"{width}×{height}" for height, width in (mask.shape, shape))
            raise MaskError(f"{self.path}: the mask has {size} pixels and its image {wanted}; make them equal.")
        return mask

    def read(self) -> NDArray[np.bool_]:
        """Return the mask, of whatever shape."""
        return read_image(self.path) > (0.5 if self.path.suffix.lower() in _LOSSY_SUFFIXES else 0)


@dataclass(frozen=True)
class Ellipse:
    """An ellipse of DAGM's labels: semi-axes, rotation in radians, and centre. The first pixel is at (1, 1)."""

    major: float
    minor: float
    rotation: float
    x: float
    y: float

    def draw(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Return the mask of the ellipse, clipped to the image."""
        row, column = np.ogrid[: shape[0], : shape[1]]
        right, down = column - (self.x - 1), row - (self.y - 1)
        along = right * np.cos(self.rotation) + down * np.sin(self.rotation)
        across = down * np.cos(self.rotation) - right * np.sin(self.rotation)
        return np.asarray((along / self.major) ** 2 + (across / self.minor) ** 2 <= 1)


@dataclass(frozen=True)
class MaskUnion:
    """A mask with several parts."""

    parts: tuple[MaskSource, ...]

    def draw(self, shape: tuple[int, int]) -> NDArray[np.bool_]:
        """Return a mask that is true where any part is."""
        return np.any([part.draw(shape) for part in self.parts], axis=0)


def read_ellipses(path: Path) -> dict[int | None, MaskSource]:
    """Return the mask of each image by its number; several lines for one image are several defects.

    Lines without any number, such as a heading, are skipped; DAGM's own files end with such a line.
    """
    try:
        lines = path.read_text("utf-8-sig", errors="replace").splitlines()
    except OSError as error:
        raise MaskError(f"{path}: the file cannot be read ({error.strerror or error}).") from None
    ellipses: dict[int, list[Ellipse]] = {}
    for number, line in enumerate(lines, start=1):
        fields = line.replace(",", " ").replace(";", " ").split()
        if not any(map(_is_number, fields)):
            continue
        try:
            index, ellipse = _read_ellipse(fields)
        except ValueError:
            raise MaskError(
                f"{path}: line {number} must contain six numbers: image, two positive semi-axes, rotation, x and y."
            ) from None
        ellipses.setdefault(index, []).append(ellipse)
    return {index: parts[0] if len(parts) == 1 else MaskUnion(tuple(parts)) for index, parts in ellipses.items()}


def _read_ellipse(fields: list[str]) -> tuple[int, Ellipse]:
    index, major, minor, *rest = map(float, fields)
    rotation, x, y = rest
    if not (index.is_integer() and min(major, minor) > 0 and np.isfinite([major, minor, *rest]).all()):
        raise ValueError
    return int(index), Ellipse(major, minor, rotation, x, y)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
