"""How well an inspection did on labelled images, gathered image by image.

Labels are compared with what was found; they have no part in the scores, the maps or the threshold.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from vwkde._runtime.progress import track
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.metrics.bootstrap import bootstrap_interval
from vwkde.inspection.metrics.detections import Matches, detection_average_precision, match_detections
from vwkde.inspection.metrics.images import (
    PrecisionRecallCurve,
    RocCurve,
    image_auroc,
    image_average_precision,
    precision_recall_curve,
    roc_curve,
)
from vwkde.inspection.metrics.pixels import PixelCounts, PixelTally, aupro, count_pixels, pixel_auroc
from vwkde.inspection.model.inspector import Inspection
from vwkde.inspection.model.regions import find_regions, near_peak

Mask = NDArray[np.bool_]

LEVEL = 0.95
"""Probability of all intervals."""
GOOD, DEFECTIVE = "good", "defective"
"""Labels of images in tables."""
_REPETITIONS = 1_000
"""Draws of images for an interval."""
_PART_OF_PEAK = 0.5
"""A defect is said to be where the map exceeds this part of its largest value.

The paper takes 0.9, which is but a small part of a large defect: too little of it to count as found.
"""
_DIGITS = 6
"""Digits of measures that are kept."""


@dataclass(frozen=True)
class Measure:
    """A figure of merit, the larger the better, with its interval."""

    name: str
    title: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Share:
    """So many of so many, with the exact binomial interval (Clopper and Pearson) of the rate behind it."""

    count: int
    of: int

    @property
    def rate(self) -> float:
        """The share itself."""
        return self.count / self.of

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of the rate."""
        found = stats.binomtest(self.count, self.of).proportion_ci(LEVEL, "exact")
        return float(found.low), float(found.high)

    def __str__(self) -> str:
        """Return the two numbers in words."""
        return f"{self.count:,} of {self.of:,}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it."""
        low, high = self.interval
        rates = {"rate": round(self.rate, _DIGITS), "interval": [round(low, _DIGITS), round(high, _DIGITS)]}
        return {"count": self.count, "of": self.of, **rates}


@dataclass(frozen=True)
class Evaluation:
    """What labels say of a run.

    `found` are defective images that were rejected, and `false_rejects` good ones; either is None if there are no such
    images. `by_kind` is `found` for each folder of defective images.
    """

    measures: tuple[Measure, ...]
    found: Share | None
    false_rejects: Share | None
    by_kind: dict[str, Share]
    stated_rate: float
    without_mask: int
    roc: RocCurve | None
    precision_recall: PrecisionRecallCurve | None

    @property
    def confusion(self) -> dict[str, int]:
        """How many images of each kind were rejected, and how many passed."""
        found, false = self.found or Share(0, 0), self.false_rejects or Share(0, 0)
        return {
            "defective_rejected": found.count,
            "defective_passed": found.of - found.count,
            "good_rejected": false.count,
            "good_passed": false.of - false.count,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON holds them."""
        return {
            "level": LEVEL,
            "measures": {each.name: {"value": each.value, "interval": [each.low, each.high]} for each in self.measures},
            "confusion": self.confusion,
            "found": self.found.to_dict() if self.found else None,
            "found_by_kind": {kind: share.to_dict() for kind, share in self.by_kind.items()},
            "false_rejects": self.false_rejects.to_dict() if self.false_rejects else None,
            "stated_false_reject_rate": self.stated_rate,
            "defective_images_without_mask": self.without_mask,
        }


class Evaluator:
    """Gathers labelled images, of which it keeps counts and not the pixels."""

    def __init__(self, stated_rate: float) -> None:
        self._stated_rate = stated_rate
        self._defective: list[bool] = []
        self._rejected: list[bool] = []
        self._scores: list[float] = []
        self._kinds: list[str] = []
        self._pixels: list[PixelCounts] = []
        self._matches: list[Matches] = []

    def add(self, item: Item, found: Inspection, mask: Mask | None) -> None:
        """Take in an image; a defective one without mask does not count where pixels do."""
        self._defective.append(bool(item.defective))
        self._rejected.append(found.rejected)
        self._scores.append(found.score)
        self._kinds.append(PurePosixPath(item.name).parent.name)
        if mask is not None or not item.defective:
            mask = np.zeros(found.log_ratio.shape, bool) if mask is None else mask
            self._pixels.append(count_pixels(found.log_ratio, mask))
            # a detection is where the map comes up to a part of its largest value, and as sure as its own largest
            detections = find_regions(found.log_ratio, near_peak(found.log_ratio, _PART_OF_PEAK))
            self._matches.append(match_detections(detections, find_regions(mask.astype(np.float64), 1.0)))

    def evaluate(self) -> Evaluation:
        """Return what the labels say of all images so far."""
        defective, rejected = np.array(self._defective, bool), np.array(self._rejected, bool)
        kinds = np.array(self._kinds)
        roc = precision_recall = None
        with suppress(UndefinedMeasureError):
            roc = roc_curve(defective, self._scores)
            precision_recall = precision_recall_curve(defective, self._scores)
        of_kind = {kind: defective & (kinds == kind) for kind in dict.fromkeys(kinds[defective].tolist())}
        return Evaluation(
            self._measures(defective),
            _share(rejected, defective),
            _share(rejected, ~defective),
            {kind: Share(int(rejected[chosen].sum()), int(chosen.sum())) for kind, chosen in of_kind.items()},
            self._stated_rate,
            len(defective) - len(self._pixels),
            roc,
            precision_recall,
        )

    def _measures(self, defective: Mask) -> tuple[Measure, ...]:
        scores = np.array(self._scores)
        wanted: list[tuple[str, str, Callable[..., float], tuple[Any, ...]]] = [
            ("image_auroc", "Image AUROC", image_auroc, (defective, scores)),
            ("image_average_precision", "Image AP", image_average_precision, (defective, scores)),
        ]
        if any(each.regions for each in self._pixels):
            tally = PixelTally.of(self._pixels)
            wanted += [
                ("pixel_auroc", "Pixel AUROC", pixel_auroc, (tally,)),
                ("aupro", "AUPRO", aupro, (tally,)),
                ("voc_average_precision", "VOC AP", detection_average_precision, (self._matches,)),
            ]
        found = []
        for name, title, statistic, per_image in track(wanted, "drawing intervals", len(wanted)):
            with suppress(UndefinedMeasureError):
                interval = bootstrap_interval(statistic, *per_image, repetitions=_REPETITIONS, level=LEVEL)
                figures = (round(figure, _DIGITS) for figure in (statistic(*per_image), *interval))
                found.append(Measure(name, title, *figures))
        return tuple(found)


def _share(rejected: Mask, chosen: Mask) -> Share | None:
    return Share(int(rejected[chosen].sum()), int(chosen.sum())) if chosen.any() else None
