"""Detected regions against defective ones: the average precision of the PASCAL VOC challenge.

(Everingham and others, IJCV 88, 2010.)
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, SupportsInt

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.model.regions import Box, Region

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

OVERLAP = 0.1
"""A detection is right if its intersection over union with a defect exceeds this, as in the paper."""


class Matches(NamedTuple):
    """The confidence of each detection in one image, whether it is right, and the number of defects in the image."""

    confidence: Floats
    right: Mask
    defects: int


def mask_overlap(first: Mask, second: Mask) -> float:
    """Return the intersection of two masks of one image over their union."""
    if first.shape != second.shape:
        raise ValueError(f"Masks must have one shape. Got {first.shape} and {second.shape} instead.")
    return _of_union(np.count_nonzero(first & second), np.count_nonzero(first), np.count_nonzero(second))


def box_overlap(first: Box, second: Box) -> float:
    """Return the intersection of two boxes over their union."""
    return _of_union(first.common(second).area, first.area, second.area)


def region_overlap(first: Region, second: Region) -> float:
    """Return the intersection of two regions over their union."""
    box = first.box.common(second.box)
    if not box.area:
        return 0.0
    common = np.count_nonzero(first.within(box) & second.within(box))
    return _of_union(common, np.count_nonzero(first.mask), np.count_nonzero(second.mask))


def match_detections(detections: Iterable[Region], defects: Sequence[Region]) -> Matches:
    """Return which of an image's detections are right; the confidence of each is its peak.

    A detection belongs to the defect that it overlaps most. It is right if that overlap is large enough and no other
    detection of the defect has a higher confidence: the second of two detections of one defect is wrong.
    """
    detections = sorted(detections, key=lambda region: -region.peak)
    right = np.zeros(len(detections), bool)
    taken: set[int] = set()
    for index, detection in enumerate(detections):
        overlaps = [region_overlap(detection, defect) for defect in defects]
        best = int(np.argmax(overlaps)) if overlaps else -1
        right[index] = best >= 0 and overlaps[best] > OVERLAP and best not in taken
        if right[index]:
            taken.add(best)
    return Matches(np.array([detection.peak for detection in detections], float), right, len(defects))


def detection_average_precision(matches: Sequence[Matches]) -> float:
    """Return the average precision of detections as in the PASCAL VOC challenge.

    The precision at a recall is the best one at this recall or a higher one, and is averaged over all recalls (the
    challenge's rule since 2010). Detections of equal confidence count together, so that their order does not matter.
    """
    defects = sum(image.defects for image in matches)
    if not defects:
        raise UndefinedMeasureError("The average precision of detections needs at least one defect.")
    confidence = np.concatenate([image.confidence for image in matches])
    if not len(confidence):
        return 0.0
    order = np.argsort(-confidence, kind="stable")
    last_of_equals = np.append(np.diff(confidence[order]) != 0, True)
    right = np.cumsum(np.concatenate([image.right for image in matches])[order])
    precision = (right / np.arange(1, len(right) + 1))[last_of_equals]
    best = np.maximum.accumulate(precision[::-1])[::-1]
    return float(np.diff(right[last_of_equals], prepend=0) @ best / defects)


def _of_union(common: SupportsInt, first: SupportsInt, second: SupportsInt) -> float:
    union = int(first) + int(second) - int(common)
    return int(common) / union if union else 0.0
