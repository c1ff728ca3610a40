"""Labelled images, collected one by one and then evaluated.

Labels are only compared with the results; they do not affect the scores, the maps or the threshold.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.progress import track
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.metrics.bootstrap import bootstrap_interval
from vwkde.inspection.metrics.detections import Matches, detection_average_precision, match_detections
from vwkde.inspection.metrics.images import (
    image_auroc,
    image_average_precision,
    precision_recall_curve,
    roc_curve,
)
from vwkde.inspection.metrics.pixels import PixelCounts, PixelTally, aupro, count_pixels, pixel_auroc
from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.model.regions import find_regions
from vwkde.inspection.runs.evaluation import DIGITS, LEVEL, Evaluation, Measure, Share

Mask = NDArray[np.bool_]

_REPETITIONS = 1_000
"""Bootstrap repetitions per interval."""


class Evaluator:
    """Collects labelled images; it keeps counts, not pixels."""

    def __init__(self, stated_rate: float) -> None:
        self._stated_rate = stated_rate
        self._defective: list[bool] = []
        self._rejected: list[bool] = []
        self._scores: list[float] = []
        self._kinds: list[str] = []
        self._pixels: list[PixelCounts] = []
        self._matches: list[Matches] = []

    def add(self, item: Item, result: Inspection, mask: Mask | None) -> None:
        """Add an image; a defective one without a mask is left out of the measures of pixels."""
        self._defective.append(bool(item.defective))
        self._rejected.append(result.rejected)
        self._scores.append(result.score)
        self._kinds.append(PurePosixPath(item.name).parent.name)
        if mask is not None or not item.defective:
            mask = np.zeros(result.log_ratio.shape, bool) if mask is None else mask
            self._pixels.append(count_pixels(result.log_ratio, mask))
            # the confidence of a detection is its own largest value
            self._matches.append(match_detections(result.outlines, find_regions(mask.astype(np.float64), 1.0)))

    def evaluate(self) -> Evaluation:
        """Return the evaluation of all images so far."""
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
        measures = []
        for name, title, statistic, per_image in track(wanted, "drawing intervals", len(wanted)):
            with suppress(UndefinedMeasureError):
                interval = bootstrap_interval(statistic, *per_image, repetitions=_REPETITIONS, level=LEVEL)
                figures = (round(figure, DIGITS) for figure in (statistic(*per_image), *interval))
                measures.append(Measure(name, title, *figures))
        return tuple(measures)


def _share(rejected: Mask, chosen: Mask) -> Share | None:
    return Share(int(rejected[chosen].sum()), int(chosen.sum())) if chosen.any() else None
