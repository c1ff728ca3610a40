"""Made-up defects on good images: lines and blobs that are brighter or darker, blurred, rougher or from elsewhere.

No defect is known when a surface is learnt. These show which marks good images never have, and so which marks to trust
on this surface. Sizes and strengths vary widely, down to what can hardly be seen.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Random = np.random.Generator

_DEFECTS = 3
"""Number of defects of an image."""
_LINES = 0.3
"""Share of defects that are lines; the others are blobs."""
_STRENGTH = 0.7, 4.0
"""Least and greatest change of brightness, in units of the contrast around it."""
_LENGTH, _BLOB = (0.08, 0.9), (0.01, 0.2)
"""Least and greatest length of a line and radius of a blob, as shares of the shorter side."""
_WIDTH = 0.002, 0.007
"""Least and greatest standard deviation of a line's profile, as a share of the shorter side."""
_WINDING = 0.0, 0.3, 1.5
"""How far lines may turn on their way, in radians: straight, bent or winding."""
_UPRIGHT = 0.3
"""Share of lines that start along a side of the image, as threads and the marks of tools often do."""
_HARMONICS = 4
"""Number of waves around the outline of a blob."""
_FAINT = 0.01
"""Added to the contrast around a place: a few gray levels of 256, for images without any detail."""
_COVERED = 0.3
"""A pixel belongs to a defect if at least this share of it is covered."""


def with_defects(image: Singles, random: Random) -> tuple[Singles, list[Mask]]:
    """Return an image with some made-up defects, and where each of them is."""
    contrast = _contrast(image)
    changed, where = image.astype(np.float64), []
    for _ in range(_DEFECTS):
        is_line = random.random() < _LINES
        cover = (_line if is_line else _blob)(image.shape, random)
        change = _tinted if is_line else _CHANGES[random.integers(len(_CHANGES))]
        changed += cover * (change(changed, contrast, random) - changed)
        where.append(cover > _COVERED)
    return np.clip(changed, 0, 1).astype(np.float32), where


def _contrast(image: Singles) -> Floats:
    """Return the contrast around every pixel."""
    side = min(image.shape)
    detail = image - ndimage.gaussian_filter(image.astype(np.float64), side / 40)
    return np.sqrt(ndimage.gaussian_filter(detail**2, side / 16)) + _FAINT


def _line(shape: tuple[int, ...], random: Random) -> Floats:
    """Return how much of each pixel a line covers."""
    side = min(shape)
    steps = max(2, int(4 * side * _between(_LENGTH, random)))  # of a quarter of a pixel
    turns = random.choice(_WINDING) * np.cumsum(random.standard_normal(steps)) / np.sqrt(steps)
    upright = random.random() < _UPRIGHT
    direction = (random.integers(4) * np.pi / 2 if upright else random.uniform(0, 2 * np.pi)) + turns
    rows = (random.uniform(0, shape[0]) + np.cumsum(np.sin(direction)) / 4).astype(np.intp)
    columns = (random.uniform(0, shape[1]) + np.cumsum(np.cos(direction)) / 4).astype(np.intp)
    inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    drawn = np.zeros(shape)
    drawn[rows[inside], columns[inside]] = 1
    smooth = ndimage.gaussian_filter(drawn, side * _between(_WIDTH, random))
    return np.asarray(smooth / max(smooth.max(), np.finfo(float).tiny))


def _blob(shape: tuple[int, ...], random: Random) -> Floats:
    """Return how much of each pixel a blob with an uneven outline covers."""
    radius, squeeze = min(shape) * _between(_BLOB, random), np.sqrt(random.uniform(1, 2.5))
    turn, middle = random.uniform(0, np.pi), [random.uniform(0, side) for side in shape]
    down, right = np.arange(shape[0])[:, None] - middle[0], np.arange(shape[1]) - middle[1]
    along, across = down * np.cos(turn) + right * np.sin(turn), right * np.cos(turn) - down * np.sin(turn)
    far, angle = np.hypot(along / squeeze, across * squeeze), np.arctan2(across, along)
    outline = np.ones(shape)
    for wave in range(2, 2 + _HARMONICS):
        outline += 0.3 / wave * random.standard_normal() * np.cos(wave * angle + random.uniform(0, 2 * np.pi))
    softness = max(1.0, radius * random.uniform(0, 0.5))
    return np.clip((radius * np.maximum(outline, 0.2) - far) / softness + 0.5, 0, 1)


def _tinted(image: Floats, contrast: Floats, random: Random) -> Floats:
    return image + random.choice([-1, 1]) * _between(_STRENGTH, random) * contrast


def _pasted(image: Floats, contrast: Floats, random: Random) -> Floats:
    """Return the image with other places, turned over or not, in place of each."""
    del contrast
    moved = np.roll(image, [random.integers(side // 8, side - side // 8) for side in image.shape], axis=(0, 1))
    return (moved, moved[::-1], moved[:, ::-1])[random.integers(3)]


def _blurred(image: Floats, contrast: Floats, random: Random) -> Floats:
    del contrast
    return np.asarray(ndimage.gaussian_filter(image, min(image.shape) * random.uniform(0.004, 0.02)))


def _roughened(image: Floats, contrast: Floats, random: Random) -> Floats:
    del contrast
    return image + random.uniform(0.4, 1.5) * (image - ndimage.gaussian_filter(image, min(image.shape) / 30))


_CHANGES: tuple[Callable[[Floats, Floats, Random], Floats], ...] = (_tinted, _tinted, _pasted, _blurred, _roughened)
"""How the inside of a blob may change; brightness as often as two of the others."""


def _between(limits: tuple[float, float], random: Random) -> float:
    """Return a random number between two others: any ratio to them is equally likely."""
    return float(np.exp(random.uniform(*np.log(limits))))
