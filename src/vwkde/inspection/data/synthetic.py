"""Synthetic surfaces, good and with defects whose pixels are known: for demonstrations, tests and comparisons.

Each kind of surface varies from image to image as real ones do: in brightness, and in the position and bend of its
pattern. A defect changes such an image only inside its mask.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

_LEAST_SIZE = 64
"""Minimum side of an image in pixels; the patterns need this much room."""
_PITCH = 9.0
"""Pixels between two threads."""
_RING = 26.0
"""Approximate distance of two year rings, in pixels."""


@dataclass(frozen=True, eq=False)
class Surfaces:
    """Synthetic images with their defects.

    Attributes
    ----------
    images : ndarray of shape (images, size, size)
        Gray images with values from 0 to 1, in single precision.
    masks : ndarray of bool, of the same shape
        True where an image is defective.
    defects : tuple of str or None
        The name of each image's defect; None for good images.
    """

    images: Singles
    masks: Mask
    defects: tuple[str | None, ...]


def make_surfaces(kind: str, n_good: int, n_bad: int, size: int = 256, seed: int = 0) -> Surfaces:
    """Make good images of a surface, followed by defective ones.

    An image depends on the seed and on its own number among the good or the defective images, not on how many are made.

    Parameters
    ----------
    kind : {"woven", "brushed", "granular", "wood"}
        The kind of surface; the keys of `SURFACES`.
    n_good, n_bad : int
        Number of good and of defective images. The defects of the surface take turns.
    size : int, default=256
        Side of the images in pixels, at least 64.
    seed : int, default=0
        Seed of every random choice.

    Returns
    -------
    Surfaces
        With `images` of shape (n_good + n_bad, size, size) and values from 0 to 1; `masks`, true where an image is
        defective; and `defects`, the name of each image's defect, None for good ones.

    Raises
    ------
    ValueError
        If a parameter is invalid.

    Examples
    --------
    >>> from vwkde.inspection import make_surfaces
    >>> surfaces = make_surfaces("wood", n_good=2, n_bad=1, size=64)
    >>> surfaces.images.shape, surfaces.defects
    ((3, 64, 64), (None, None, 'scratch'))
    """
    _check(kind, n_good, n_bad, size)
    texture, defects = SURFACES[kind]
    stream = list(SURFACES).index(kind)
    images = np.empty((n_good + n_bad, size, size), dtype=np.float32)
    masks = np.zeros(images.shape, dtype=bool)
    names: list[str | None] = []
    for place in range(n_good):
        images[place] = _finish(texture(np.random.default_rng([seed, stream, 0, place]), size))
        names.append(None)
    for place in range(n_bad):
        name = defects[place % len(defects)]
        random = np.random.default_rng([seed, stream, 1, place])
        clean = texture(random, size)
        changed, mask = DEFECTS[name](clean, random)
        images[n_good + place] = _finish(np.where(mask, changed, clean))
        masks[n_good + place] = mask
        names.append(name)
    return Surfaces(images, masks, tuple(names))


def _check(kind: str, n_good: int, n_bad: int, size: int) -> None:
    if kind not in SURFACES:
        raise ValueError(f"The 'kind' parameter must be one of {list(SURFACES)}. Got {kind!r} instead.")
    if min(n_good, n_bad) < 0:
        raise ValueError(f"The 'n_good' and 'n_bad' parameters must not be negative. Got {n_good} and {n_bad} instead.")
    if size < _LEAST_SIZE:
        raise ValueError(f"The 'size' parameter must be at least {_LEAST_SIZE} pixels. Got {size} instead.")


def _woven(random: np.random.Generator, size: int) -> Floats:
    """Return a plain weave: horizontal and vertical threads, over and under each other in turn."""
    rows, columns = np.mgrid[:size, :size] / _PITCH + random.uniform(0, 2, 2)[:, None, None]
    rows, columns = (each + 0.25 * _noise(random, size, 40) for each in (rows, columns))
    warp, weft = np.floor(columns).astype(int), np.floor(rows).astype(int)
    down = _thread(columns) * (1 + 0.45 * np.sin(np.pi * (rows + warp)))
    across = _thread(rows) * (1 - 0.45 * np.sin(np.pi * (columns + weft)))
    shades = random.normal(1, 0.06, (2, int(size / _PITCH) + 8))
    cloth = np.maximum(down * shades[0][warp + 2], across * shades[1][weft + 2])
    return _lit(random, 0.12 + 0.42 * cloth, 0.02)


def _brushed(random: np.random.Generator, size: int) -> Floats:
    """Return brushed metal: fine grooves along the rows."""
    fine = _noise(random, size, (0.6, 30))
    broad = _noise(random, size, (2.5, 60))
    return _lit(random, 0.55 + 0.04 * fine + 0.02 * broad, 0.015)


def _granular(random: np.random.Generator, size: int) -> Floats:
    """Return grains of two sizes, lit from the upper left."""
    height = _noise(random, size, 3.0) + 0.35 * _noise(random, size, 1.2)
    light = _unit(np.roll(height, (1, 1), (0, 1)) - height)
    return _lit(random, 0.5 + 0.11 * np.tanh(light), 0.015)


def _wood(random: np.random.Generator, size: int) -> Floats:
    """Return planed wood: year rings and pores along the columns."""
    columns = np.mgrid[:size, :size][1] / _RING + random.uniform(0, 1)
    bent = columns + 0.45 * _noise(random, size, (70, 24))
    rings = (bent % 1) ** 3
    fibre = _noise(random, size, (16, 0.7))
    pores = _noise(random, size, (5, 0.6)) > 2.3
    return _lit(random, 0.62 - 0.17 * rings + 0.03 * fibre - 0.12 * pores, 0.012)


def _scratch(image: Floats, random: np.random.Generator) -> tuple[Floats, Mask]:
    """Draw a bent bright line with one dark side, at an angle to rows and columns."""
    size = len(image)
    along, across = _turned(random, size, random.uniform(0.3, 1.2) * random.choice([-1, 1]))
    length, width = size * random.uniform(0.12, 0.22), random.uniform(1.2, 1.9)
    across = across + random.uniform(-0.12, 0.12) * along**2 / length
    mask = (np.abs(along) < length) & (np.abs(across) < 2 * width)
    profile = np.where(np.abs(across) < width, 1, np.where(across > 0, -0.7, 0.25))
    return image + random.uniform(0.12, 0.26) * profile, mask


def _spot(image: Floats, random: np.random.Generator) -> tuple[Floats, Mask]:
    """Draw a dark spot with a sharp edge."""
    size = len(image)
    mask = _blob(random, size, size * random.uniform(0.028, 0.045), 0.15)
    return 0.35 * image + 0.08 * random.uniform(0.5, 1.5), mask


def _stain(image: Floats, random: np.random.Generator) -> tuple[Floats, Mask]:
    """Make a part of the surface look wet: darker, and with less contrast."""
    size = len(image)
    mask = _blob(random, size, size * random.uniform(0.09, 0.15), 0.3)
    inward = np.minimum(ndimage.distance_transform_edt(mask) / 4, 1)
    wet = 0.78 * ndimage.gaussian_filter(image, 1.6)
    return (1 - inward) * image + inward * wet, mask


def _dent(image: Floats, random: np.random.Generator) -> tuple[Floats, Mask]:
    """Press a dent into the surface: the pattern contracts, and one side is in shade."""
    size = len(image)
    radius = size * random.uniform(0.06, 0.1)
    row, column = random.uniform(1.3 * radius, size - 1.3 * radius, 2)
    rows, columns = np.mgrid[:size, :size]
    down, right = (rows - row) / radius, (columns - column) / radius
    depth = np.clip(1 - down**2 - right**2, 0, None) ** 1.5
    places = rows + 0.6 * radius * depth * down, columns + 0.6 * radius * depth * right
    pressed = ndimage.map_coordinates(image, places, order=1, mode="nearest")
    return pressed - 0.8 * depth * (down + right) / 2, depth > 0


def _missing_thread(image: Floats, random: np.random.Generator) -> tuple[Floats, Mask]:
    """Remove a piece of a thread, so that the dark ground shows between its neighbours."""
    size = len(image)
    upright = random.random() < 0.5
    rows, columns = np.mgrid[:size, :size] - random.uniform(0.2 * size, 0.8 * size, 2)[:, None, None]
    along, across = (rows, columns) if upright else (columns, rows)
    mask = (np.abs(along) < size * random.uniform(0.08, 0.18)) & (np.abs(across) < 0.55 * _PITCH)
    ground = ndimage.gaussian_filter(image, (6, 0) if upright else (0, 6))
    return 0.25 * image + 0.3 * ground, mask


def _thread(position: Floats) -> Floats:
    """Return the brightness of a thread across its width."""
    return np.sqrt(np.abs(np.sin(np.pi * position)))


def _turned(random: np.random.Generator, size: int, angle: float) -> tuple[Floats, Floats]:
    """Return each pixel's position along and across a line at this angle through a random point near the middle."""
    rows, columns = np.mgrid[:size, :size] - random.uniform(0.3 * size, 0.7 * size, 2)[:, None, None]
    return columns * np.cos(angle) + rows * np.sin(angle), rows * np.cos(angle) - columns * np.sin(angle)


def _blob(random: np.random.Generator, size: int, radius: float, uneven: float) -> Mask:
    """Return a region of about this radius, with an uneven outline."""
    row, column = random.uniform(1.5 * radius, size - 1.5 * radius, 2)
    rows, columns = np.mgrid[:size, :size]
    angle = np.arctan2(rows - row, columns - column)
    outline = sum(random.normal(0, uneven / k) * np.cos(k * angle + random.uniform(0, 2 * np.pi)) for k in (2, 3, 4))
    return np.asarray(np.hypot(rows - row, columns - column) < radius * np.exp(outline))


def _noise(random: np.random.Generator, size: int, scale: float | tuple[float, float]) -> Floats:
    """Return smooth periodic noise of mean zero and standard deviation one."""
    spectrum = ndimage.fourier_gaussian(np.fft.rfft2(random.normal(size=(size, size))), scale, size)
    return _unit(np.fft.irfft2(spectrum, (size, size)))


def _unit(field: Floats) -> Floats:
    return (field - field.mean()) / field.std()


def _lit(random: np.random.Generator, image: Floats, noise: float) -> Floats:
    """Return the image under slightly uneven light, with camera noise."""
    down, right = random.normal(0, 0.03, 2)
    rows, columns = np.mgrid[-1 : 1 : len(image) * 1j, -1 : 1 : len(image) * 1j]
    light = random.normal(1, 0.02) + down * rows + right * columns
    return image * light + random.normal(0, noise, image.shape)


def _finish(image: Floats) -> Singles:
    """Return the image as an 8-bit camera records it."""
    return (np.rint(255 * np.clip(image, 0, 1)) / 255).astype(np.float32)


_Texture = Callable[[np.random.Generator, int], Floats]

DEFECTS: dict[str, Callable[[Floats, np.random.Generator], tuple[Floats, Mask]]] = {
    "scratch": _scratch,
    "spot": _spot,
    "stain": _stain,
    "dent": _dent,
    "missing-thread": _missing_thread,
}
"""The defects by name: each function returns the changed image, and the mask of the pixels to take from it."""

SURFACES: dict[str, tuple[_Texture, tuple[str, ...]]] = {
    "woven": (_woven, ("missing-thread", "spot", "stain")),
    "brushed": (_brushed, ("scratch", "dent", "stain")),
    "granular": (_granular, ("scratch", "spot", "dent")),
    "wood": (_wood, ("scratch", "spot", "stain")),
}
"""The kinds of surface by name: the function that makes each, and the defects that it can have."""
