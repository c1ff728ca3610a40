"""Whether the parts of a model file fit together. A file may be complete and yet not be a model that can be used.

The checksum shows that a file is as it was written, not who wrote it: anybody can write one with any content.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.data.images import MOST_PIXELS
from vwkde.inspection.model.calibration import check_rate
from vwkde.inspection.model.features.registry import FeatureSet, by_neighbours
from vwkde.inspection.model.measuring import thumbnail_shape
from vwkde.inspection.model.parameters import check_count, check_enough

_WIDEST, _NARROWEST = 1e15, 1e-15
"""Limits of the widths of kernels. Those of a fit are near one; of these the fourth powers are finite, and no square is
zero."""
_LARGEST = {"mean": 1e12, "matrix": 1e20, "patches": 1e30, "scores": 1e100, "peaks": 1e100, "sums": 1e100}
"""Largest numbers of arrays. Features are of the size of gray values; a matrix is large where a feature hardly varies.
Coordinates are then within single precision, and sums of scores are finite."""


def check_sound(arrays: Mapping[str, NDArray[Any]], settings: Mapping[str, Any], features: FeatureSet) -> None:
    """Raise ValueError or TypeError if the parts of a model do not fit together, KeyError if one is missing."""
    nearest = by_neighbours(features)
    _check_settings(settings)
    _check_widths(settings, ("bandwidth",) if nearest else ("bandwidth", "length_scale"))
    names = settings["names"]
    _check_names(names, settings.get("fingerprints", [None] * len(names)))
    patches = _patches(settings, features)
    kept = arrays["patches"].shape[1:2]
    _check_arrays(arrays, len(names), min(patches, *kept, patches) if nearest else patches, not nearest)
    _check_optional(arrays, tuple(settings["image_shape"]))
    _check_pictures(arrays["thumbnails"], (len(names), *thumbnail_shape(settings["image_shape"])))


def _check_settings(settings: Mapping[str, Any]) -> None:
    _need(_is_number(settings["false_reject_rate"]), "false_reject_rate must be a number")
    check_rate(settings["false_reject_rate"])
    check_count(settings["candidates"], "candidates", 10)
    seed = settings["random_state"]
    _need(type(seed) is int and seed >= 0, "random_state must be an integer that is not negative")


def _check_widths(settings: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for name in names:
        value = settings[name]
        is_sane = _is_number(value) and _NARROWEST <= value <= _WIDEST
        _need(is_sane, f"{name} must be a number from {_NARROWEST:g} to {_WIDEST:g}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


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
        _need(is_within(array, _LARGEST[name]), f"{name} must be finite numbers, at most {_LARGEST[name]:g}")


def _check_pictures(pictures: NDArray[Any], shape: tuple[int, ...]) -> None:
    _need(pictures.dtype == np.uint8 and pictures.shape == shape, f"thumbnails must be gray pictures of shape {shape}")


def _check_optional(arrays: Mapping[str, NDArray[Any]], image_shape: tuple[int, ...]) -> None:
    """Check the arrays that not every model has."""
    bad, ignored = arrays.get("bad", np.empty(0)), arrays.get("ignored")
    are_scores = bad.dtype.kind == "f" and bad.ndim == 1 and is_within(bad, _LARGEST["scores"])
    _need(are_scores, "bad must be a list of scores")
    if ignored is not None:
        _need(ignored.dtype == np.uint8 and ignored.shape == image_shape, "ignored must be a mask of the images")


def is_within(array: NDArray[Any], most: float) -> bool:
    """Return whether all numbers are finite and at most this large, of either sign."""
    return array.size == 0 or bool(array.min() >= -most and array.max() <= most)  # NaN is neither


def _need(condition: bool, words: str) -> None:
    if not condition:
        raise ValueError(words)
