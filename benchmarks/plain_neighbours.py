"""Plain nearest neighbours among patches of a network, in the manner of PatchCore, to compare `backbone` with.

Of the patches of all good images, 10,000 are kept: always the one that is farthest from those before (Roth et al.,
"Towards total recall in industrial anomaly detection", CVPR 2022). To save time, they are chosen from 100,000 patches,
in 32 random directions. The map is the distance to the nearest kept patch, the score is its peak. Outlines are where
the map has at least half of that. There is no threshold, so no image is rejected.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Self

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.features.registry import as_features
from vwkde.inspection.model.regions import Region, find_regions, near_peak

Singles = NDArray[np.float32]

_KEPT, _OFFERED, _DIRECTIONS, _BLOCK = 10_000, 100_000, 32, 512
_PART_OF_PEAK = 0.5


@dataclass(frozen=True)
class Found:
    """An image against the kept patches, with what an evaluation asks of a result."""

    score: float
    log_ratio: Singles
    milliseconds: float
    rejected: bool = False

    @property
    def outlines(self) -> list[Region]:
        """The regions where the map is high."""
        return find_regions(self.log_ratio, near_peak(self.log_ratio, _PART_OF_PEAK))


class PlainNeighbours:
    """Learns patches of good images by `fit`, and compares others with them by `check`."""

    def __init__(self, features: str) -> None:
        self._features = as_features(features)
        self._kept: Singles = np.empty((0, 0), dtype=np.float32)

    def fit(self, images: Iterable[tuple[str, Singles]]) -> Self:
        """Keep patches of good images."""
        every = [self._patches(image) for _, image in images]
        random, share = np.random.default_rng(0), -(-_OFFERED // len(every))
        offered = np.concatenate([image[random.permutation(len(image))[:share]] for image in every])
        self._kept = offered[farthest(_directed(offered, random), _KEPT)]
        return self

    def check(self, image: Singles, name: str) -> Found:
        """Return how far the patches of an image are from those."""
        del name
        start = perf_counter()
        distances = np.sqrt(squares(self._patches(image), self._kept))
        shown = self._features.grid.spread(distances.astype(np.float64), image.shape).astype(np.float32)
        return Found(float(shown.max()), shown, 1000 * (perf_counter() - start))

    def _patches(self, image: Singles) -> Singles:
        features = self._features(image)
        return features.reshape(-1, features.shape[-1])


def _directed(patches: Singles, random: np.random.Generator) -> Singles:
    return (patches @ random.normal(size=(patches.shape[1], _DIRECTIONS))).astype(np.float32)


def farthest(points: Singles, count: int) -> list[int]:
    """Return the places of some points: the first, then always the one that is farthest from those before."""
    places, lengths = [0], np.square(points).sum(axis=1)
    nearest = np.full(len(points), np.inf, dtype=np.float32)
    for _ in range(min(count, len(points)) - 1):
        last = places[-1]
        nearest = np.minimum(nearest, lengths - 2 * points @ points[last] + lengths[last])
        places.append(int(nearest.argmax()))
    return places


def squares(patches: Singles, kept: Singles) -> Singles:
    """Return the squared distance of each patch to the nearest kept one."""
    lengths = np.square(kept).sum(axis=1)
    blocks = (patches[start : start + _BLOCK] for start in range(0, len(patches), _BLOCK))
    nearest = np.concatenate([(lengths - 2 * block @ kept.T).min(axis=1) for block in blocks])
    return np.maximum(nearest + np.square(patches).sum(axis=1), 0)
