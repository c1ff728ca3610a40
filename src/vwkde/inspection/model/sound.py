"""Whether the parts of a model file fit together. A file may be complete and yet not be a model that can be used.

The checksum shows that a file is as it was written, not who wrote it: anybody can write one with any content.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.data.images import MOST_PIXELS
from vwkde.inspection.model.calibration import check_rate
from vwkde.inspection.model.features import FeatureSet, by_neighbours
from vwkde.inspection.model.parameters import check_count, check_enough


def check_sound(arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any], features: FeatureSet) -> None:
    """Raise ValueError or TypeError if the parts of a model do not fit together, KeyError if one is missing."""
    nearest = by_neighbours(features)
    _check_settings(settings, ("false_reject_rate", "bandwidth", *(() if nearest else ("length_scale",))))
    names = settings["names"]
    _check_names(names, settings.get("fingerprints", [None] * len(names)))
    patches = _patches(settings, features)
    kept = arrays["patches"].shape[1:2]
    _check_arrays(arrays, len(names), min(patches, *kept, patches) if nearest else patches, not nearest)
    _check_optional(arrays, tuple(settings["image_shape"]))


def _check_settings(settings: Mapping[str, Any], positive: tuple[str, ...]) -> None:
    for name in positive:
        value = settings[name]
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        _need(is_number and isfinite(value) and value > 0, f"{name} must be a positive number")
    check_rate(settings["false_reject_rate"])
    check_count(settings["candidates"], "candidates", 10)
    seed = settings["random_state"]
    _need(isinstance(seed, int) and not isinstance(seed, bool), "random_state must be an integer")


def _patches(settings: Mapping[str, Any], features: FeatureSet) -> int:
    """Return the number of patches of an image."""
    shape = settings["image_shape"]
    is_shape = isinstance(shape, list) and len(shape) == 2 and all(type(side) is int and side > 0 for side in shape)
    _need(is_shape and shape[0] * shape[1] <= MOST_PIXELS, "image_shape must be a height and a width in pixels")
    rows, columns = features.grid.shape(tuple(shape))
    return rows * columns


def _check_names(names: Any, fingerprints: Any) -> None:
    _need(isinstance(names, list) and all(isinstance(name, str) for name in names), "names must be texts")
    check_enough(len(names))
    _need(len(set(names)) == len(names), "names must differ")
    known = isinstance(fingerprints, list) and all(each is None or isinstance(each, str) for each in fingerprints)
    _need(known and len(fingerprints) == len(names), "there must be a fingerprint for each name")


def _check_arrays(arrays: Mapping[str, NDArray[Any]], images: int, patches: int, in_pairs: bool) -> None:
    features, columns = arrays["matrix"].shape if arrays["matrix"].ndim == 2 else (0, 0)
    shapes = {
        "patches": (images, patches, columns),
        "mean": (features,),
        "matrix": (features, columns),
        "scores": (images,),
        "peaks": (images,),
    }
    if in_pairs:
        shapes["sums"] = (images, images)
    _need(features > 0 and columns > 0, "the matrix has no columns")
    for name, shape in shapes.items():
        array = arrays[name]
        _need(array.dtype.kind == "f" and array.shape == shape, f"{name} must be numbers of shape {shape}")
        _need(bool(np.isfinite(array).all()), f"{name} must be finite")
    pictures = arrays["thumbnails"]
    _need(pictures.dtype == np.uint8 and pictures.ndim == 3, "thumbnails must be gray pictures")
    _need(len(pictures) == images and pictures.size > 0, "there must be a thumbnail for each image")


def _check_optional(arrays: Mapping[str, NDArray[Any]], image_shape: tuple[int, ...]) -> None:
    """Check the arrays that not every model has."""
    bad, ignored = arrays.get("bad", np.empty(0)), arrays.get("ignored")
    _need(bad.dtype.kind == "f" and bad.ndim == 1 and bool(np.isfinite(bad).all()), "bad must be a list of scores")
    if ignored is not None:
        _need(ignored.dtype == np.uint8 and ignored.shape == image_shape, "ignored must be a mask of the images")


def _need(condition: bool, words: str) -> None:
    if not condition:
        raise ValueError(words)
