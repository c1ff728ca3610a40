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
APART = 64.0
"""Distance of patches of different copies of an image, in standard deviations: so far that no kernel reaches."""
_QUERIES, _KNOWN = 8, 16
"""Number of good images whose patches are looked up, and of those among whose patches they are looked up."""
_LOOKED_UP, _AMONG = 500, 8_000
"""Maximum number of patches of an image that are looked up, and of patches among which they are; evenly spaced ones."""
_TAIL = 0.99
"""This share of a good image's patches must have a near patch in other good images."""


@dataclass(frozen=True)
class Coordinates:
    """The map x → (x − mean) · matrix, which gives the patches of good images unit covariance.

    If `scaled`, the last feature is the number of the copy of an image that a patch is from. Each copy has its own map,
    one below the other in `mean` and `matrix`, and its own value of the last coordinate.
    """

    mean: Floats
    matrix: Floats
    scaled: bool = False

    def __call__(self, features: NDArray[np.floating]) -> Singles:
        """Return features of shape (…, d) in the new coordinates."""
        if not self.scaled:
            return ((features - self.mean) @ self.matrix).astype(np.float32)
        copies = len(self.mean) // (features.shape[-1] - 1)
        found = np.empty((*features.shape[:-1], self.matrix.shape[1]), dtype=np.float32)
        maps = zip(np.split(self.mean, copies), np.split(self.matrix, copies), strict=True)
        for number, (mean, matrix) in enumerate(maps):
            rows = features[..., -1] == number
            found[rows] = (features[rows][:, :-1] - mean) @ matrix
            found[rows, -1] = APART * (number - (copies - 1) / 2)
        return found


def fit_coordinates(features: Sequence[NDArray[np.floating]], components: int | None) -> Coordinates:
    """Return the map for the features (patches, d) of good images.

    Columns are standardised first, so that their units do not matter. `components` is the number of principal
    components to keep, largest first; None keeps all that vary.
    """
    mean, covariance = _moments(features)
    scale = np.sqrt(np.diag(covariance))
    scale[scale == 0] = np.inf
    root = principal_axes(covariance / np.outer(scale, scale), _FLAT).root
    return Coordinates(mean, root[:, ::-1][:, :components] / scale[:, None])


def fit_rotated_coordinates(features: Sequence[NDArray[np.floating]], components: int | None) -> Coordinates:
    """Return the map to the largest principal components of the features as they are.

    Distances stay as they were, but for the components that hardly vary. So it is for the layers of a network, whose
    units have a meaning.
    """
    mean, covariance = _moments(features)
    root = principal_axes(covariance, _FLAT).root[:, ::-1][:, :components]
    return Coordinates(mean, root / np.linalg.norm(root, axis=0))


def _moments(features: Sequence[NDArray[np.floating]]) -> tuple[Floats, Floats]:
    """Return mean and covariance of the columns."""
    mean = np.mean([image.mean(axis=0, dtype=np.float64) for image in features], axis=0)
    covariance = _covariance(features, mean)
    if not (np.diag(covariance) > 0).any():
        raise ValueError("The patches of the good images are all alike: there is nothing to compare. Check the images.")
    return mean, covariance


def fit_scaled_coordinates(features: Sequence[NDArray[np.floating]], components: int, seed: int) -> Coordinates:
    """Return the maps for the patches of several copies of good images, made comparable.

    Copies differ in how well good images predict each other. Each map is scaled such that nearly all patches of a good
    image have a patch of other good images within the same distance; so a copy in which good images vary counts less.
    """
    order = np.random.default_rng(seed).permutation(len(features))
    count = min(_QUERIES, len(features) // 2)
    queries, known = order[:count], order[count : count + _KNOWN]
    means, matrices = [], []
    for number in range(int(features[0][:, -1].max()) + 1):
        parts = [image[image[:, -1] == number, :-1] for image in features]
        one = fit_coordinates(parts, components)
        reach = _reach([one(parts[image]) for image in queries], np.concatenate([one(parts[image]) for image in known]))
        matrix = np.zeros((len(one.mean), components + 1))
        matrix[:, : one.matrix.shape[1]] = one.matrix * np.sqrt(components) / reach
        means.append(one.mean)
        matrices.append(matrix)
    return Coordinates(np.concatenate(means), np.concatenate(matrices), scaled=True)


def _reach(queries: Sequence[Singles], known: Singles) -> float:
    """Return the distance within which nearly all patches have a known one."""
    known = _spaced(known, _AMONG)
    lengths = np.square(known).sum(axis=1)
    nearest = [
        (lengths - 2 * patches @ known.T).min(axis=1) + np.square(patches).sum(axis=1)
        for patches in (_spaced(image, _LOOKED_UP) for image in queries)
    ]
    return float(np.sqrt(max(np.quantile(np.concatenate(nearest), _TAIL), np.finfo(np.float32).tiny)))


def _spaced(patches: Singles, most: int) -> Singles:
    return patches[:: -(-len(patches) // most)]


def _covariance(features: Sequence[NDArray[np.floating]], mean: Floats) -> Floats:
    """Return the covariance of all patches, summed image by image to avoid a copy of all patches."""
    total = np.zeros((len(mean), len(mean)))
    for image in features:
        centred = image - mean
        total += centred.T @ centred
    return total / (sum(map(len, features)) - 1)
