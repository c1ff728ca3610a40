"""The patches of good images, and how the patches of another image compare with them.

The score of an image is the smallest KL divergence of its patches from those of a good image. It takes two passes:
plain kernel estimates against all good images, then the paper's weighted estimates against the few nearest ones. The
log ratios of the patches against the nearest good image show where the image differs.

Features with many columns distinguish single patches. A small defect then shows in a few patches, which a mean over all
patches would hide, and no single good image matches every patch. The score is then the mean log ratio of the few worst
patches against the nearest good images taken together, by plain kernel estimates.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
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
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_BASIS = 200
"""Basis points of the weight: with some hundreds of patches, more points change nothing."""
_RIDGE = 1.0
"""Ten times that of `DensityRatio`: with some hundreds of patches the weight of a pair is rough, and pairs can only be
compared if it is smooth."""
_SPARED, _FEW, _MANY = 4, 50, 250
"""Every 4th patch is enough to find the good images whose patches are pooled, if about 50 patches remain; of a large
image, about 250 patches."""
POOLED = 20_000
"""Maximum number of patches of the pooled good images; of more, evenly spaced ones are used."""
_SAMPLED_IMAGES = 8
"""Number of good images used to choose the bandwidth and the length scale."""


@dataclass(frozen=True)
class Comparison:
    """An image against good ones: its score in nats, the few nearest good images, and the patches' log ratios."""

    score: float
    neighbours: NDArray[np.intp]
    log_ratio: Floats

    @property
    def nearest(self) -> int:
        """The nearest good image."""
        return int(self.neighbours[0])


@dataclass(frozen=True)
class Library:
    """Patches of good images, (images, patches, columns), in coordinates where they have unit covariance.

    The nearest `candidates` good images are compared closely. `worst` is how many patches make up the score; None for
    all. With `at_least_itself`, a patch is at least as likely in its own image as one identical patch would make it,
    also if only the worst count: otherwise the inside of a defect, where few patches are alike, hardly shows in maps.
    """

    patches: Singles
    bandwidth: float
    length_scale: float
    candidates: int
    worst: int | None = None
    at_least_itself: bool = False

    def grown(self, patches: Singles) -> "Library":
        """Return the library with more good images."""
        return replace(self, patches=np.concatenate([self.patches, patches]))

    def compare(self, patches: Singles, resources: Resources = DEFAULT_RESOURCES) -> Comparison:
        """Return how an image's patches compare with the library."""
        plain = self.plain_divergences(patches, resources)
        return self.against(patches, np.argsort(plain, kind="stable")[: self.candidates], resources)

    def plain_divergences(self, patches: Singles, resources: Resources = DEFAULT_RESOURCES) -> Floats:
        """Return the KL divergence of an image from every good image, by plain kernel estimates."""
        patches = patches[:: self.every]
        own = self._estimate(patches, resources=resources)
        others = mean_log_sums(self._batch_of(patches[None]), self._batch, resources)[0]
        return _at_least_itself(own).mean() - (others - np.log(self._batch.rows.shape[1]) + own.log_peak)

    def mutual_sums(self, known: Floats | None = None, resources: Resources = DEFAULT_RESOURCES) -> Floats:
        """Return the mean log kernel sums between all good images; the known ones are not computed again.

        Here and below, the workers of the executor may share the work.
        """
        first, batch, executor = 0 if known is None else len(known), self._batch, resources.executor
        parts = executor.spread(partial(_sums_of, first, resources), batch, executor.deal(len(batch)))
        sums: Floats = np.fmax.reduce(list(parts))  # each pair is computed in one part, and NaN in the others
        if known is not None:
            sums[:first, :first] = known
        return sums

    def left_out(self, sums: Floats, resources: Resources = DEFAULT_RESOURCES) -> list[Comparison]:
        """Return how every good image compares with the others."""
        count = self._batch.rows.shape[1]
        plain = (np.diag(sums)[:, None] - np.log(count - 1)) - (sums - np.log(count))
        np.fill_diagonal(plain, np.inf)
        order = np.argsort(plain, axis=1, kind="stable")[:, : min(self.candidates, len(plain) - 1)]
        jobs = [(images, order[images.start :: images.step]) for images in resources.executor.deal(len(order))]
        parts = resources.executor.spread(partial(Library.refined, resources=resources), self, jobs)
        compared = [
            (image, each)
            for (images, _), part in zip(jobs, parts, strict=True)
            for image, each in zip(images, part, strict=True)
        ]
        return [each for _, each in sorted(compared, key=lambda pair: pair[0])]

    def refined(
        self, job: tuple[range, NDArray[np.intp]], resources: Resources = DEFAULT_RESOURCES
    ) -> list[Comparison]:
        """Return how some good images compare with the nearest of the others; the job names both."""
        images, nearest = job

        def work(place: int) -> Comparison:
            return self.against(self.patches[images[place]], nearest[place], resources)

        return parallel.run(work, range(len(images)), "calibration")

    def against(self, patches: Singles, candidates: NDArray[np.intp], resources: Resources) -> Comparison:
        """Return how an image's patches compare with these good images, nearest first."""
        if self.worst is None:
            return self._nearest(patches, candidates)
        return self._together(patches, candidates, self.worst, resources)

    def _together(self, patches: Singles, candidates: NDArray[np.intp], worst: int, resources: Resources) -> Comparison:
        """Return the comparison of the worst patches with all candidates, by plain estimates."""
        good = self.patches[candidates].reshape(-1, patches.shape[1])
        good = good[:: -(-len(good) // POOLED)]
        own = self._estimate(patches, resources=resources)
        here = _at_least_itself(own) if self.at_least_itself else own.left_out()
        log_ratio = here - self._estimate(good, resources=resources).log_density(own.sample.points)
        return Comparison(float(np.sort(log_ratio)[-worst:].mean()), candidates, log_ratio)

    def _nearest(self, patches: Singles, candidates: NDArray[np.intp]) -> Comparison:
        """Return the comparison with the nearest candidate, by the paper's weighted estimates."""
        ratios = parallel.run(lambda image: self.log_ratio(patches, image), [int(image) for image in candidates])
        order = np.argsort([ratio.mean() for ratio in ratios], kind="stable")
        nearest = ratios[order[0]]
        return Comparison(float(nearest.mean()), candidates[order], nearest)

    def log_ratio(self, patches: Singles, image: int) -> Floats:
        """Return the log ratio at patches, each left out, against one good image, by the paper's weighted estimates.

        The variational weight uses Gaussian scores, and the mean of the log ratios is the divergence. `DensityRatio`
        is not used here, because it whitens the two samples by their own spread: a defect, which increases the spread,
        would bring its own patches nearer to the good ones.
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
    def every(self) -> int:
        """The step through the patches in the search for the nearest good images; if these are pooled, some suffice."""
        count = self.patches.shape[1]
        return 1 if self.worst is None else max(1, min(_SPARED, count // _FEW), count // _MANY)

    @lazy
    def _batch(self) -> Batch:
        return self._batch_of(self.patches[:, :: self.every])

    def _batch_of(self, patches: Singles) -> Batch:
        return make_batch(patches, np.zeros(patches.shape[2]), self.bandwidth)


def make_library(
    patches: Singles, candidates: int, seed: int, worst: int | None = None, at_least_itself: bool = False
) -> Library:
    """Return the library of good images' patches; some of the images set the bandwidth and the length scale."""
    some = sampled_images(patches, seed)
    widths = [select_bandwidth(image, "likelihood", part=0.25, random_state=seed) for image in some]
    bandwidth = float(np.exp(np.mean(np.log(widths))))
    return Library(patches, bandwidth, mean_length_scale(some), candidates, worst, at_least_itself)


def sampled_images(patches: Singles, seed: int) -> Floats:
    """Return the patches of the few good images that set the bandwidth and the length scale."""
    chosen = np.random.default_rng(seed).permutation(len(patches))[:_SAMPLED_IMAGES]
    return patches[np.sort(chosen)].astype(np.float64)


def mean_length_scale(images: Floats) -> float:
    """Return the mean over pairs of images of the median distance between their patches."""
    pairs = zip(images, np.roll(images, 1, axis=0), strict=True)
    return float(np.mean([median_distance(one, other) for one, other in pairs]))


def _sums_of(first: int, resources: Resources, batch: Batch, images: range) -> Floats:
    return mutual_mean_log_sums(batch, first, resources, images)


def _trust(models: tuple[GaussianModel, ...], points: Floats, bandwidth: float) -> Floats:
    """Return the importance of the bias at each point, with mean one: high where the bias is a small correction.

    Ten standard deviations away from the other patches, the leading term of the bias is very large and no longer
    describes the bias. Without this factor, a few such patches would determine the weight everywhere.
    """
    terms = [0.5 * bandwidth**2 * model.laplacian_over_density(points) for model in models]
    importance = (1 + np.max(np.square(terms), axis=0)) ** -2.0
    return np.asarray(importance / importance.mean())


def _at_least_itself(estimate: KernelEstimate) -> Floats:
    """Return the leave-one-out log density at an image's own patches, but at least that of one patch on the point.

    A patch unlike all others, in its own image and in the good ones, would otherwise be unlikely in both, and cancel.
    Such patches are the ones to find.
    """
    of_itself = estimate.log_alpha[:, 0] + estimate.log_peak - np.log(len(estimate.sample) - 1)
    return np.maximum(estimate.left_out(), of_itself)
