"""Maps of scores against masks: the area under the ROC curve of all pixels, and AUPRO.

AUPRO is the mean share of a defective region that is found, as a function of the share of good pixels that are called
defective, averaged from 0 to 0.3 (Bergmann and others, "The MVTec anomaly detection dataset", IJCV 129, 2021).

Maps are not stored: `count_pixels` reduces each map to counts per bin of the score, and `PixelTally` combines the
counts of all images. A bin contains the scores that agree in single precision with a mantissa of 9 bits, so its width
is at most 1/512 of the score, whatever the range of scores. Pixels in one bin count as ties: half right, half wrong.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.integrate import trapezoid
from scipy.ndimage import label
from scipy.sparse import csr_array

from vwkde.inspection.metrics import UndefinedMeasureError

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

PRO_LIMIT = 0.3
"""AUPRO covers the thresholds that call at most this share of good pixels defective."""

_CODE_BITS = 18
"""Bits of a score that determine its bin: sign, exponent, and 9 of the mantissa."""


@dataclass(frozen=True, eq=False)
class PixelCounts:
    """Pixels of one image per bin of the score: good ones, defective ones, and shares of defective regions."""

    bins: NDArray[np.int32]
    good: NDArray[np.int32]
    defective: NDArray[np.int32]
    overlap: Floats
    regions: int


def count_pixels(scores: NDArray[Any], mask: Mask | None = None) -> PixelCounts:
    """Count the pixels of a map of scores; the mask says which are defective (by default none).

    Defective pixels that touch, even at a corner, are one region.
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
    overlap = np.bincount(codes[mask], weights=share, minlength=2**_CODE_BITS).astype(float)
    bins = np.flatnonzero(good + defective)
    return PixelCounts(
        bins.astype(np.int32), good[bins].astype(np.int32), defective[bins].astype(np.int32), overlap[bins], count
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
        """Combine the counts of images."""
        images = list(counts)
        if not images:
            raise UndefinedMeasureError("There are no images whose pixels can be evaluated.")
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
        """Return the tally of some of the images; an index that is given twice counts twice."""
        places = np.repeat(np.arange(len(self.times)), self.times)[np.asarray(images)]
        return replace(self, times=np.bincount(places, minlength=len(self.times)))


def pixel_auroc(tally: PixelTally) -> float:
    """Return the probability that a defective pixel has a higher score than a good one."""
    good, defective = _both_kinds(tally)
    return float(defective @ (np.cumsum(good) - good / 2) / (defective.sum() * good.sum()))


def pro_curve(tally: PixelTally) -> tuple[Floats, Floats]:
    """Return the share of good pixels called defective and the mean share of a region found, for falling thresholds."""
    good = _total(tally, tally.good)
    found = _total(tally, tally.overlap)
    regions = tally.times @ tally.regions
    if not good.sum() or not regions:
        raise UndefinedMeasureError("AUPRO needs good pixels and at least one defective region.")
    return _accumulated(good) / good.sum(), np.minimum(_accumulated(found) / regions, 1)


def aupro(tally: PixelTally) -> float:
    """Return the mean share of a region found, averaged over shares of good pixels from 0 to the limit."""
    false_positives, found = pro_curve(tally)
    inside = false_positives < PRO_LIMIT
    x = np.append(false_positives[inside], PRO_LIMIT)
    y = np.append(found[inside], np.interp(PRO_LIMIT, false_positives, found))
    return float(trapezoid(y, x) / PRO_LIMIT)


def _bins(scores: NDArray[Any]) -> NDArray[np.intp]:
    """Return the bins of scores: the leading bits of single-precision numbers, which sort like the numbers."""
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
    """Return the number of pixels at or above each bin, from 0 above the highest bin to all."""
    return np.append(0, np.cumsum(counts[::-1]))
