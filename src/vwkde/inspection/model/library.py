"""The patches of good images, and how those of another image compare with them.

The score of an image is the smallest KL divergence of its patches from those of a good image. It takes two passes:
plain kernel estimates against all good images, and the paper's weighted ones against the few nearest of them. The log
ratios of the patches against the nearest good image tell where the image differs.

Features of many columns tell single patches apart. There a small defect shows in a few patches, which a mean over all
of them would drown, and no one good image has a likeness of every patch. So there the score is the mean log ratio of
the worst few patches, against the nearest good images together, by plain kernel estimates.
"""

from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import cluster, parallel
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources
from vwkde._compute.sums.batches import Batch, make_batch, mean_log_sums, mutual_mean_log_sums
from vwkde._data.sample import make_unordered_sample
from vwkde._fit.bandwidth import select_bandwidth
from vwkde._fit.kernel_estimate import KernelEstimate, PointWeight
from vwkde._models.distances import median_distance
from vwkde._models.gaussian import GaussianModel, fit_gaussian
from vwkde._models.weights.expansion import fit_expansion
from vwkde._models.weights.protocol import Weight
from vwkde._models.weights.residual import bias_terms

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_BASIS = 200
"""Basis points of the weight: with some hundreds of patches more of them change nothing."""
_RIDGE = 1.0
"""Ten times that of `DensityRatio`: with some hundreds of patches the weight of a pair is rough, and must be smooth for
pairs to be compared."""
_SPARED, _FEW = 4, 50
"""Of so many patches one is enough to find the good images whose patches are pooled, if so many are left."""
_PARTS = 64
"""Pieces that the work on all good images is dealt into, where workers share it."""
_SAMPLED_IMAGES = 8
"""Good images that bandwidth and length scale are chosen by."""


@dataclass(frozen=True)
class Comparison:
    """An image against good ones: its score in nats, the nearest good image, and the patches' log ratios."""

    score: float
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

    def compare(self, patches: Singles, resources: Resources = DEFAULT_RESOURCES) -> Comparison:
        """Return how an image's patches compare with the library."""
        plain = self.plain_divergences(patches, resources)
        return self._refine(patches, np.argsort(plain, kind="stable")[: self.candidates], resources)

    def plain_divergences(self, patches: Singles, resources: Resources = DEFAULT_RESOURCES) -> Floats:
        """Return the KL divergence of an image from every good one by plain kernel estimates."""
        patches = patches[:: self._every]
        own = self._estimate(patches, resources=resources)
        others = mean_log_sums(self._batch_of(patches[None]), self._batch, resources)[0]
        return _at_least_itself(own).mean() - (others - np.log(self._batch.rows.shape[1]) + own.log_peak)

    def mutual_sums(self, known: Floats | None = None, resources: Resources = DEFAULT_RESOURCES) -> Floats:
        """Return the mean log kernel sums between all good images, those known not being computed again.

        By the engine "dask", here and below, the workers of the client in use do the work.
        """
        first = 0 if known is None else len(known)
        if resources.engine == "dask":
            batch = self._batch
            parts = list(cluster.spread(partial(_sums_of, first), batch, _dealt(len(batch))))
            found = np.fmax.reduce(parts)  # each pair is known to one part, and NaN to the others
        else:
            found = mutual_mean_log_sums(self._batch, first, resources)
        if known is not None:
            found[:first, :first] = known
        return found

    def left_out(self, sums: Floats, resources: Resources = DEFAULT_RESOURCES) -> list[Comparison]:
        """Return how every good image compares with the others."""
        count = self._batch.rows.shape[1]
        plain = (np.diag(sums)[:, None] - np.log(count - 1)) - (sums - np.log(count))
        np.fill_diagonal(plain, np.inf)
        order = np.argsort(plain, axis=1, kind="stable")[:, : min(self.candidates, len(plain) - 1)]
        if resources.engine == "dask":
            jobs = [(images, order[images.start :: images.step]) for images in _dealt(len(order))]
            parts = zip(jobs, cluster.spread(Library.refined, self, jobs), strict=True)
            found = {image: each for (images, _), part in parts for image, each in zip(images, part, strict=True)}
            return [found[image] for image in range(len(order))]
        return self.refined((range(len(order)), order), resources)

    def refined(
        self, job: tuple[range, NDArray[np.intp]], resources: Resources = DEFAULT_RESOURCES
    ) -> list[Comparison]:
        """Return how some good images compare with the nearest of the others, which are given for each."""
        images, nearest = job
        found: dict[int, Comparison] = {}
        alone = replace(resources, n_threads=1)

        def work(place: int) -> None:
            found[place] = self._refine(self.patches[images[place]], nearest[place], alone)

        parallel.run(work, list(range(len(images))), "calibration", resources.n_threads)
        return [found[place] for place in range(len(images))]

    def _refine(self, patches: Singles, candidates: NDArray[np.intp], resources: Resources) -> Comparison:
        """Return the comparison with the candidates, nearest first."""
        if self.worst is None:
            return self._nearest(patches, candidates, resources)
        return self._together(patches, candidates, self.worst, resources)

    def _together(self, patches: Singles, candidates: NDArray[np.intp], worst: int, resources: Resources) -> Comparison:
        """Return the comparison of the worst patches with all candidates by plain estimates."""
        good = self.patches[candidates].reshape(-1, patches.shape[1])
        own = self._estimate(patches, resources=resources)
        log_ratio = own.left_out() - self._estimate(good, resources=resources).log_density(own.sample.points)
        return Comparison(float(np.sort(log_ratio)[-worst:].mean()), int(candidates[0]), log_ratio)

    def _nearest(self, patches: Singles, candidates: NDArray[np.intp], resources: Resources) -> Comparison:
        """Return the comparison with the nearest of the candidates by the paper's weighted estimates."""
        found: dict[int, Floats] = {}

        def work(image: int) -> None:
            found[image] = self.log_ratio(patches, image)

        parallel.run(work, [int(image) for image in candidates], None, resources.n_threads)
        nearest = min(found, key=lambda image: found[image].mean())
        return Comparison(float(found[nearest].mean()), nearest, found[nearest])

    def log_ratio(self, patches: Singles, image: int) -> Floats:
        """Return the log ratio at patches, each left out, against one good image, by the paper's weighted estimates.

        The variational weight goes by Gaussian scores, and the mean of the log ratios is the divergence.
        `DensityRatio` would whiten the two samples anew, by their own spread; then a defect, which widens it, would
        bring its own patches nearer to the good ones.
        """
        query, good = (patches.astype(np.float64), self.patches[image].astype(np.float64))
        models = tuple(fit_gaussian(each, np.ones(len(each))) for each in (query, good))
        points = np.concatenate([query, good])
        random = np.random.default_rng(0)
        basis = points[np.sort(random.choice(len(points), min(len(points), _BASIS), replace=False))]
        importance = _trust(models, points, self.bandwidth)
        with parallel.at_most(1):
            terms = bias_terms(models[0], models[1], points)
            weight = fit_expansion(points, terms, importance, basis, self.length_scale, _RIDGE)
            return _at_least_itself(self._estimate(query, weight)) - self._estimate(good, weight).log_density(query)

    def _estimate(
        self, patches: NDArray[np.floating], weight: Weight | None = None, resources: Resources = DEFAULT_RESOURCES
    ) -> KernelEstimate:
        sample = make_unordered_sample(patches.astype(np.float64))
        point_weight = PointWeight() if weight is None else PointWeight(weight)
        return KernelEstimate(sample, point_weight, self.bandwidth, resources=resources)

    @property
    def _every(self) -> int:
        """Which of the patches tell good images apart: where the nearest are only pooled, some will do."""
        return 1 if self.worst is None else min(_SPARED, max(1, self.patches.shape[1] // _FEW))

    @cached_property
    def _batch(self) -> Batch:
        return self._batch_of(self.patches[:, :: self._every])

    def _batch_of(self, patches: Singles) -> Batch:
        return make_batch(patches, np.zeros(patches.shape[2]), self.bandwidth)


def make_library(patches: Singles, candidates: int, seed: int, worst: int | None = None) -> Library:
    """Return the library of good images' patches, with bandwidth and length scale chosen by some of them."""
    some = sampled_images(patches, seed)
    widths = [select_bandwidth(image, "likelihood", part=0.25, random_state=seed) for image in some]
    return Library(patches, float(np.exp(np.mean(np.log(widths)))), mean_length_scale(some), candidates, worst)


def sampled_images(patches: Singles, seed: int) -> Floats:
    """Return the patches of the few good images that widths are chosen by."""
    chosen = np.random.default_rng(seed).permutation(len(patches))[:_SAMPLED_IMAGES]
    return patches[np.sort(chosen)].astype(np.float64)


def mean_length_scale(images: Floats) -> float:
    """Return the mean over pairs of images of the median distance between their patches."""
    pairs = zip(images, np.roll(images, 1, axis=0), strict=True)
    return float(np.mean([median_distance(one, other) for one, other in pairs]))


def _sums_of(first: int, batch: Batch, images: range) -> Floats:
    return mutual_mean_log_sums(batch, first, only=images)


def _dealt(count: int) -> list[range]:
    """Return the numbers below `count`, dealt in turn: later images have fewer left to be compared with."""
    parts = min(count, _PARTS)
    return [range(part, count, parts) for part in range(parts)]


def _trust(models: tuple[GaussianModel, ...], points: Floats, bandwidth: float) -> Floats:
    """Return how much the bias at each point counts, with mean one: as far as it is a small correction there.

    At a patch ten deviations away from the others the leading term of the bias is beyond all bounds, and no longer the
    bias. Left alone, a few such patches would shape the weight of all.
    """
    terms = [0.5 * bandwidth**2 * model.laplacian_over_density(points) for model in models]
    importance = (1 + np.max(np.square(terms), axis=0)) ** -2.0
    return np.asarray(importance / importance.mean())


def _at_least_itself(estimate: KernelEstimate) -> Floats:
    """Return the log density at an image's own patches, each left out, but no lower than one like it would make it.

    A patch like no other, in its image or in the good ones, would count for nothing if its own image made it unlikely
    too. It is what is looked for.
    """
    of_itself = estimate.log_weight[:, 0] + estimate.log_peak - np.log(len(estimate.sample) - 1)
    return np.maximum(estimate.left_out(), of_itself)
