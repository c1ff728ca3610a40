"""Trained networks as arrays of a model file: numbers alone, whose shapes are known before they are read."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.files.soundness import is_within
from vwkde.inspection.model.trained.networks import Networks, layers

Arrays = Mapping[str, NDArray[Any]]

_MOST = 16
"""Maximum number of networks."""
_LARGEST = 1e6
"""Of the numbers. Those of a training are far below, and log odds are within single precision."""


def network_arrays(networks: Networks) -> dict[str, NDArray[Any]]:
    """Return the arrays of networks, by their names in a model file."""
    arrays: dict[str, NDArray[Any]] = {}
    for name in layers():
        arrays |= {_weight(name): networks.weights[name], _bias(name): networks.biases[name]}
    return arrays


def read_networks(arrays: Arrays) -> Networks:
    """Return the networks of a model file; KeyError if an array is missing, ValueError if one does not fit."""
    count = len(arrays[_bias("odds")])
    if not 1 <= count <= _MOST:
        raise ValueError(f"there must be 1 to {_MOST} networks")
    for name, layer in layers().items():
        _check(arrays, _weight(name), (count, layer.outputs, layer.inputs, layer.side, layer.side))
        _check(arrays, _bias(name), (count, layer.outputs))
    weights, biases = ({name: arrays[part(name)] for name in layers()} for part in (_weight, _bias))
    return Networks(weights, biases)


def _check(arrays: Arrays, name: str, shape: tuple[int, ...]) -> None:
    array = arrays[name]
    if array.dtype != np.float32 or array.shape != shape or not is_within(array, _LARGEST):
        raise ValueError(f"{name} must be finite numbers of shape {shape}, at most {_LARGEST:g}")


def _weight(name: str) -> str:
    return f"network_{name}_weight"


def _bias(name: str) -> str:
    return f"network_{name}_bias"
