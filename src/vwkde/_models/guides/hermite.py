"""Hermite polynomials of columns that are about normal: uncorrelated, with variance one, for those that are."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_FARTHEST = 3.0
"""Standard deviations beyond which values count as this far out: cubes of larger ones would decide everything."""


def hermite_polynomials(x: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the polynomials of the first three degrees of all columns: where a column is, how wide, how skew."""
    z = np.clip(x, -_FARTHEST, _FARTHEST)
    return z, (z**2 - 1) / np.sqrt(2), z * (z**2 - 3) / np.sqrt(6)
