"""What rows that a model has not seen say about it.

The score-matching loss compares models of one density by their derivatives alone, without normalising constants: its
mean is ½ E‖∇log p − ∇log q‖² for the density q behind the rows, less a constant that no model changes.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.protocol import Derivatives

Floats = NDArray[np.float64]


def score_matching_terms(derivatives: Derivatives, x: Floats) -> Floats:
    """Return ∇²log p + ½‖∇log p‖² at every row, where ∇²log p = ∇²p/p − ‖∇log p‖²."""
    return derivatives.laplacian_over_density(x) - 0.5 * (derivatives.score(x) ** 2).sum(axis=1)
