"""What made-up defects do to the pixels that they cover.

They are brighter or darker, blurred, smeared, rougher, flat, or show another surface: a piece of a good image, turned
and at another scale or not, or noise. Strengths vary widely, down to what can hardly be seen.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.made_up.shapes import Random, between

Singles = NDArray[np.float32]

_STRENGTH = 0.8, 4.0
"""Least and greatest change of brightness, in units of the contrast around it."""
_BLUR, _ROUGHER, _SMEAR = (0.004, 0.02), (0.4, 1.5), (0.01, 0.06)
"""Least and greatest width of a blur, gain of detail, and length of a smear; widths as shares of the shorter side."""
_SCALES = 0.5, 0.67, 1.5, 2.0
_GRAIN, _LOUDNESS = (0.002, 0.03), (0.5, 3.0)
"""Least and greatest width of noise, as a share of the shorter side, and strength in units of the contrast."""


@dataclass(frozen=True, eq=False)
class Site:
    """Where a defect is drawn: the pixels there, the contrast around each, and a good image to take pieces from."""

    pixels: Singles
    contrast: Singles
    other: Singles

    @property
    def side(self) -> int:
        """The shorter side of an image."""
        return min(self.other.shape)


Change = Callable[[Site, Random], Singles]


def tinted(site: Site, random: Random) -> Singles:
    """Return brighter or darker pixels."""
    return site.pixels + random.choice([-1, 1]) * between(_STRENGTH, random) * site.contrast


def blurred(site: Site, random: Random) -> Singles:
    """Return pixels without detail."""
    return np.asarray(ndimage.gaussian_filter(site.pixels, site.side * random.uniform(*_BLUR)))


def smeared(site: Site, random: Random) -> Singles:
    """Return pixels averaged along a direction."""
    count = max(3, int(site.side * between(_SMEAR, random)))
    direction, middle = random.uniform(0, np.pi), (count - 1) / 2
    steps = np.linspace(-middle, middle, 2 * count)
    line = np.zeros((count, count), dtype=np.float32)
    rows, columns = (np.rint(middle + steps * way(direction)).astype(np.intp) for way in (np.sin, np.cos))
    line[rows, columns] = 1
    return np.asarray(ndimage.convolve(site.pixels, line / line.sum(), mode="nearest"))


def roughened(site: Site, random: Random) -> Singles:
    """Return pixels with stronger detail."""
    smooth = ndimage.uniform_filter(site.pixels, max(3, site.side // 16))
    return np.asarray(site.pixels + random.uniform(*_ROUGHER) * (site.pixels - smooth))


def flattened(site: Site, random: Random) -> Singles:
    """Return a single gray value, one of those there: a piece is missing, or something covers it."""
    return np.full_like(site.pixels, np.quantile(site.pixels, random.uniform(0, 1)))


def pasted(site: Site, random: Random) -> Singles:
    """Return a piece of another image, turned over or not; a tint if no piece is large enough."""
    other = site.other[:: random.choice([-1, 1]), :: random.choice([-1, 1])]
    room = [outer - inner for inner, outer in zip(site.pixels.shape, other.shape, strict=True)]
    if min(room) <= 0:
        return tinted(site, random)
    top, left = (random.integers(free) for free in room)
    return _as_bright(other[top:, left:][: site.pixels.shape[0], : site.pixels.shape[1]], site, random)


def turned(site: Site, random: Random) -> Singles:
    """Return a piece of another image in another direction and at another scale."""
    scale, angle = random.choice(_SCALES), random.uniform(0, 2 * np.pi)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / scale
    middle = np.array(site.other.shape) * random.uniform(0.3, 0.7, size=2)
    shape = site.pixels.shape
    start = middle - turn @ (np.array(shape) / 2)
    piece = ndimage.affine_transform(site.other, turn, start, output_shape=shape, order=1, mode="mirror")
    return _as_bright(piece, site, random)


def noisy(site: Site, random: Random) -> Singles:
    """Return noise of some grain, on the pixels or in their place."""
    widths = [site.side * between(_GRAIN, random) for _ in range(2)]
    noise = ndimage.gaussian_filter(random.standard_normal(site.pixels.shape, dtype=np.float32), widths)
    under = site.pixels if random.random() < 0.5 else ndimage.gaussian_filter(site.pixels, 0.03 * site.side)
    return np.asarray(under + between(_LOUDNESS, random) * site.contrast * noise / max(float(noise.std()), 1e-6))


def _as_bright(piece: Singles, site: Site, random: Random) -> Singles:
    """Return a piece of an image, in half of all cases as bright as what it replaces."""
    return piece - piece.mean() + site.pixels.mean() if random.random() < 0.5 else piece


CHANGES: tuple[Change, ...] = (
    *(tinted,) * 5,
    *(blurred, smeared, roughened, flattened, pasted, turned, noisy),
)
"""How defects may change pixels; brightness nearly as often as all others together."""
