"""How far the covariance of few rows is drawn to a multiple of the identity, after Ledoit and Wolf (2004)."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def ledoit_wolf_shrinkage(centred: Floats) -> float:
    """Return the share of the identity, from zero to one, that makes the expected squared error least.

    It is the variance of the covariance's entries, as a share of their squared distance from the identity's multiple.
    """
    rows, columns = centred.shape
    if columns == 1:
        return 0.0
    squares = centred**2
    covariance = centred.T @ centred / rows
    size = float(np.vdot(covariance, covariance))
    distance = size - np.trace(covariance) ** 2 / columns
    noise = (float(np.sum(squares.sum(axis=1) ** 2)) / rows - size) / rows
    least = min(noise, distance)
    return float(least / distance) if least != 0 else 0.0
