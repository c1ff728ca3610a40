"""The weight function α that both kernel estimates share."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Weight(Protocol):
    """A positive function α, by its logarithm; a constant added to log α changes nothing."""

    def log_weight(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log α, of shape (n,)."""

    def slope(self, x: NDArray[np.float64], direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ∇log α · direction, row by row, of shape (n,)."""
