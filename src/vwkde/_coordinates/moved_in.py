"""An increasing map of columns that moves outliers closer and leaves all other values where they are.

Beyond the reach of the other values it grows like the logarithm of a logarithm, so that no value, however large, sets
the scale of its column. It is invertible, so it changes neither ratio nor divergence.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._data.outliers import Reach
from vwkde._data.validation import Array

Floats = NDArray[np.float64]

_LARGEST = np.finfo(np.float64).max


def moved_in(x: Array, reach: Reach) -> Array:
    """Return rows with the values beyond the reach of each column moved closer."""
    bounded = np.flatnonzero(np.isfinite(reach.low))
    if not len(bounded):
        return x
    result = np.array(x, dtype=np.float64)
    for column in bounded:
        result[:, column] = _moved(result[:, column], float(reach.low[column]), float(reach.high[column]))
    return result


def _moved(values: Floats, low: float, high: float) -> Floats:
    half_width = high / 2 - low / 2  # the difference itself may overflow
    inside = np.clip(values, low, high)
    with np.errstate(over="ignore"):
        beyond = np.minimum(np.abs(values / half_width - inside / half_width), _LARGEST)
    return np.asarray(inside + np.sign(values - inside) * half_width * np.log1p(np.log1p(beyond)))
