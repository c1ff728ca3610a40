"""The score-matching loss, which compares models of one density on rows that they have not seen.

It needs only derivatives and no normalising constants: its mean is ½ E‖∇log p − ∇log q‖² for the true density q of the
rows, minus a constant that does not depend on the model.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def score_matching_terms(score: Floats, laplacian_over_density: Floats) -> Floats:
    """Return ∇²log p + ½‖∇log p‖² of every row, where ∇²log p = ∇²p/p − ‖∇log p‖²."""
    return laplacian_over_density - 0.5 * (score**2).sum(axis=1)
