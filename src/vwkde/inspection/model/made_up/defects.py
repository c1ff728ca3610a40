"""Made-up defects on good images.

No defect is known when a surface is learnt. Made-up ones show which marks good images never have, and so which marks to
trust on this surface, and they are what networks are trained to find. Half of them are cracks, which are brighter or
darker than the surface; the others are blobs, in which anything may be different.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.made_up.changes import CHANGES, Site, tinted
from vwkde.inspection.model.made_up.shapes import Random, blob, crack

Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]

_CRACKS = 0.5
"""Share of defects that are cracks; the others are blobs."""
_FAINT = 0.01
"""Added to the contrast around a place: a few gray levels of 256, for images without any detail."""
_COVERED = 0.3
"""A pixel belongs to a defect if at least this share of it is covered."""


def with_defects(image: Singles, random: Random, count: int, other: Singles) -> tuple[Singles, list[Mask]]:
    """Return an image with some made-up defects, and where each of them is.

    `other` is a good image from which pieces may be pasted, or the same one.
    """
    contrast, changed, where = _contrast(image), image.astype(np.float32), []
    for _ in range(count):
        is_crack, inside = random.random() < _CRACKS, np.zeros(image.shape, dtype=bool)
        place, cover = (crack if is_crack else blob)(image.shape, random)
        site = Site(changed[place], contrast[place], other)
        if min(site.pixels.shape) > 1:
            change = tinted if is_crack else CHANGES[random.integers(len(CHANGES))]
            changed[place] += cover * (change(site, random) - site.pixels)
            inside[place] = cover > _COVERED
        where.append(inside)
    return np.clip(changed, 0, 1), where


def _contrast(image: Singles) -> Singles:
    """Return the contrast around every pixel."""
    side = min(image.shape)
    detail = image - ndimage.uniform_filter(image, max(3, side // 12))
    return np.asarray(np.sqrt(ndimage.uniform_filter(detail**2, max(3, side // 6)).clip(min=0)) + np.float32(_FAINT))
