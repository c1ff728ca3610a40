"""The networks that weigh marks, as arrays of a model file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.files.soundness import is_within
from vwkde.inspection.model.marks.weighing import NETWORKS, POOLED, Weighing, layer_shapes

Arrays = dict[str, NDArray[Any]]

_LAYERS = range(len(layer_shapes(1)))
_LARGEST = 1e6
"""Of the numbers: those of a fit are far smaller, and no sum in three layers of such numbers is infinite."""


def weighing_arrays(weighing: Weighing) -> Arrays:
    """Return the arrays of a model file that say how marks are weighed."""
    layers = {}
    for layer in _LAYERS:
        layers[f"mark_weights_{layer}"] = weighing.weights[layer]
        layers[f"mark_biases_{layer}"] = weighing.biases[layer]
    return {"mark_lowest": weighing.lowest, "mark_highest": weighing.highest, **layers}


def read_weighing(arrays: Arrays) -> Weighing:
    """Return how marks are weighed, as the arrays of a model file say."""
    weights, biases = (tuple(arrays[f"mark_{part}_{layer}"] for layer in _LAYERS) for part in ("weights", "biases"))
    return Weighing(arrays["mark_lowest"], arrays["mark_highest"], weights, biases)


def check_weighing(arrays: Arrays, copies: int) -> None:
    """Raise ValueError if these arrays do not fit together, KeyError if one is missing."""
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("mark_lowest", "mark_highest"), (copies * POOLED,))
    for layer, (inputs, outputs) in enumerate(layer_shapes(copies)):
        shapes[f"mark_weights_{layer}"] = (NETWORKS, inputs, outputs)
        shapes[f"mark_biases_{layer}"] = (NETWORKS, outputs)
    for name, wanted in shapes.items():
        array = arrays[name]
        if array.dtype != np.float32 or array.shape != wanted or not is_within(array, _LARGEST):
            raise ValueError(f"{name} must be finite single numbers of shape {wanted}, at most {_LARGEST:g}")
    if not (arrays["mark_lowest"] <= arrays["mark_highest"]).all():
        raise ValueError("mark_lowest must be at most mark_highest")
