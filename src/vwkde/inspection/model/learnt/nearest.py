"""Patches of good images, some of each kept, and how far the patches of another image are from the nearest of them.

The value of a patch is ½ (distance / bandwidth)², in nats: how much less likely it is than a good patch, by a kernel
estimate of which only the nearest kernel counts. The score of an image is the mean over its few worst patches.

Every good image keeps its own choice of patches, so that it can be judged by those of the others alone.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources
from vwkde.inspection.model.learnt.library import Comparison

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_KEPT = 20_000
"""About how many patches of all good images are kept."""
_LEAST = 20
"""Minimum number of patches that each good image keeps."""
_BLOCK = 512
"""Number of patches that are compared with the kept ones at a time: their products take some forty megabytes."""
_NEIGHBOURS = 10
"""Number of good images that an image is said to be like: those that have the nearest patch of most of its patches."""
_SAMPLED = 8
"""Number of good images that set the bandwidth."""


@dataclass(frozen=True)
class NearestPatches:
    """Patches that good images keep, (images, kept, columns); `worst` is how many patches make up a score."""

    patches: Singles
    bandwidth: float
    worst: int

    def grown(self, patches: Singles, seed: int) -> "NearestPatches":
        """Return the library with more good images, given all patches of these."""
        kept = _chosen(patches, self.patches.shape[1], seed)
        return replace(self, patches=np.concatenate([self.patches, kept]))

    def fewer(self, count: int) -> "NearestPatches":
        """Return the library with the first good images only."""
        return replace(self, patches=self.patches[:count])

    def compare(self, patches: Singles, resources: Resources = DEFAULT_RESOURCES) -> Comparison:
        """Return how an image's patches compare with those of all good images."""
        del resources  # the products are small enough for the CPU
        return self._compared(patches, self.patches)

    def left_out(self, patches: Singles, first: int = 0) -> list[Comparison]:
        """Return how good images compare with the others; given all patches of those from `first` on."""

        def judged(place: int) -> Comparison:
            return self.compare_with_others(patches[place], first + place)

        return parallel.run(judged, range(len(patches)), "calibration")

    def compare_with_others(self, patches: Singles, image: int) -> Comparison:
        """Return how patches of a good image, given its number, compare with those of all others."""
        found = self._compared(patches, np.delete(self.patches, image, axis=0))
        return replace(found, neighbours=found.neighbours + (found.neighbours >= image))

    def _compared(self, patches: Singles, good: Singles) -> Comparison:
        squares, places = _nearest(patches, good.reshape(-1, good.shape[2]))
        log_ratio = squares / (2 * self.bandwidth**2)
        worst = np.argsort(log_ratio)[-self.worst :]
        images = np.bincount(places // good.shape[1], minlength=len(good))
        neighbours = np.argsort(-images, kind="stable")[:_NEIGHBOURS]
        return Comparison(float(log_ratio[worst].mean()), neighbours, log_ratio)


def keep_patches(patches: Singles, worst: int, seed: int) -> NearestPatches:
    """Return the library of good images, given all their patches; those of each image that differ most are kept."""
    count = min(patches.shape[1], max(_LEAST, -(-_KEPT // len(patches))))
    kept = _chosen(patches, count, seed)
    sampled = np.random.default_rng(seed).permutation(len(patches))[:_SAMPLED]
    squares = [
        _nearest(patches[image], np.delete(kept, image, axis=0).reshape(-1, kept.shape[2]))[0] for image in sampled
    ]
    bandwidth = float(np.sqrt(np.median(np.concatenate(squares))))
    if not bandwidth > 0:
        raise ValueError("The patches of the good images are all alike: there is nothing to compare. Check the images.")
    return NearestPatches(kept, bandwidth, worst)


def _chosen(patches: Singles, count: int, seed: int) -> Singles:
    """Return some patches of each image: one at random, then always the one that is farthest from all before.

    So rare patches are kept as well as frequent ones.
    """
    firsts = np.random.default_rng(seed).integers(patches.shape[1], size=len(patches))

    def farthest(image: int) -> Singles:
        places, every = [int(firsts[image])], patches[image]
        lengths = np.square(every).sum(axis=1)
        squares = np.full(len(every), np.inf, dtype=np.float32)
        for _ in range(count - 1):
            last = places[-1]
            squares = np.minimum(squares, lengths - 2 * (every @ every[last]) + lengths[last])
            squares[last] = -np.inf  # rounding must not choose a patch again
            places.append(int(squares.argmax()))
        return every[places]

    return np.stack(parallel.run(farthest, range(len(patches)), "choosing patches"))


def _nearest(patches: Singles, good: Singles) -> tuple[Floats, NDArray[np.intp]]:
    """Return the squared distance of each patch to the nearest good one, and the place of this one."""
    # the product with one column more is largest for the nearest: no further pass over all pairs is needed
    known = np.column_stack([good, -np.square(good).sum(axis=1) / 2])
    asked = np.column_stack([patches, np.ones(len(patches), dtype=np.float32)])

    def nearest(start: int) -> NDArray[np.intp]:
        return (asked[start : start + _BLOCK] @ known.T).argmax(axis=1)

    places = np.concatenate(parallel.run(nearest, range(0, len(patches), _BLOCK)))
    differences = patches - good[places]  # again, since the expanded square loses digits near zero
    return np.square(differences, dtype=np.float64).sum(axis=1), places
