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

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.metrics.detections import OVERLAP, box_overlap, mask_overlap
from vwkde.inspection.model.patches import PAPER_GRID
from vwkde.inspection.model.regions import box_about, find_regions, near_peak
from vwkde.reproduce.surfaces.detectors import Finding

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHARE = 0.9
"""Of the largest value in an image: patches at or above belong to the detection."""
LARGEST = float(-np.log(np.finfo(np.float32).tiny))
"""Nats beyond which log ratios do not differ, where what is above a share of the largest is looked for."""


def detected(finding: Finding, shape: tuple[int, int], largest: float = LARGEST) -> Mask:
    """Return the pixels of the one detection in an image, values beyond the largest counting as this."""
    return pixels_of(_reached(finding, largest), shape)


def _reached(finding: Finding, largest: float) -> Mask:
    """Return the patches, or pixels, that belong to the detection."""
    values = np.minimum(finding.values, largest)
    return np.asarray(values >= _level(finding, values))


def _level(finding: Finding, values: Floats) -> float:
    return near_peak(values, SHARE) if finding.level is None else finding.level


def pixels_of(chosen: Mask, shape: tuple[int, ...]) -> Mask:
    """Return the pixels of the chosen patches; what are pixels already stays as it is."""
    if chosen.shape == shape:
        return chosen
    found = np.zeros(shape, dtype=bool)
    tops, lefts = (PAPER_GRID.starts(side) for side in shape)
    for row, column in zip(*np.nonzero(chosen), strict=True):
        found[tops[row] : tops[row] + PAPER_GRID.size, lefts[column] : lefts[column] + PAPER_GRID.size] = True
    return found


def _all_patches(finding: Finding, mask: Mask) -> bool:
    return mask_overlap(detected(finding, _shape(mask)), mask) > OVERLAP


def _unbounded(finding: Finding, mask: Mask) -> bool:
    return mask_overlap(detected(finding, _shape(mask), np.inf), mask) > OVERLAP


def _largest_region(finding: Finding, mask: Mask) -> bool:
    """Look only at the region of the largest value, or of several the one with the most patches."""
    values = np.minimum(finding.values, LARGEST)
    regions = find_regions(values, _level(finding, values))
    return bool(regions) and mask_overlap(pixels_of(regions[0].on(values.shape), mask.shape), mask) > OVERLAP


def _boxes(finding: Finding, mask: Mask) -> bool:
    return box_overlap(box_about(detected(finding, _shape(mask))), box_about(mask)) > OVERLAP


def _spread_to_pixels(finding: Finding, mask: Mask) -> bool:
    """Take the mean of the patches over a pixel as its value, and what reaches the level among pixels."""
    if finding.values.shape == mask.shape or finding.level is not None:
        return _all_patches(finding, mask)
    values = PAPER_GRID.spread(np.minimum(finding.values, LARGEST), mask.shape)
    return mask_overlap(detected(Finding(finding.score, values), _shape(mask)), mask) > OVERLAP


READINGS: dict[str, Callable[[Finding, Mask], bool]] = {
    "all": _all_patches,
    "unbounded": _unbounded,
    "region": _largest_region,
    "boxes": _boxes,
    "pixels": _spread_to_pixels,
}
"""Ways to read when a detection is right; the first is that of the tables."""


def readings_of(finding: Finding, mask: Mask | None) -> dict[str, bool]:
    """Return whether the detection in a defective image is right, by every reading."""
    if mask is None:
        raise ValueError("A defective image has no mask.")
    return {reading: is_right(finding, mask) for reading, is_right in READINGS.items()}


def _shape(mask: Mask) -> tuple[int, int]:
    height, width = mask.shape
    return height, width
