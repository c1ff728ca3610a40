"""Shapes of made-up defects: jagged cracks with branches, and blobs with uneven or torn outlines.

Each is where it is in an image, as a box, and how much of each pixel of the box it covers. Sizes are shares of the
shorter side of the image, and vary widely: a thin crack, a spot, a stain that fills a quarter of the image.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Random = np.random.Generator
Place = tuple[slice, slice]
Shape = tuple[Place, Singles]
"""Where a defect is, and how much of each pixel it covers there."""

_LENGTH, _WIDTH = (0.08, 1.0), (0.0018, 0.008)
"""Least and greatest length of a crack, and standard deviation of its profile."""
_UPRIGHT = 0.3
"""Share of cracks that start along a side of the image, as threads and the marks of tools often do."""
_WINDING = 0.0, 0.02, 0.06
"""By how much a crack may turn from one step to the next, in radians: straight, bent or winding."""
_JAGGED = 0.0, 0.0, 0.6, 1.6
"""How far a crack may be aside of its way, in pixels."""
_FADING = 0.0, 0.3, 0.7
"""How much the strength of a crack may change on its way."""
_BRANCHES = 0, 0, 0, 1, 2
_RADIUS = 0.006, 0.22
"""Least and greatest radius of a blob."""
_LONGEST = 4.0
"""Greatest ratio of the sides of a blob."""
_WAVES = range(2, 7)
"""Waves around the outline of a blob."""
_TORN, _LEAST_TORN = 0.3, 8.0
"""Share of blobs that are torn to pieces, and the radius in pixels from which they may be."""
_PIECES = 0.1, 0.3
"""Least and greatest size of the pieces, as a share of the radius."""


def crack(shape: tuple[int, ...], random: Random) -> Shape:
    """Return a jagged line, perhaps with branches; its box is empty if all of it is outside of the image."""
    side, points = min(shape), np.zeros(shape, dtype=np.float32)
    upright = random.random() < _UPRIGHT
    direction = random.integers(4) * np.pi / 2 if upright else random.uniform(0, 2 * np.pi)
    length = side * between(_LENGTH, random)
    way = _walk(points, (random.uniform(0, shape[0]), random.uniform(0, shape[1])), direction, length, random)
    for _ in range(random.choice(_BRANCHES)):
        row, column, before = way[random.integers(len(way))]
        turned = before + random.choice([-1, 1]) * random.uniform(0.4, 1.4)
        _walk(points, (row, column), turned, length * random.uniform(0.2, 0.6), random)
    return _thick(points, side * between(_WIDTH, random))


def _walk(points: Singles, start: tuple[float, float], direction: float, length: float, random: Random) -> Floats:
    """Draw a line in steps of half a pixel, and return the row, the column and the direction of each step."""
    count = max(4, int(2 * length))
    directions = direction + random.choice(_WINDING) * np.cumsum(random.standard_normal(count))
    aside = ndimage.gaussian_filter1d(random.standard_normal(count), random.choice([1.0, 3.0])) * random.choice(_JAGGED)
    rows = start[0] + np.cumsum(np.sin(directions)) / 2 + aside * np.cos(directions)
    columns = start[1] + np.cumsum(np.cos(directions)) / 2 - aside * np.sin(directions)
    slow = ndimage.gaussian_filter1d(random.standard_normal(count), max(2, count / 12)) * np.sqrt(count / 6)
    strength = np.clip(1 + random.choice(_FADING) * slow, 0, 1.5).astype(np.float32)
    down, right = np.rint(rows).astype(np.intp), np.rint(columns).astype(np.intp)
    inside = (down >= 0) & (down < points.shape[0]) & (right >= 0) & (right < points.shape[1])
    np.maximum.at(points, (down[inside], right[inside]), strength[inside])
    return np.column_stack([rows, columns, directions])


def _thick(points: Singles, width: float) -> Shape:
    """Return a line with a Gaussian profile, given its points."""
    if not points.any():
        return (slice(0, 0), slice(0, 0)), points[:0, :0]
    margin, inside = 4 * int(width + 2), np.argwhere(points > 0)
    starts, ends = np.maximum(inside.min(axis=0) - margin, 0), np.minimum(inside.max(axis=0) + margin, points.shape)
    place = slice(starts[0], ends[0]), slice(starts[1], ends[1])
    smooth = ndimage.gaussian_filter(points[place], width)
    usual = np.quantile(smooth[points[place] > 0], 0.7)
    return place, np.clip(smooth / max(usual, np.finfo(np.float32).tiny), 0, 1.5)


def blob(shape: tuple[int, ...], random: Random) -> Shape:
    """Return a blob with an uneven outline, perhaps torn to pieces."""
    radius, squeeze = min(shape) * between(_RADIUS, random), np.sqrt(between((1.0, _LONGEST), random))
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
    for wave in _WAVES:
        outline += 0.3 / wave * random.standard_normal() * np.cos(wave * angle + random.uniform(0, 2 * np.pi))
    softness = max(1.0, radius * random.uniform(0, 0.6))
    cover = np.clip((radius * np.maximum(outline, 0.2) - np.hypot(along, across)) / softness + 0.5, 0, 1)
    if radius > _LEAST_TORN and random.random() < _TORN:
        noise = ndimage.gaussian_filter(random.standard_normal(cover.shape), radius * random.uniform(*_PIECES))
        cover *= np.clip(2 * noise / max(noise.std(), np.finfo(float).tiny) + 0.8, 0, 1)
    return (rows, columns), cover.astype(np.float32)


def between(limits: tuple[float, float], random: Random) -> float:
    """Return a random number between two others: any ratio to them is equally likely."""
    return float(np.exp(random.uniform(*np.log(limits))))
