"""What a network learns from: pieces of good images with made-up defects, as it sees them, and where these are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.made_up.defects import with_defects
from vwkde.inspection.model.made_up.shapes import Random
from vwkde.inspection.model.marks.strengths import EVEN, SURROUNDINGS, SURROUNDINGS_CUT

Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

_CLEAN, _MOST = 0.2, 4
"""Share of images that stay without a defect, and maximum number of defects of the others."""
_AREA, _HEAVIEST = 0.004, 4.0
"""Share of the image whose weight each defect has, so that a crack counts as much as a blob; maximum of a pixel."""
_OTHER_LIGHT, _CONTRAST, _BRIGHTNESS = 0.3, (0.8, 1.2), (-0.1, 0.1)
"""Share of images whose contrast and brightness change, by which factors and by how much."""
_NOISY, _NOISE = 0.2, 0.15
"""Share of images with more noise, and its maximum in units of the image's spread."""
_SIDE = 128
"""Maximum side of a piece: small pieces make for many steps."""
_PIECES = 2
"""Number of pieces of an image on which defects were drawn, which takes its time."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Evened pieces of images, (pieces, rows, columns), where these have defects, and how much each pixel counts."""

    images: Singles
    defective: Singles
    weight: Singles


def examples(images: Sequence[Singles], count: int, random: Random) -> Examples:
    """Return so many random pieces of good images with made-up defects."""
    return Examples(*(np.stack(part) for part in zip(*islice(_pieces(images, random), count), strict=True)))


def piece_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the shape of a piece of an image."""
    return min(shape[0], _SIDE), min(shape[1], _SIDE)


def _pieces(images: Sequence[Singles], random: Random) -> Iterator[tuple[Singles, Singles, Singles]]:
    """Yield pieces: evened, where they are defective, and how much each pixel counts."""
    rows, columns = piece_shape(images[0].shape)
    while True:
        image, mask, weight = _drawn(images, random)
        parts = _evened(image), mask.astype(np.float32), weight
        for _ in range(_PIECES):
            top, left = random.integers(image.shape[0] - rows + 1), random.integers(image.shape[1] - columns + 1)
            first, second, third = (part[top : top + rows, left : left + columns] for part in parts)
            yield first, second, third


def _drawn(images: Sequence[Singles], random: Random) -> tuple[Singles, Mask, Singles]:
    """Return one of the images, turned over or not, perhaps with defects, where these are, and weights of pixels."""
    first, other = (images[int(place)] for place in random.integers(len(images), size=2))
    image = _photographed_again(first[:: random.choice([-1, 1]), :: random.choice([-1, 1])], random)
    count = 0 if random.random() < _CLEAN else 1 + int(random.integers(_MOST))
    drawn, where = with_defects(image, random, count, other)
    mask, weight = np.zeros(image.shape, dtype=bool), np.ones(image.shape, dtype=np.float32)
    for inside in where:
        mask |= inside
        weight[inside] = min(_HEAVIEST, _AREA * image.size / max(1, int(np.count_nonzero(inside))))
    return drawn, mask, weight


def _photographed_again(image: Singles, random: Random) -> Singles:
    """Return a copy of an image, sometimes with other contrast and brightness, or with a little noise."""
    image = image.astype(np.float32)
    if random.random() < _OTHER_LIGHT:
        image = (image - 0.5) * random.uniform(*_CONTRAST) + 0.5 + random.uniform(*_BRIGHTNESS)
    if random.random() < _NOISY:
        image = image + random.uniform(0, _NOISE) * image.std() * random.standard_normal(image.shape, dtype=np.float32)
    return np.clip(image, 0, 1, dtype=np.float32)


def _evened(image: Singles) -> Singles:
    """Return what `marks.evened` returns, by products with matrices, which take a fraction of the time here."""
    along_rows, along_columns = (_smoothing(side) for side in image.shape)
    detail = image - along_rows @ image @ along_columns.T
    return np.asarray(detail / (np.sqrt(np.mean(detail**2)) + np.float32(EVEN)))


@lru_cache(maxsize=4)
def _smoothing(side: int) -> Singles:
    smooth = ndimage.gaussian_filter1d(np.eye(side), SURROUNDINGS, axis=0, mode="mirror", truncate=SURROUNDINGS_CUT)
    return np.asarray(smooth, dtype=np.float32)
