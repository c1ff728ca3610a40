"""Whether patches help to outline defects on a surface, as made-up defects say.

A patch is much larger than a thin crack. On some surfaces only patches see that something differs, and then a map
without them would miss it; on others marks show the same place sharply, and patches blur it. Defects that are drawn on
good images tell which: each of these images is judged by the other good ones.

How well a map outlines a defect is the share of the defect that is above a limit, averaged over limits that up to three
tenths of the places outside exceed, as in AUPRO. Every defect counts the same, whatever its size.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.learnt.rarity import Evidence, Rarities, averaged

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Drawn = tuple[Evidence, Sequence[Mask]]
"""What is known about the places of an image with made-up defects, and where each of them is."""

_EXCEEDING = np.linspace(0.01, 0.3, 30)
"""Shares of the places outside of defects that exceed the limits."""
_CLEARLY = 3.0
"""Standard errors by which defects must be outlined better without patches, if these are to be left out."""
_ALONG = 128
"""About how many places along the shorter side are compared."""


def patches_outline(rarities: Rarities, drawings: Sequence[Drawn]) -> bool:
    """Return False if made-up defects are clearly outlined better by a map in which patches do not count."""
    step = max(1, min(rarities.image_shape) // _ALONG)
    where = [[mask[::step, ::step] for mask in masks] for _, masks in drawings]
    both: tuple[list[Floats], list[Floats]] = [], []
    for evidence, _ in drawings:
        parts = [part[::step, ::step] for part in rarities.of_parts(evidence)]
        for maps, first in zip(both, (0, 1), strict=True):
            maps.append(averaged(parts, first))
    gain = np.subtract(*(outlined(maps, where) for maps in reversed(both)))
    return len(gain) < 2 or not gain.mean() > _CLEARLY * gain.std(ddof=1) / np.sqrt(len(gain))


def outlined(maps: Sequence[Floats], where: Sequence[Sequence[Mask]]) -> Floats:
    """Return how well each defect is outlined by the map of its image, from 0 to 1; those without a place are left out.

    `where` has the masks of the defects of each image.
    """
    if not maps:
        return np.empty(0)
    outside = [values[~np.any(masks, axis=0)] for values, masks in zip(maps, where, strict=True)]
    limits = np.quantile(np.concatenate(outside), 1 - _EXCEEDING[::-1])
    return np.array(
        [
            np.searchsorted(limits, values[mask], side="right").mean() / len(limits)
            for values, masks in zip(maps, where, strict=True)
            for mask in masks
            if mask.any()
        ]
    )
