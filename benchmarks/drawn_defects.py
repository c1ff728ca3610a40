"""Made-up defects to train a network on: jagged cracks with branches, and blobs with uneven or torn outlines.

Other than those of `vwkde.inspection.model.made_up`, lines may be as long as the image, change their strength on the
way, and fork; and every pixel has a weight, so that a thin crack counts as much as a large blob in training.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]
Random = np.random.Generator
Place = tuple[slice, slice]

_CLEAN = 0.2
"""Share of images that stay without a defect."""
_MOST = 4
"""Maximum number of defects of an image."""
_LINES = 0.5
"""Share of defects that are lines; the others are blobs."""
_STRENGTH = 0.8, 4.0
"""Least and greatest change of brightness, in units of the contrast around it."""
_LENGTH, _BLOB, _WIDTH = (0.08, 1.0), (0.006, 0.22), (0.0018, 0.008)
"""Length of a line, radius of a blob and standard deviation of a line's profile, as shares of the shorter side."""
_COVERED = 0.3
"""A pixel belongs to a defect if at least this share of it is covered."""
_AREA, _HEAVIEST = 0.004, 4.0
"""Share of the image whose weight each defect has, and the maximum weight of a pixel."""


@dataclass(frozen=True)
class Drawn:
    """An image with defects, where these are, and how much each pixel counts in training."""

    image: Singles
    mask: Mask
    weight: Singles


def drawn(image: Singles, random: Random, others: Sequence[Singles]) -> Drawn:
    """Return a good image with changes that are no defects, and perhaps some made-up defects.

    `others` are good images from which pieces may be pasted.
    """
    image = _photographed_again(image, random)
    mask, weight = np.zeros(image.shape, dtype=bool), np.ones(image.shape, dtype=np.float32)
    if random.random() < _CLEAN:
        return Drawn(image, mask, weight)
    contrast = _contrast(image)
    for _ in range(1 + random.integers(_MOST)):
        is_line = random.random() < _LINES
        place, cover = (_crack if is_line else _blob)(image.shape, random)
        here = image[place]
        if min(here.shape) < 2:
            continue
        change = _tinted if is_line else _CHANGES[random.integers(len(_CHANGES))]
        source = others[random.integers(len(others))]
        image[place] = here + cover * (change(here, contrast[place], source, random) - here)
        inside = cover > _COVERED
        mask[place] |= inside
        weight[place][inside] = min(_HEAVIEST, _AREA * image.size / max(1, inside.sum()))
    return Drawn(np.clip(image, 0, 1), mask, weight)


def _photographed_again(image: Singles, random: Random) -> Singles:
    """Return a copy of the image, sometimes with other contrast and brightness, or with a little noise."""
    image = image.astype(np.float32)
    if random.random() < 0.3:
        image = np.clip((image - 0.5) * random.uniform(0.8, 1.2) + 0.5 + random.uniform(-0.1, 0.1), 0, 1)
    if random.random() < 0.2:
        image = image + random.uniform(0, 0.15) * image.std() * random.standard_normal(image.shape, dtype=np.float32)
    return image.astype(np.float32)


def _contrast(image: Singles) -> Singles:
    """Return the contrast around every pixel; a few gray levels of 256 at least."""
    side = min(image.shape)
    detail = image - ndimage.uniform_filter(image, max(3, side // 12))
    return np.asarray(np.sqrt(ndimage.uniform_filter(detail**2, max(3, side // 6))) + np.float32(0.01))


def _crack(shape: tuple[int, ...], random: Random) -> tuple[Place, Singles]:
    """Return where a jagged line is, and how much of each pixel it covers there; perhaps with branches."""
    side, points = min(shape), np.zeros(shape, dtype=np.float32)
    upright = random.random() < 0.3
    direction = random.integers(4) * np.pi / 2 if upright else random.uniform(0, 2 * np.pi)
    length = side * _between(_LENGTH, random)
    start = random.uniform(0, shape[0]), random.uniform(0, shape[1])
    rows, columns, directions = _walk(points, start, direction, length, random)
    for _ in range(random.choice([0, 0, 0, 1, 2])):
        fork = random.integers(len(rows))
        turned = directions[fork] + random.choice([-1, 1]) * random.uniform(0.4, 1.4)
        _walk(points, (rows[fork], columns[fork]), turned, length * random.uniform(0.2, 0.6), random)
    if not points.any():
        return (slice(0, 0), slice(0, 0)), points[:0, :0]
    width = side * _between(_WIDTH, random)
    margin, inside = 4 * int(width + 2), np.argwhere(points > 0)
    (top, left), (bottom, right) = np.maximum(inside.min(axis=0) - margin, 0), inside.max(axis=0) + margin
    place = slice(top, min(bottom, shape[0])), slice(left, min(right, shape[1]))
    smooth = ndimage.gaussian_filter(points[place], width)
    usual = np.quantile(smooth[points[place] > 0], 0.7)
    return place, np.clip(smooth / max(usual, 1e-6), 0, 1.5)


def _walk(
    points: Singles, start: tuple[float, float], direction: float, length: float, random: Random
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Draw a line in steps of half a pixel, and return its rows, columns and directions."""
    count = max(4, int(2 * length))
    directions = direction + random.choice([0.0, 0.02, 0.06]) * np.cumsum(random.standard_normal(count))
    aside = ndimage.gaussian_filter1d(random.standard_normal(count), random.choice([1.0, 3.0]))
    aside *= 4 * random.choice([0.0, 0.0, 0.15, 0.4])
    rows = start[0] + np.cumsum(np.sin(directions)) / 2 + aside * np.cos(directions)
    columns = start[1] + np.cumsum(np.cos(directions)) / 2 - aside * np.sin(directions)
    slow = ndimage.gaussian_filter1d(random.standard_normal(count), max(2, count / 12)) * np.sqrt(count / 6)
    strength = np.clip(1 + random.choice([0, 0.3, 0.7]) * slow, 0, 1.5).astype(np.float32)
    down, right = np.rint(rows).astype(np.intp), np.rint(columns).astype(np.intp)
    inside = (down >= 0) & (down < points.shape[0]) & (right >= 0) & (right < points.shape[1])
    np.maximum.at(points, (down[inside], right[inside]), strength[inside])
    return rows, columns, directions


def _blob(shape: tuple[int, ...], random: Random) -> tuple[Place, Singles]:
    """Return where a blob with an uneven outline is, and how much of each pixel it covers there."""
    radius, squeeze = min(shape) * _between(_BLOB, random), np.sqrt(_between((1.0, 4.0), random))
    reach, middle = int(1.8 * radius * squeeze + 3), [random.uniform(0, side) for side in shape]
    rows, columns = (
        slice(max(0, int(at) - reach), min(side, int(at) + reach + 1)) for at, side in zip(middle, shape, strict=True)
    )
    down = np.arange(rows.start, rows.stop)[:, None] - middle[0]
    right = np.arange(columns.start, columns.stop) - middle[1]
    turn = random.uniform(0, np.pi)
    along = (down * np.cos(turn) + right * np.sin(turn)) / squeeze
    across = (right * np.cos(turn) - down * np.sin(turn)) * squeeze
    angle, outline = np.arctan2(across, along), np.ones(along.shape)
    for wave in range(2, 7):
        outline += 0.3 / wave * random.standard_normal() * np.cos(wave * angle + random.uniform(0, 2 * np.pi))
    softness = max(1.0, radius * random.uniform(0, 0.6))
    cover = np.clip((radius * np.maximum(outline, 0.2) - np.hypot(along, across)) / softness + 0.5, 0, 1)
    if radius > 8 and random.random() < 0.3:
        torn = ndimage.gaussian_filter(random.standard_normal(cover.shape), radius * random.uniform(0.1, 0.3))
        cover *= np.clip(2 * torn / max(torn.std(), 1e-9) + 0.8, 0, 1)
    return (rows, columns), cover.astype(np.float32)


def _tinted(here: Singles, contrast: Singles, source: Singles, random: Random) -> Singles:
    del source
    return here + random.choice([-1, 1]) * _between(_STRENGTH, random) * contrast


def _blurred(here: Singles, contrast: Singles, source: Singles, random: Random) -> Singles:
    del contrast
    return np.asarray(ndimage.gaussian_filter(here, min(source.shape) * random.uniform(0.004, 0.02)))


def _roughened(here: Singles, contrast: Singles, source: Singles, random: Random) -> Singles:
    del contrast
    smooth = ndimage.uniform_filter(here, max(3, min(source.shape) // 16))
    return np.asarray(here + random.uniform(0.4, 1.5) * (here - smooth))


def _pasted(here: Singles, contrast: Singles, source: Singles, random: Random) -> Singles:
    """Return a piece of another image, sometimes as bright as what it replaces; a tint if no piece is large enough."""
    source = source[:: random.choice([-1, 1]), :: random.choice([-1, 1])]
    if any(inner >= outer for inner, outer in zip(here.shape, source.shape, strict=True)):
        return _tinted(here, contrast, source, random)
    top, left = (random.integers(outer - inner) for inner, outer in zip(here.shape, source.shape, strict=True))
    piece = source[top : top + here.shape[0], left : left + here.shape[1]]
    return piece - piece.mean() + here.mean() if random.random() < 0.5 else piece


_CHANGES: tuple[Callable[[Singles, Singles, Singles, Random], Singles], ...] = (
    *(_tinted, _tinted, _tinted),
    *(_blurred, _roughened, _pasted),
)
"""How the inside of a blob may change; brightness as often as all others together."""


def _between(limits: tuple[float, float], random: Random) -> float:
    """Return a random number between two others: any ratio to them is equally likely."""
    return float(np.exp(random.uniform(*np.log(limits))))
