"""What rows that a model has not seen say about it.

The score-matching loss compares models of one density by their derivatives alone, without normalising constants: its
mean is ½ E‖∇log p − ∇log q‖² for the density q behind the rows, less a constant that no model changes.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def score_matching_terms(score: Floats, laplacian_over_density: Floats) -> Floats:
    """Return ∇²log p + ½‖∇log p‖² of every row, where ∇²log p = ∇²p/p − ‖∇log p‖²."""
    return laplacian_over_density - 0.5 * (score**2).sum(axis=1)
