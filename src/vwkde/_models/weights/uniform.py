"""No weighting: α = 1, the plain kernel density estimate."""

import numpy as np
from numpy.typing import NDArray


class UniformWeight:
    """The constant weight."""

    def log_weight(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return zeros."""
        return np.zeros(len(x))

    def slope(self, x: NDArray[np.float64], direction: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return zeros."""
        del direction
        return np.zeros(len(x))
