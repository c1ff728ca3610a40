"""The coordinates in which patches are compared: features whitened by good images, optionally reduced."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.axes import principal_axes

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_FLAT = 1e-10
"""A direction with less than this share of the largest variance is dropped."""


@dataclass(frozen=True)
class Coordinates:
    """The map x → (x − mean) · matrix, which gives the patches of good images unit covariance."""

    mean: Floats
    matrix: Floats

    def __call__(self, features: NDArray[np.floating]) -> Singles:
        """Return features of shape (…, d) in the new coordinates."""
        return ((features - self.mean) @ self.matrix).astype(np.float32)


def fit_coordinates(features: Sequence[NDArray[np.floating]], components: int | None) -> Coordinates:
    """Return the map for the features (patches, d) of good images.

    Columns are standardised first, so that their units do not matter. `components` is the number of principal
    components to keep, largest first; None keeps all that vary.
    """
    mean = np.mean([image.mean(axis=0, dtype=np.float64) for image in features], axis=0)
    covariance = _covariance(features, mean)
    scale = np.sqrt(np.diag(covariance))
    if not (scale > 0).any():
        raise ValueError("The patches of the good images are all alike: there is nothing to compare. Check the images.")
    scale[scale == 0] = np.inf
    root = principal_axes(covariance / np.outer(scale, scale), _FLAT).root
    return Coordinates(mean, root[:, ::-1][:, :components] / scale[:, None])


def _covariance(features: Sequence[NDArray[np.floating]], mean: Floats) -> Floats:
    """Return the covariance of all patches, summed image by image to avoid a copy of all patches."""
    total = np.zeros((len(mean), len(mean)))
    for image in features:
        centred = image - mean
        total += centred.T @ centred
    return total / (sum(map(len, features)) - 1)
