"""When the place of a defect has been found: the one detection of an image, and ways to say that it is right.

One detection is made per image: what is above 90 % of the largest log ratio. It is right where its intersection with
the mask is more than a tenth of their union. The paper does not tell what becomes of several regions, or whether pixels
or boxes are meant. Here the detection is all pixels of all such patches, against the pixels of the mask, and the mask
of a digit is its square; average precision is over all images tested, and in a good one every detection is wrong. By
this reading most of the paper's numbers for its baselines come out again; where one region alone counts, hardly any
do. A log ratio counts for no more than 87 nats, beyond which a density is zero in single precision: without that bound
the one patch that is farthest off outweighs all others of the same defect, by thousands of nats. `READINGS` has this
and other ways to read the text; the results have the numbers of all.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.metrics import OVERLAP, Box, overlap
from vwkde.inspection.patches import PAPER_GRID
from vwkde.inspection.regions import find_regions, near_peak

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHARE = 0.9
"""Of the largest value in an image: patches at or above belong to the detection."""
LARGEST = float(-np.log(np.finfo(np.float32).tiny))
"""Nats beyond which log ratios do not differ, where what is above a share of the largest is looked for."""


@dataclass(frozen=True)
class Judgement:
    """What a method says of an image: a score, and values of its patches or of its pixels.

    With `level`, the detection is what reaches it, and there may be none; without, what reaches a share of the largest
    value.
    """

    score: float
    values: Floats
    level: float | None = None


def detected(judgement: Judgement, shape: tuple[int, int], largest: float = LARGEST) -> Mask:
    """Return the pixels of the one detection in an image, values beyond the largest counting as this."""
    return pixels_of(_reached(judgement, largest), shape)


def _reached(judgement: Judgement, largest: float) -> Mask:
    """Return the patches, or pixels, that belong to the detection."""
    values = np.minimum(judgement.values, largest)
    return np.asarray(values >= _level(judgement, values))


def _level(judgement: Judgement, values: Floats) -> float:
    return near_peak(values, SHARE) if judgement.level is None else judgement.level


def pixels_of(chosen: Mask, shape: tuple[int, ...]) -> Mask:
    """Return the pixels of the chosen patches; what are pixels already stays as it is."""
    if chosen.shape == shape:
        return chosen
    found = np.zeros(shape, dtype=bool)
    tops, lefts = (PAPER_GRID.starts(side) for side in shape)
    for row, column in zip(*np.nonzero(chosen), strict=True):
        found[tops[row] : tops[row] + PAPER_GRID.size, lefts[column] : lefts[column] + PAPER_GRID.size] = True
    return found


def box_of(mask: Mask) -> Box:
    """Return the box about all that is true, of no size where nothing is."""
    if not mask.any():
        return 0.0, 0.0, 0.0, 0.0
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return float(rows[0]), float(columns[0]), float(rows[-1] + 1), float(columns[-1] + 1)


def _all_patches(judgement: Judgement, mask: Mask) -> bool:
    return overlap(detected(judgement, _shape(mask)), mask) > OVERLAP


def _unbounded(judgement: Judgement, mask: Mask) -> bool:
    return overlap(detected(judgement, _shape(mask), np.inf), mask) > OVERLAP


def _largest_region(judgement: Judgement, mask: Mask) -> bool:
    """Look only at the region of the largest value, or of several the one with the most patches."""
    values = np.minimum(judgement.values, LARGEST)
    regions = find_regions(values, _level(judgement, values))
    return bool(regions) and overlap(pixels_of(regions[0].mask, mask.shape), mask) > OVERLAP


def _boxes(judgement: Judgement, mask: Mask) -> bool:
    return overlap(box_of(detected(judgement, _shape(mask))), box_of(mask)) > OVERLAP


def _spread_to_pixels(judgement: Judgement, mask: Mask) -> bool:
    """Take the mean of the patches over a pixel as its value, and what reaches the level among pixels."""
    if judgement.values.shape == mask.shape or judgement.level is not None:
        return _all_patches(judgement, mask)
    values = PAPER_GRID.spread(np.minimum(judgement.values, LARGEST), mask.shape)
    return overlap(detected(Judgement(judgement.score, values), _shape(mask)), mask) > OVERLAP


READINGS: dict[str, Callable[[Judgement, Mask], bool]] = {
    "all": _all_patches,
    "unbounded": _unbounded,
    "region": _largest_region,
    "boxes": _boxes,
    "pixels": _spread_to_pixels,
}
"""Ways to read when a detection is right; the first is that of the tables."""


def readings_of(judgement: Judgement, mask: Mask | None) -> dict[str, bool]:
    """Return whether the detection in a defective image is right, by every reading."""
    if mask is None:
        raise ValueError("A defective image has no mask.")
    return {reading: is_right(judgement, mask) for reading, is_right in READINGS.items()}


def _shape(mask: Mask) -> tuple[int, int]:
    height, width = mask.shape
    return height, width
