"""The features of a pretrained network: its middle layers at each place of the finest one, one below the other.

This is the way of PatchCore (Roth et al., "Towards total recall in industrial anomaly detection", CVPR 2022): each
layer is averaged over neighbouring places, and patches are compared with the nearest good ones. The average makes good
patches alike, but hides thin cracks, which single marks show; so both are used, as in `combined`.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from vwkde.inspection.model.features.combined import Marking, ShrunkGrid, working
from vwkde.inspection.model.features.layer_grid import LayerGrid
from vwkde.inspection.model.filters.interpolation import enlarged, scaled
from vwkde.inspection.model.pretrained.networks import Network

Singles = NDArray[np.float32]

_MOST_CHANNELS = 256
"""More channels than this are projected to as many random directions, which keeps distances nearly as they are."""
_NEIGHBOURHOOD = 3
"""Side of the square of places of a layer that is averaged."""


@dataclass(frozen=True)
class Backbone:
    """The middle layers of a network, compared with the nearest good ones, and single marks.

    All components are kept: defects differ from good patches where these hardly vary.
    """

    network: Network
    components: int | None = None
    worst: int | None = 10
    scaled: bool = False
    by_neighbours: bool = True

    @property
    def grid(self) -> ShrunkGrid:
        """Where the patches are."""
        return ShrunkGrid(self._layers)

    @property
    def marking(self) -> Marking:
        """Where and how single marks are measured."""
        return Marking(patches=self._layers)

    @property
    def _layers(self) -> LayerGrid:
        return LayerGrid(self.network.input_shape)

    def __call__(self, image: Singles) -> Singles:
        """Return the features of every patch, of shape (rows, columns, channels)."""
        seen = self._layers.seen(working(image.shape))
        shape = self.grid.shape(image.shape)
        layers = [enlarged(_averaged(layer), shape) for layer in self.network.layers(scaled(image, seen))]
        return _projected(np.moveaxis(np.concatenate(layers, dtype=np.float32, casting="same_kind"), 0, -1))


def _averaged(layer: Singles) -> Singles:
    """Return the layer averaged over neighbouring places; outside the image it is 0.

    So patches at the edge differ less. They see the padding of the network, and vary more among good images.
    """
    return ndimage.uniform_filter(layer, (0, _NEIGHBOURHOOD, _NEIGHBOURHOOD), mode="constant")


def _projected(features: Singles) -> Singles:
    count = features.shape[-1]
    return features if count <= _MOST_CHANNELS else features @ _directions(count)


@lru_cache(maxsize=2)
def _directions(count: int) -> Singles:
    """Return random directions, the same in every process."""
    random = np.random.default_rng(count)
    return (random.normal(size=(count, _MOST_CHANNELS)) / np.sqrt(_MOST_CHANNELS)).astype(np.float32)
