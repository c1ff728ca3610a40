"""The patches of good images, and how those of another image compare with them.

The score of an image is the smallest KL divergence of its patches from those of a good image. It takes two passes:
plain kernel estimates against all good images, and the paper's weighted ones against the few nearest of them. The log
ratios of the patches against the nearest good image tell where the image differs.

Features of many columns tell single patches apart. There a small defect shows in a few patches, which a mean over all
of them would drown, and no one good image has a likeness of every patch. So there the score is the mean log ratio of
the worst few patches, against the nearest good images together, by plain kernel estimates.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vwkde import _blocks
from vwkde.bandwidth import select_bandwidth
from vwkde.derivatives.gaussian import fit_gaussian
from vwkde.estimates import EstimatePair
from vwkde.samples import Sample
from vwkde.sums.batches import Batch, make_batch, mean_log_sums, mutual_mean_log_sums
from vwkde.weights import Weight
from vwkde.weights.expansion import fit_expansion, median_length_scale
from vwkde.weights.residual import bias_terms
from vwkde.weights.uniform import UniformWeight

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_BASIS = 200
"""Basis points of the weight: with some hundreds of patches more of them change nothing."""
_RIDGE = 0.1
_SAMPLED_IMAGES = 8
"""Good images that bandwidth and length scale are chosen by."""


@dataclass(frozen=True)
class Comparison:
    """An image against good ones: the smallest divergence, whose image it belongs to, and the patches' log ratios."""

    divergence: float
    nearest: int
    log_ratio: Floats


@dataclass(frozen=True)
class Library:
    """Patches of good images, (images, patches, columns), in coordinates where they have covariance one.

    `candidates` good images are compared closely. `worst` is how many patches make the score; None for all.
    """

    patches: Singles
    bandwidth: float
    length_scale: float
    candidates: int
    worst: int | None = None

    def grown(self, patches: Singles) -> "Library":
        """Return the library with more good images."""
        return replace(self, patches=np.concatenate([self.patches, patches]))

    def compare(self, patches: Singles, n_threads: int | None = None) -> Comparison:
        """Return how an image's patches compare with the library."""
        plain = self.plain_divergences(patches, n_threads)
        return self._refine(patches, np.argsort(plain, kind="stable")[: self.candidates], n_threads)

    def plain_divergences(self, patches: Singles, n_threads: int | None = None) -> Floats:
        """Return the KL divergence of an image from every good one by plain kernel estimates."""
        query = self._batch_of(patches[None])
        own = mutual_mean_log_sums(query, n_threads=n_threads)[0, 0] - np.log(len(patches) - 1)
        return own - (mean_log_sums(query, self._batch, n_threads)[0] - np.log(self.patches.shape[1]))

    def mutual_sums(self, known: Floats | None = None, n_threads: int | None = None) -> Floats:
        """Return the mean log kernel sums between all good images, those known not being computed again."""
        first = 0 if known is None else len(known)
        found = mutual_mean_log_sums(self._batch, first, n_threads)
        if known is not None:
            found[:first, :first] = known
        return found

    def left_out(self, sums: Floats, n_threads: int | None = None) -> list[Comparison]:
        """Return how every good image compares with the others."""
        count = self.patches.shape[1]
        plain = (np.diag(sums)[:, None] - np.log(count - 1)) - (sums - np.log(count))
        np.fill_diagonal(plain, np.inf)
        order = np.argsort(plain, axis=1, kind="stable")[:, : min(self.candidates, len(plain) - 1)]
        found: dict[int, Comparison] = {}

        def work(image: int) -> None:
            found[image] = self._refine(self.patches[image], order[image], 1)

        _blocks.run(work, list(range(len(plain))), "calibration", n_threads)
        return [found[image] for image in range(len(plain))]

    def _refine(self, patches: Singles, candidates: NDArray[np.intp], n_threads: int | None) -> Comparison:
        """Return the comparison with the candidates, nearest first."""
        if self.worst is None:
            return self._nearest(patches, candidates, n_threads)
        return self._together(patches, candidates, self.worst, n_threads)

    def _together(
        self, patches: Singles, candidates: NDArray[np.intp], worst: int, n_threads: int | None
    ) -> Comparison:
        """Return the comparison of the worst patches with all candidates by plain estimates."""
        good = self.patches[candidates].reshape(-1, patches.shape[1])
        log_ratio = self._pair(_sample(patches), _sample(good), UniformWeight(), n_threads).at_numerator.log_ratio
        return Comparison(float(np.sort(log_ratio)[-worst:].mean()), int(candidates[0]), log_ratio)

    def _nearest(self, patches: Singles, candidates: NDArray[np.intp], n_threads: int | None) -> Comparison:
        """Return the comparison with the nearest of the candidates by the paper's weighted estimates."""
        found: dict[int, Floats] = {}
        query = _sample(patches)

        def work(image: int) -> None:
            found[image] = self._log_ratio(query, _sample(self.patches[image]))

        _blocks.run(work, [int(image) for image in candidates], None, n_threads)
        nearest = min(found, key=lambda image: found[image].mean())
        return Comparison(float(found[nearest].mean()), nearest, found[nearest])

    def _log_ratio(self, query: Sample, good: Sample) -> Floats:
        """Return the log ratio at the query's patches, each left out, with the variational weight by Gaussian scores.

        `DensityRatio` would whiten the two samples anew, by their own spread; then a defect, which widens it, would
        bring its own patches nearer to the good ones.
        """
        models = fit_gaussian(query.points, query.weight, "image"), fit_gaussian(good.points, good.weight, "good image")
        points = np.concatenate([query.points, good.points])
        random = np.random.default_rng(0)
        basis = points[np.sort(random.choice(len(points), min(len(points), _BASIS), replace=False))]
        terms = bias_terms(*models, points)
        alike = np.ones(len(points))
        weight = fit_expansion(points, terms, alike, basis, self.length_scale, _RIDGE, _blocks.DEFAULT_MEMORY_BUDGET, 1)
        return self._pair(query, good, weight, 1).at_numerator.log_ratio

    def _pair(self, query: Sample, good: Sample, weight: Weight, n_threads: int | None) -> EstimatePair:
        budget = _blocks.DEFAULT_MEMORY_BUDGET
        return EstimatePair(query, good, weight, self.bandwidth, query.points.dtype, budget, n_threads)

    @cached_property
    def _batch(self) -> Batch:
        return self._batch_of(self.patches)

    def _batch_of(self, patches: Singles) -> Batch:
        return make_batch(patches, np.zeros(patches.shape[2]), self.bandwidth)


def make_library(patches: Singles, candidates: int, seed: int, worst: int | None = None) -> Library:
    """Return the library of good images' patches, with bandwidth and length scale chosen by some of them."""
    random = np.random.default_rng(seed)
    some = patches[np.sort(random.permutation(len(patches))[:_SAMPLED_IMAGES])].astype(np.float64)
    widths = [select_bandwidth(image, "likelihood", part=0.25, random_state=seed) for image in some]
    scales = [median_length_scale(one, other) for one, other in zip(some, np.roll(some, 1, axis=0), strict=True)]
    return Library(patches, float(np.exp(np.mean(np.log(widths)))), float(np.mean(scales)), candidates, worst)


def _sample(patches: Singles) -> Sample:
    return Sample(patches.astype(np.float64), np.ones(len(patches)), np.arange(len(patches)))
