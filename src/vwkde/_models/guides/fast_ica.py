"""Directions of independent columns by FastICA (Hyvärinen, 1999): all at once, with the log cosh contrast."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def fast_ica(white: Floats, steps: int, tolerance: float, seed: int = 0) -> Floats:
    """Return a rotation of white rows, of shape (columns, columns), along whose rows they are least normal.

    The search ends after some steps, or when no direction turns further than the cosine of the angle can tell.
    """
    columns = white.shape[1]
    rotation = _orthogonal(np.random.RandomState(seed).normal(size=(columns, columns)))
    for _ in range(steps):
        bent = np.tanh(white @ rotation.T)
        slope = 1 - np.mean(bent**2, axis=0)
        turned = _orthogonal(bent.T @ white / len(white) - slope[:, None] * rotation)
        cosines = np.abs(np.einsum("ij,ij->i", turned, rotation))
        rotation = turned
        if np.abs(cosines - 1).max() < tolerance:
            break
    return rotation


def _orthogonal(directions: Floats) -> Floats:
    """Return the nearest orthogonal directions."""
    left, _, right = np.linalg.svd(directions)
    return np.asarray(left @ right)
