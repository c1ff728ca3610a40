"""The score-matching loss, which compares models of one density on rows that they have not seen.

It needs only derivatives and no normalising constants: its mean is ½ E‖∇log p − ∇log q‖² for the true density q of the
rows, minus a constant that does not depend on the model.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.protocol import Derivatives

Floats = NDArray[np.float64]


def score_matching_terms(derivatives: Derivatives, x: Floats) -> Floats:
    """Return ∇²log p + ½‖∇log p‖² at every row; note that ∇²log p = ∇²p/p − ‖∇log p‖²."""
    return derivatives.laplacian_over_density(x) - 0.5 * (derivatives.score(x) ** 2).sum(axis=1)
