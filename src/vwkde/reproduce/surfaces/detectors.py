"""Ways to tell a defective image from good ones by its patches: the rows of tables 1 and 2.

A detector is built from the patches of good images, in coordinates where their covariance is the identity. For the
patches of another image it returns a score, larger for a defective image, and a value for each patch, larger where the
defect is.

vwkde, kde, nn-1, nn-10, nnwang
    Estimates of the KL divergence of the image from every good one. The score is the smallest of them; the values are
    the log ratios of the patches against that good image. `vwkde` first selects candidates among all good images by
    plain estimates, as in the paper; the others are computed for every good image.
mmd
    The smallest squared maximum mean discrepancy (unbiased, with a Gaussian kernel as wide as the median distance
    between patches of two good images); the values are the witness function against that good image.
osvm
    A one-class support vector machine on patches of all good images. The values say how far a patch is outside; the
    score is their mean over the patches of the image.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vwkde._fit.bandwidth import select_bandwidth
from vwkde._runtime.lazy import lazy
from vwkde.baselines.kernel_density import plain_estimate
from vwkde.baselines.nearest import Balls, compare_balls
from vwkde.inspection.model.learnt.library import Library, make_library, mean_length_scale, sampled_images
from vwkde.reproduce.surfaces.pairs import common_balls, kernel_means, neighbour_distances

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

CANDIDATES = 10
"""Good images for which weighted estimates are computed."""
_SVM_ROWS = 5_000
"""Patches on which the support vector machine is fitted."""
_SVM_OUTLIERS = 0.1
"""Share of the patches that the machine may leave outside."""
_LEAST_DISTANCE = np.float32(1e-6)
"""Smaller distances count as this: the ball between equal patches would have no volume."""


@dataclass(frozen=True)
class Finding:
    """The result of a method for an image: a score, and values of its patches or of its pixels.

    With `level`, the detection is all that reaches it, which may be nothing. Without it, the detection is all that
    reaches a share of the largest value.
    """

    score: float
    values: Floats
    level: float | None = None


class Detector(Protocol):
    """Judges an image by its patches, (patches, columns)."""

    def __call__(self, patches: Singles) -> Finding:
        """Return the score of the image and a value for each patch."""


@dataclass(frozen=True)
class Weighted:
    """The paper's method."""

    library: Library

    def __call__(self, patches: Singles) -> Finding:
        """Return the smallest divergence and the log ratios."""
        comparison = self.library.compare(patches)
        return Finding(comparison.score, comparison.log_ratio)


@dataclass(frozen=True)
class Plain:
    """The same by plain kernel estimates."""

    library: Library

    def __call__(self, patches: Singles) -> Finding:
        """Return the smallest divergence and the log ratios."""
        nearest = self.library.patches[int(np.argmin(self.library.plain_divergences(patches)))]
        own, other = (plain_estimate(each, self.library.bandwidth) for each in (patches, nearest))
        log_ratio = own.left_out() - other.log_density(patches)
        return Finding(float(log_ratio.mean()), log_ratio)


@dataclass(frozen=True)
class Neighbours:
    """Divergences by the distances to the k-th neighbours."""

    good: Singles
    k: int

    def __call__(self, patches: Singles) -> Finding:
        """Return the smallest divergence and the log ratios."""
        own = Balls(_own_distances(patches)[:, self.k - 1].astype(np.float64), np.array(self.k))
        reach = np.maximum(neighbour_distances(patches, self.good, self.k), _LEAST_DISTANCE).astype(np.float64)
        return _smallest(own, Balls(reach, np.array(self.k)), patches, self.good)


@dataclass(frozen=True)
class CommonBalls:
    """Divergences by balls of one radius in both images."""

    good: Singles

    def __call__(self, patches: Singles) -> Finding:
        """Return the smallest divergence and the log ratios."""
        radius, counts = common_balls(patches, _own_distances(patches), self.good)
        own, other = (Balls(np.maximum(radius[at], _LEAST_DISTANCE).astype(np.float64), counts[at]) for at in (0, 1))
        return _smallest(own, other, patches, self.good)


@dataclass(frozen=True)
class Discrepancy:
    """The squared maximum mean discrepancy."""

    good: Singles
    width: float

    def __call__(self, patches: Singles) -> Finding:
        """Return the smallest discrepancy and the witness function."""
        across = kernel_means(patches, self.good, self.width)
        squared = _mean_within(patches, self.width) + self._within - 2 * across
        nearest = int(np.argmin(squared))
        return Finding(float(squared[nearest]), self._witness(patches, self.good[nearest].T))

    def _witness(self, patches: Singles, other: Singles) -> Floats:
        own, across = plain_estimate(patches, self.width), plain_estimate(np.ascontiguousarray(other), self.width)
        return np.exp(own.left_out() - own.log_peak) - np.exp(across.log_density(patches) - across.log_peak)

    @lazy
    def _within(self) -> Floats:
        return np.array([_mean_within(image.T, self.width) for image in self.good])


@dataclass(frozen=True)
class Outside:
    """A one-class support vector machine."""

    machine: Any

    def __call__(self, patches: Singles) -> Finding:
        """Return the mean distance to the machine's surface, and that of every patch, positive outside."""
        values = -self.machine.decision_function(patches)
        return Finding(float(values.mean()), values)


def _fit_weighted(good: Singles, seed: int) -> Detector:
    return Weighted(make_library(good, CANDIDATES, seed))


def _fit_plain(good: Singles, seed: int) -> Detector:
    """Return plain estimates with the paper's bandwidth: that of the largest likelihood on the whole image."""
    some = sampled_images(good, seed)
    widths = [select_bandwidth(image, "likelihood", random_state=seed) for image in some]
    return Plain(Library(good, float(np.exp(np.mean(np.log(widths)))), 1.0, 1))


def _fit_neighbours(good: Singles, seed: int, k: int) -> Detector:
    del seed
    return Neighbours(_transposed(good), k)


def _fit_common_balls(good: Singles, seed: int) -> Detector:
    del seed
    return CommonBalls(_transposed(good))


def _fit_discrepancy(good: Singles, seed: int) -> Detector:
    return Discrepancy(_transposed(good), mean_length_scale(sampled_images(good, seed)))


def _fit_outside(good: Singles, seed: int) -> Detector:
    from sklearn.svm import OneClassSVM

    rows = good.reshape(-1, good.shape[2])
    chosen = np.random.default_rng(seed).permutation(len(rows))[:_SVM_ROWS]
    return Outside(OneClassSVM(nu=_SVM_OUTLIERS).fit(rows[np.sort(chosen)]))


DETECTORS: dict[str, Callable[[Singles, int], Detector]] = {
    "vwkde": _fit_weighted,
    "kde": _fit_plain,
    "nn-1": partial(_fit_neighbours, k=1),
    "nn-10": partial(_fit_neighbours, k=10),
    "nnwang": _fit_common_balls,
    "mmd": _fit_discrepancy,
    "osvm": _fit_outside,
}
"""How each detector is made from good images' patches, (images, patches, columns), and a seed."""


def _smallest(own: Balls, other: Balls, patches: Singles, good: Singles) -> Finding:
    """Return the smallest divergence, estimated from balls in the image and in every good one."""
    rows = len(patches) - 1, good.shape[2]
    log_ratios = compare_balls(own, other, rows, patches.shape[1])
    divergences = log_ratios.mean(axis=1)
    nearest = int(np.argmin(divergences))
    return Finding(float(divergences[nearest]), log_ratios[nearest])


def _own_distances(patches: Singles) -> Singles:
    """Return the distances of every patch to the others of its image, in order."""
    distances = np.sort(cdist(patches, patches), axis=1)[:, 1:]
    return np.maximum(distances.astype(np.float32), _LEAST_DISTANCE)


def _mean_within(patches: Singles, width: float) -> float:
    """Return the mean kernel over the pairs of different patches of an image."""
    rows = np.ascontiguousarray(patches)
    total = kernel_means(rows, _transposed(rows[None]), width)[0] * len(rows) ** 2
    return float((total - len(rows)) / (len(rows) * (len(rows) - 1)))


def _transposed(good: Singles) -> Singles:
    return np.ascontiguousarray(good.transpose(0, 2, 1))
