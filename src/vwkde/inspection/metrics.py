"""How well an inspection did, where it is known which images and which pixels are defective.

Images are judged by one score each: ROC curve and the area under it, precision–recall curve and average precision.

Pixels are judged by maps of scores against masks: the area under the ROC curve of all pixels, and AUPRO, the mean share
of a defective region that is found, against the share of good pixels that are called defective, averaged from none of
these up to 0.3 (Bergmann and others, "The MVTec anomaly detection dataset", IJCV 129, 2021). Maps need not be kept:
`count_pixels` reduces each one to counts per bin of the score, and `PixelTally` joins the counts of all images. A bin
holds the scores that agree in single precision with a mantissa of 9 bits, so that its width is at most 1/512 of the
score, whatever the range of scores. Pixels in one bin count as ties, half right and half wrong; `pixel_auroc_error` and
`aupro_error` tell how much this can change a measure at most.

Detections, boxes or masks with a confidence, are judged by the average precision of the PASCAL VOC challenge
(Everingham and others, IJCV 88, 2010).

Intervals for all of these come from `bootstrap_interval`, which draws images anew, since pixels and detections of one
image are not independent.
"""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import trapezoid
from scipy.ndimage import label
from scipy.sparse import csr_array
from sklearn import metrics as sklearn_metrics

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
Box = tuple[float, float, float, float]
"""Top, left, bottom and right in pixels; the last two lie just outside, as in slices and in scikit-image."""

OVERLAP = 0.1
"""A detection is right if its intersection with a defect is more than this part of their union, as in the paper."""

PRO_LIMIT = 0.3
"""AUPRO looks at thresholds that call at most this share of good pixels defective."""

_CODE_BITS = 18
"""Bits of a score that tell its bin: sign, exponent, and 9 of the mantissa."""

_DRAWS_PER_REPETITION = 10
"""Draws of images that may be tried for each that can be used."""


class UndefinedMeasureError(ValueError):
    """A measure has no value, since there are no good or no defective images, pixels or regions."""


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
    return RocCurve(*sklearn_metrics.roc_curve(*_check_images(defective, scores)))


def image_auroc(defective: ArrayLike, scores: ArrayLike) -> float:
    """Return how likely a defective image has a higher score than a good one."""
    return float(sklearn_metrics.roc_auc_score(*_check_images(defective, scores)))


def precision_recall_curve(defective: ArrayLike, scores: ArrayLike) -> PrecisionRecallCurve:
    """Return the precision–recall curve of images, given which are defective."""
    return PrecisionRecallCurve(*sklearn_metrics.precision_recall_curve(*_check_images(defective, scores)))


def image_average_precision(defective: ArrayLike, scores: ArrayLike) -> float:
    """Return the mean precision over the recalls of the defective images, without interpolation."""
    return float(sklearn_metrics.average_precision_score(*_check_images(defective, scores)))


@dataclass(frozen=True, eq=False)
class PixelCounts:
    """Pixels of one image by the bin of their score: good ones, defective ones, and shares of defective regions."""

    bins: NDArray[np.int32]
    good: NDArray[np.int32]
    defective: NDArray[np.int32]
    overlap: Floats
    regions: int


def count_pixels(scores: NDArray[Any], mask: Mask | None = None) -> PixelCounts:
    """Count the pixels of a map of scores, given which are defective (by default none).

    Defective pixels that touch, also at a corner, are one region.
    """
    scores = np.asarray(scores)
    mask = np.zeros(scores.shape, bool) if mask is None else np.asarray(mask).astype(bool)
    if scores.ndim != 2 or scores.shape != mask.shape:
        raise ValueError(f"Map and mask must be images of one shape. Got {scores.shape} and {mask.shape} instead.")
    if not np.isfinite(scores).all():
        raise ValueError("The scores of a map must be finite numbers.")
    codes = _bins(scores)
    regions, count = label(mask, structure=np.ones((3, 3)))
    region = regions[mask]
    share = 1 / np.bincount(region, minlength=1)[region]
    good = np.bincount(codes[~mask], minlength=2**_CODE_BITS)
    defective = np.bincount(codes[mask], minlength=2**_CODE_BITS)
    found = np.bincount(codes[mask], weights=share, minlength=2**_CODE_BITS).astype(float)
    bins = np.flatnonzero(good + defective)
    return PixelCounts(
        bins.astype(np.int32), good[bins].astype(np.int32), defective[bins].astype(np.int32), found[bins], count
    )


@dataclass(frozen=True, eq=False)
class PixelTally:
    """Counts of the pixels of several images; an image can count more than once."""

    good: csr_array
    defective: csr_array
    overlap: csr_array
    regions: NDArray[np.intp]
    times: NDArray[np.intp]

    @classmethod
    def of(cls, counts: Iterable[PixelCounts]) -> "PixelTally":
        """Join the counts of images."""
        images = list(counts)
        if not images:
            raise UndefinedMeasureError("There are no images to judge the pixels of.")
        bins, column = np.unique(np.concatenate([image.bins for image in images]), return_inverse=True)
        start = np.cumsum([0, *(len(image.bins) for image in images)])
        shape = len(images), len(bins)

        def matrix(values: list[NDArray[Any]]) -> csr_array:
            counts = csr_array((np.concatenate(values).astype(float), column, start), shape, copy=True)
            counts.eliminate_zeros()
            return counts

        return cls(
            matrix([image.good for image in images]),
            matrix([image.defective for image in images]),
            matrix([image.overlap for image in images]),
            np.array([image.regions for image in images]),
            np.ones(len(images), np.intp),
        )

    def __len__(self) -> int:
        """Return the number of images."""
        return int(self.times.sum())

    def take(self, images: ArrayLike) -> "PixelTally":
        """Return the tally of some of the images, each as often as its index is given."""
        places = np.repeat(np.arange(len(self.times)), self.times)[np.asarray(images)]
        return replace(self, times=np.bincount(places, minlength=len(self.times)))


def pixel_auroc(tally: PixelTally) -> float:
    """Return how likely a defective pixel has a higher score than a good one."""
    good, defective = _both_kinds(tally)
    return float(defective @ (np.cumsum(good) - good / 2) / (defective.sum() * good.sum()))


def pixel_auroc_error(tally: PixelTally) -> float:
    """Return by how much `pixel_auroc` can differ from its value without bins, at most."""
    good, defective = _both_kinds(tally)
    return float(defective @ good / (2 * defective.sum() * good.sum()))


def pro_curve(tally: PixelTally) -> tuple[Floats, Floats]:
    """Return the share of good pixels called defective, and the mean share of a region found, as thresholds fall."""
    good = _total(tally, tally.good)
    found = _total(tally, tally.overlap)
    regions = tally.times @ tally.regions
    if not good.sum() or not regions:
        raise UndefinedMeasureError("AUPRO needs good pixels and at least one defective region.")
    return _accumulated(good) / good.sum(), np.minimum(_accumulated(found) / regions, 1)


def aupro(tally: PixelTally, limit: float = PRO_LIMIT) -> float:
    """Return the mean share of a region found, averaged over the shares of good pixels up to a limit."""
    false_positives, found = _up_to(limit, *pro_curve(tally))
    return float(trapezoid(found, false_positives) / limit)


def aupro_error(tally: PixelTally, limit: float = PRO_LIMIT) -> float:
    """Return by how much `aupro` can differ from its value without bins, at most."""
    false_positives, found = pro_curve(tally)
    reached = np.searchsorted(false_positives, _check_limit(limit)) + 1
    return float(np.diff(false_positives[:reached]) @ np.diff(found[:reached]) / (2 * limit))


@dataclass(frozen=True, eq=False)
class Detection:
    """What was found in an image: a mask or a box, and how sure one is that it is a defect."""

    image: int
    confidence: float
    region: Mask | Box


@dataclass(frozen=True, eq=False)
class Defect:
    """What there is to find in an image: a mask or a box."""

    image: int
    region: Mask | Box


class Matches(NamedTuple):
    """The detections of one image, whether each is right, and how many defects the image has."""

    confidence: Floats
    right: Mask
    defects: int


def overlap(first: Mask | Box, second: Mask | Box) -> float:
    """Return the intersection of two regions over their union; a box against a mask holds the pixels centred in it."""
    if isinstance(first, tuple) and isinstance(second, tuple):
        common = _area(_common_box(first, second))
        union = _area(first) + _area(second) - common
    else:
        one, other = _as_mask(first, second), _as_mask(second, first)
        if one.shape != other.shape:
            raise ValueError(f"Masks must have one shape. Got {one.shape} and {other.shape} instead.")
        common, union = float(np.count_nonzero(one & other)), float(np.count_nonzero(one | other))
    return common / union if union else 0.0


def match_detections(
    detections: Iterable[Detection], defects: Iterable[Defect], images: int, least_overlap: float = OVERLAP
) -> list[Matches]:
    """Tell for each image which of its detections are right.

    A detection belongs to the defect that it overlaps most. It is right if that overlap is above `least_overlap` and no
    other found the defect with a higher confidence: of two detections of one defect the second is wrong.
    """
    if not 0 <= least_overlap < 1:
        raise ValueError(f"The least overlap must be at least 0 and below 1. Got {least_overlap} instead.")
    found: list[list[Detection]] = [[] for _ in range(images)]
    present: list[list[Defect]] = [[] for _ in range(images)]
    for detection in detections:
        if not np.isfinite(detection.confidence):
            raise ValueError(f"Confidences must be finite numbers. Got {detection.confidence} instead.")
        found[_check_index(detection.image, images)].append(detection)
    for defect in defects:
        present[_check_index(defect.image, images)].append(defect)
    return [_match_image(*image, least_overlap) for image in zip(found, present, strict=True)]


def detection_average_precision(
    matches: Sequence[Matches], form: Literal["all-point", "eleven-point"] = "all-point"
) -> float:
    """Return the average precision of detections as in the PASCAL VOC challenge.

    The precision at a recall is the best one at this recall or a higher one. It is averaged over all recalls (the
    challenge's rule since 2010), or over the recalls 0, 0.1, …, 1 (before). Detections of equal confidence count
    together, so that their order is of no account.
    """
    if form not in ("all-point", "eleven-point"):
        raise ValueError(f"The 'form' parameter must be 'all-point' or 'eleven-point'. Got {form!r} instead.")
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
    right = right[last_of_equals]
    best = np.maximum.accumulate(precision[::-1])[::-1]
    if form == "all-point":
        return float(np.diff(right, prepend=0) @ best / defects)
    first = np.searchsorted(10 * right, np.arange(11) * defects)
    return float(np.append(best, 0)[first].mean())


def bootstrap_interval(
    statistic: Callable[..., float],
    *per_image: Any,
    repetitions: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[float, float]:
    """Return the percentile interval of a measure under draws of as many images, with repetition, as there are.

    `statistic` is one of the functions above, or any other; each of `per_image` has one entry per image: an array, a
    sequence, or a `PixelTally`. Draws for which the measure has no value, as when all images are good, are drawn again.
    """
    lengths = {len(values) for values in per_image}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"All arguments must have one entry per image. Got lengths {sorted(lengths)} instead.")
    if not 0 < level < 1 or repetitions < 1:
        raise ValueError(f"Got level {level} and {repetitions} repetitions; needed: 0 < level < 1, repetitions ≥ 1.")
    statistic(*per_image)
    (count,) = lengths
    rng = np.random.default_rng(seed)
    values: list[float] = []
    for _ in range(_DRAWS_PER_REPETITION * repetitions):
        images = rng.integers(count, size=count)
        with suppress(UndefinedMeasureError):
            values.append(float(statistic(*(_take(entries, images) for entries in per_image))))
        if len(values) == repetitions:
            low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
            return float(low), float(high)
    raise UndefinedMeasureError("Too few draws of images hold both good and defective ones; give more of both.")


def _check_images(defective: ArrayLike, scores: ArrayLike) -> tuple[Mask, Floats]:
    defective, scores = np.asarray(defective), np.asarray(scores, float)
    if defective.ndim != 1 or defective.shape != scores.shape:
        raise ValueError(f"Labels and scores must be one per image. Got {defective.shape} and {scores.shape} instead.")
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


def _bins(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the bins of scores: the leading bits of single-precision numbers, which sort as the numbers do."""
    largest = np.finfo(np.float32).max
    bits = (np.clip(scores, -largest, largest).astype(np.float32) + np.float32(0)).view(np.uint32)
    sign = np.uint32(2**31)
    ascending = np.where(bits & sign, ~bits, bits | sign)
    return (ascending >> np.uint32(32 - _CODE_BITS)).astype(np.intp)


def _total(tally: PixelTally, counts: csr_array) -> Floats:
    return np.asarray(counts.T @ tally.times.astype(float))


def _both_kinds(tally: PixelTally) -> tuple[Floats, Floats]:
    """Return the numbers of good and of defective pixels in each bin."""
    good, defective = _total(tally, tally.good), _total(tally, tally.defective)
    if not good.sum() or not defective.sum():
        raise UndefinedMeasureError("The AUROC of pixels needs good and defective pixels.")
    return good, defective


def _accumulated(counts: Floats) -> Floats:
    """Return how many are at or above each bin, from none in the highest down to all."""
    return np.append(0, np.cumsum(counts[::-1]))


def _check_limit(limit: float) -> float:
    if not 0 < limit <= 1:
        raise ValueError(f"The limit must be above 0 and at most 1. Got {limit} instead.")
    return limit


def _up_to(limit: float, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a rising curve cut off at a limit of x."""
    inside = x < _check_limit(limit)
    return np.append(x[inside], limit), np.append(y[inside], np.interp(limit, x, y))


def _match_image(detections: list[Detection], defects: list[Defect], least_overlap: float) -> Matches:
    detections = sorted(detections, key=lambda detection: -detection.confidence)
    right = np.zeros(len(detections), bool)
    taken: set[int] = set()
    for index, detection in enumerate(detections):
        overlaps = [overlap(detection.region, defect.region) for defect in defects]
        best = int(np.argmax(overlaps)) if overlaps else -1
        right[index] = best >= 0 and overlaps[best] > least_overlap and best not in taken
        if right[index]:
            taken.add(best)
    return Matches(np.array([detection.confidence for detection in detections], float), right, len(defects))


def _check_index(image: int, images: int) -> int:
    if not 0 <= image < images:
        raise ValueError(f"Image indices must be from 0 to {images - 1}. Got {image} instead.")
    return image


def _common_box(first: Box, second: Box) -> Box:
    top, left = max(first[0], second[0]), max(first[1], second[1])
    return top, left, min(first[2], second[2]), min(first[3], second[3])


def _area(box: Box) -> float:
    top, left, bottom, right = box
    return max(bottom - top, 0) * max(right - left, 0)


def _as_mask(region: Mask | Box, other: Mask | Box) -> Mask:
    """Return a region as a mask of the other's shape; one of the two is a mask."""
    if not isinstance(region, tuple):
        return np.asarray(region, bool)
    rows, columns = (np.arange(size) + 0.5 for size in np.shape(other))
    top, left, bottom, right = region
    return np.outer((rows >= top) & (rows < bottom), (columns >= left) & (columns < right))


def _take(entries: Any, images: NDArray[np.intp]) -> Any:
    if isinstance(entries, np.ndarray):
        return entries[images]
    if isinstance(entries, PixelTally):
        return entries.take(images)
    return [entries[image] for image in images]
