"""How strongly the marks around a place say that it is part of a defect, learnt from made-up defects.

A weak line that shows in one kind of mark only is as rare as chance; one that shows in several kinds, on several copies
of the image, is not. And a strong mark on one copy alone may be what the surface has everywhere. How marks go together
depends on the surface. So small networks with two hidden layers tell places of made-up defects from places of good
images. They see the strongest and the mean response over directions on every copy, and nothing beyond the responses
that they have learnt from. Their mean log odds are the evidence.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import make_unordered_sample
from vwkde._models.guides.network import Layers, Training, fit_networks
from vwkde.inspection.model.marks.filters import DIRECTIONS, KINDS
from vwkde.inspection.model.marks.strengths import MARKS

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Places = NDArray[np.intp]

_SIGNED = KINDS // 2
_LINES = [1 + 2 * direction for direction in range(DIRECTIONS)]
_EDGES = [2 + 2 * direction for direction in range(DIRECTIONS)]
DIRECTED = (
    _LINES,
    [_SIGNED + line for line in _LINES],
    [*_EDGES, *(_SIGNED + edge for edge in _EDGES)],
)
"""Kinds of marks that differ in direction only: bright lines, dark lines, and edges."""
SINGLE = [kind for kind in range(KINDS) if not any(kind in group for group in DIRECTED)]
"""Kinds of marks without a direction."""
POOLED = 2 * len(DIRECTED) + len(SINGLE)
"""Number of responses of a cell that are weighed."""
NETWORKS = 3
"""Number of networks whose log odds are averaged: one alone depends on the weights that it starts with."""
WIDTH = 16
"""Number of units of a hidden layer."""
_TRAINING = Training(width=WIDTH, steps=700)
_LEAST = 1e-3
"""Minimum spread of a response."""


@dataclass(frozen=True, eq=False)
class Weighing:
    """Networks for the responses of a place on all copies, and the lowest and highest responses that they have seen.

    `weights`, (networks, inputs, outputs), and `biases`, (networks, outputs), have one entry for each layer.
    """

    lowest: Singles
    highest: Singles
    weights: tuple[Singles, ...]
    biases: tuple[Singles, ...]

    def __call__(self, standardised: NDArray[np.floating], image_shape: tuple[int, ...]) -> Singles:
        """Return the evidence at the cells of the largest copy, given standardised marks, (kinds, cells)."""
        responses = np.ascontiguousarray(pooled(standardised).T)
        return self.log_odds(np.concatenate([responses[cells] for cells in all_parents(image_shape)], axis=1))

    def log_odds(self, places: Singles) -> Singles:
        """Return the mean log odds of the networks that places, (places, responses of all copies), are defects."""
        inside = np.clip(places, self.lowest, self.highest)
        odds = [self._one(number, inside) for number in range(len(self.weights[0]))]
        return np.asarray(np.mean(odds, axis=0), dtype=np.float32)

    def _one(self, number: int, values: Singles) -> Singles:
        """Return the log odds of one network; its activation is z·σ(z)."""
        *hidden, last = zip(self.weights, self.biases, strict=True)
        for weights, biases in hidden:
            values = values @ weights[number] + biases[number]
            values *= 0.5 + 0.5 * np.tanh(0.5 * values)
        return np.asarray((values @ last[0][number] + last[1][number])[:, 0])


def pooled(standardised: NDArray[np.floating]) -> Singles:
    """Return the responses that are weighed, (responses, …), of standardised marks, (kinds, …)."""
    marks = np.arcsinh(standardised.astype(np.float32))
    over_directions = [way(marks[group], axis=0) for group in DIRECTED for way in (np.max, np.mean)]
    return np.concatenate([np.stack(over_directions), marks[SINGLE]])


def parents(cells: Places, image_shape: tuple[int, ...]) -> Places:
    """Return the cell of every copy, (copies, places), that covers the centre of cells of the largest copy."""
    copies, grids = MARKS.cells(image_shape), MARKS.grids(image_shape)
    rows, columns = np.divmod(cells, grids[0][1])
    return np.stack(
        [
            copy.start + np.minimum(rows >> number, grid[0] - 1) * grid[1] + np.minimum(columns >> number, grid[1] - 1)
            for number, (copy, grid) in enumerate(zip(copies, grids, strict=True))
        ]
    )


@lru_cache(maxsize=8)
def all_parents(image_shape: tuple[int, ...]) -> Places:
    """Return the cell of every copy that covers the centre of each cell of the largest copy, (copies, cells)."""
    return parents(np.arange(MARKS.cells(image_shape)[0].stop), image_shape)


def layer_shapes(copies: int) -> list[tuple[int, int]]:
    """Return the number of inputs and of outputs of each layer."""
    return [(copies * POOLED, WIDTH), (WIDTH, WIDTH), (WIDTH, 1)]


def fit_weighing(good: Sequence[Singles], defective: Sequence[Singles]) -> Weighing:
    """Return how to weigh marks, given responses at places of good images and of defects.

    Both are (responses, copies, places), one for each image. Without places of defects, the evidence is zero.
    """
    copies = good[0].shape[1]
    without, within = (
        np.concatenate(parts, axis=2).transpose(2, 1, 0).reshape(-1, copies * POOLED) for parts in (good, defective)
    )
    if not len(within):
        return _indifferent(without)
    places = np.concatenate([within, without])
    mean, spread = places.mean(axis=0), np.maximum(places.std(axis=0), _LEAST)
    defects, others = (make_unordered_sample(((rows - mean) / spread).astype(np.float64)) for rows in (within, without))
    networks = fit_networks(_TRAINING, defects, others, range(NETWORKS))
    return _together(places, [_of_responses(network.layers, mean, spread) for network in networks])


def _indifferent(places: Singles) -> Weighing:
    """Return networks that know nothing."""
    shapes = layer_shapes(places.shape[1] // POOLED)
    layers = [(np.zeros(shape, dtype=np.float32), np.zeros(shape[1], dtype=np.float32)) for shape in shapes]
    return _together(places, [layers] * NETWORKS)


def _together(places: Singles, networks: Sequence[Layers]) -> Weighing:
    """Return several networks as one object, given the places that they have learnt from."""
    layers = list(zip(*networks, strict=True))
    weights, biases = (tuple(np.stack([each[part] for each in layer]) for layer in layers) for part in range(2))
    return Weighing(places.min(axis=0), places.max(axis=0), weights, biases)


def _of_responses(layers: Layers, mean: Singles, spread: Singles) -> Layers:
    """Return the layers of a network that takes responses as they are, given those of one for scaled responses."""
    (weights, biases), *others = layers
    scaled = weights / spread[:, None]
    return [(scaled, biases - mean @ scaled), *others]
