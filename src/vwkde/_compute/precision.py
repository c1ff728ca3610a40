"""How far exponents may go in each precision, so that powers of two stay normal numbers."""

from typing import Any

import numpy as np

LIMIT_64 = 1000.0
LIMIT_32 = np.float32(110.0)


def limit(dtype: np.dtype[Any]) -> float:
    """Return the absolute exponent beyond which the engines' powers of two are constant."""
    return LIMIT_64 if dtype == np.float64 else float(LIMIT_32)
