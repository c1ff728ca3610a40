"""One score per image: ROC curve and the area under it, precision–recall curve and average precision.

scikit-learn is loaded when the first of them is asked for: checks, which need none, do not wait for it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vwkde.inspection.metrics import UndefinedMeasureError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


class RocCurve(NamedTuple):
    """Shares of good and of defective images at or above each threshold; the first threshold is infinite."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    thresholds: Floats


class PrecisionRecallCurve(NamedTuple):
    """Precision and recall of the images at or above each threshold, and a last point (1, 0) without threshold."""

    precision: Floats
    recall: Floats
    thresholds: Floats


def roc_curve(defective: ArrayLike, scores: ArrayLike) -> RocCurve:
    """Return the ROC curve of images, given which are defective."""
    from sklearn import metrics

    return RocCurve(*metrics.roc_curve(*_check_images(defective, scores)))


def image_auroc(defective: ArrayLike, scores: ArrayLike) -> float:
    """Return the probability that a defective image has a higher score than a good one."""
    from sklearn import metrics

    return float(metrics.roc_auc_score(*_check_images(defective, scores)))


def precision_recall_curve(defective: ArrayLike, scores: ArrayLike) -> PrecisionRecallCurve:
    """Return the precision–recall curve of images, given which are defective."""
    from sklearn import metrics

    return PrecisionRecallCurve(*metrics.precision_recall_curve(*_check_images(defective, scores)))


def image_average_precision(defective: ArrayLike, scores: ArrayLike) -> float:
    """Return the average precision of the defective images, without interpolation."""
    from sklearn import metrics

    return float(metrics.average_precision_score(*_check_images(defective, scores)))


def _check_images(defective: ArrayLike, scores: ArrayLike) -> tuple[Mask, Floats]:
    defective, scores = np.asarray(defective), np.asarray(scores, float)
    if defective.ndim != 1 or defective.shape != scores.shape:
        raise ValueError(f"Give one label and one score per image. Got {defective.shape} and {scores.shape} instead.")
    if not np.isin(defective, (0, 1)).all():
        raise ValueError("Labels must be true for defective images and false for good ones.")
    if not np.isfinite(scores).all():
        raise ValueError("The scores of images must be finite numbers.")
    defective = defective.astype(bool)
    if defective.all() or not defective.any():
        kind = "defective" if defective.any() else "good"
        raise UndefinedMeasureError(
            f"All {len(defective)} images are {kind}; the measure needs good and defective ones."
        )
    return defective, scores
