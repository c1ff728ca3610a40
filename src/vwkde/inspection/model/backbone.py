"""The features of a pretrained network: its middle layers at each place of the finest one, one below the other.

This is the way of PatchCore (Roth et al., "Towards total recall in industrial anomaly detection", CVPR 2022), but the
layers are not averaged over neighbouring places: that hides thin cracks.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.extras import require
from vwkde.inspection.model.layer_grid import LayerGrid, Shape, resized
from vwkde.inspection.model.networks import Network

Floats = NDArray[np.float64]
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
        layers = self.network.layers(_scaled(image, grid.seen(image.shape)))
        shape = grid.shape(image.shape)
        channels = np.concatenate([resized(layer, shape).astype(np.float32) for layer in layers])
        return _projected(np.moveaxis(channels, 0, -1))


def _scaled(image: Singles, shape: Shape) -> Singles:
    """Return an image in another size; where it becomes smaller, pixels are averaged."""
    require("PIL", "Inspection needs Pillow", "inspect")
    from PIL import Image

    picture = Image.fromarray(np.ascontiguousarray(image, dtype=np.float32))
    return np.asarray(picture.resize((shape[1], shape[0]), Image.Resampling.BILINEAR), dtype=np.float32)


def _projected(features: Singles) -> Singles:
    count = features.shape[-1]
    return features if count <= _MOST_CHANNELS else features @ _directions(count)


@lru_cache(maxsize=2)
def _directions(count: int) -> Singles:
    """Return random directions, the same in every process."""
    random = np.random.default_rng(count)
    return (random.normal(size=(count, _MOST_CHANNELS)) / np.sqrt(_MOST_CHANNELS)).astype(np.float32)
