"""The features of a pretrained network: its middle layers at each place of the finest one, one below the other.

This is the way of PatchCore (Roth et al., "Towards total recall in industrial anomaly detection", CVPR 2022), but the
layers are not averaged over neighbouring places: that hides thin cracks.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.interpolation import enlarged, scaled
from vwkde.inspection.model.layer_grid import LayerGrid
from vwkde.inspection.model.networks import Network

Singles = NDArray[np.float32]

_MOST_CHANNELS = 256
"""More channels than this are projected to as many random directions, which keeps distances nearly as they are."""


@dataclass(frozen=True)
class Backbone:
    """The middle layers of a network; patches are compared with the nearest good ones."""

    network: Network
    components: int | None = 64
    worst: int | None = 10
    scaled: bool = False
    by_neighbours: bool = True

    @property
    def grid(self) -> LayerGrid:
        """Where the patches are."""
        return LayerGrid(self.network.input_shape)

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, of shape (rows, columns, channels)."""
        grid = self.grid
        layers = self.network.layers(scaled(image, grid.seen(image.shape)))
        shape = grid.shape(image.shape)
        channels = np.concatenate([enlarged(layer, shape).astype(np.float32) for layer in layers])
        return _projected(np.moveaxis(channels, 0, -1))


def _projected(features: Singles) -> Singles:
    count = features.shape[-1]
    return features if count <= _MOST_CHANNELS else features @ _directions(count)


@lru_cache(maxsize=2)
def _directions(count: int) -> Singles:
    """Return random directions, the same in every process."""
    random = np.random.default_rng(count)
    return (random.normal(size=(count, _MOST_CHANNELS)) / np.sqrt(_MOST_CHANNELS)).astype(np.float32)
