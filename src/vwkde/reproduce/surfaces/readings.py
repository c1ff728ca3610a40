"""When a defect counts as located: the one detection of an image, and ways to decide whether it is right.

Each image has one detection: what is above 90 % of the largest log ratio. It is right if its intersection with the mask
is more than a tenth of their union. The paper does not say how several regions are treated, or whether pixels or boxes
are compared. Here the detection is all pixels of all such patches, compared with the pixels of the mask; the mask of a
digit is its square. Average precision is over all tested images, and in a good image every detection is wrong. With
this reading, most of the paper's numbers for its baselines are reproduced; with one region only, hardly any are. A log
ratio counts for at most 87 nats, beyond which a density is zero in single precision: without this bound, the most
unusual patch outweighs all others of the same defect by thousands of nats. `READINGS` has this and other readings of
the text; the results have the numbers of all.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.metrics.detections import OVERLAP, box_overlap, mask_overlap
from vwkde.inspection.model.features.patches import PAPER_GRID
from vwkde.inspection.model.regions import box_about, find_regions, near_peak
from vwkde.reproduce.surfaces.detectors import Finding

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

SHARE = 0.9
"""Share of the largest value in an image: patches at or above it belong to the detection."""
LARGEST = float(-np.log(np.finfo(np.float32).tiny))
"""Cap on log ratios, in nats, before they are compared with a share of the largest."""


def detected(finding: Finding, shape: tuple[int, int], largest: float = LARGEST) -> Mask:
    """Return the pixels of the one detection in an image; values are capped at `largest`."""
    return pixels_of(_reached(finding, largest), shape)


def _reached(finding: Finding, largest: float) -> Mask:
    """Return the patches, or pixels, that belong to the detection."""
    values = np.minimum(finding.values, largest)
    return np.asarray(values >= _level(finding, values))


def _level(finding: Finding, values: Floats) -> float:
    return near_peak(values, SHARE) if finding.level is None else finding.level


def pixels_of(chosen: Mask, shape: tuple[int, ...]) -> Mask:
    """Return the pixels of the chosen patches; a mask of pixels is returned as it is."""
    if chosen.shape == shape:
        return chosen
    pixels = np.zeros(shape, dtype=bool)
    tops, lefts = (PAPER_GRID.starts(side) for side in shape)
    for row, column in zip(*np.nonzero(chosen), strict=True):
        pixels[tops[row] : tops[row] + PAPER_GRID.size, lefts[column] : lefts[column] + PAPER_GRID.size] = True
    return pixels


def _all_patches(finding: Finding, mask: Mask) -> bool:
    return mask_overlap(detected(finding, _shape(mask)), mask) > OVERLAP


def _unbounded(finding: Finding, mask: Mask) -> bool:
    return mask_overlap(detected(finding, _shape(mask), np.inf), mask) > OVERLAP


def _largest_region(finding: Finding, mask: Mask) -> bool:
    """Look only at the region of the largest value; among several, at the one with the most patches."""
    values = np.minimum(finding.values, LARGEST)
    regions = find_regions(values, _level(finding, values))
    return bool(regions) and mask_overlap(pixels_of(regions[0].on(values.shape), mask.shape), mask) > OVERLAP


def _boxes(finding: Finding, mask: Mask) -> bool:
    return box_overlap(box_about(detected(finding, _shape(mask))), box_about(mask)) > OVERLAP


def _spread_to_pixels(finding: Finding, mask: Mask) -> bool:
    """Give each pixel the mean of the patches over it, and look at the pixels that reach the level."""
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
"""Ways to decide whether a detection is right; the tables use the first."""


def readings_of(finding: Finding, mask: Mask | None) -> dict[str, bool]:
    """Return whether the detection in a defective image is right, for every reading."""
    if mask is None:
        raise ValueError("A defective image has no mask.")
    return {reading: is_right(finding, mask) for reading, is_right in READINGS.items()}


def _shape(mask: Mask) -> tuple[int, int]:
    height, width = mask.shape
    return height, width
