"""Components of a mixture that share one covariance.

With one precision P for all components xᵀPx cancels from the shares, and the covariance is the sample's second moments
minus those of the means. A step takes two products of the sample with a matrix of one column per component, so that
many starts in many columns are cheap.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.components import LEAST_VARIANCE, Components, shares_of

Floats = NDArray[np.float64]


class TiedRows:
    """The rows of a centred sample, and their second moments."""

    def __init__(self, x: Floats) -> None:
        self.x = x
        self.moments = x.T @ x / len(x)

    def components(self, shares: Floats) -> Components:
        """Return the components that are most likely for these shares of the rows."""
        rows = shares.sum(axis=1) + 10 * np.finfo(np.float64).eps
        means = shares @ self.x / rows[:, None]
        weights = rows / rows.sum()
        covariance = self.moments - (means.T * weights) @ means + LEAST_VARIANCE * np.eye(self.x.shape[1])
        return Components(weights, means, np.linalg.inv(covariance))

    def improved(self, components: Components) -> tuple[Components, float]:
        """Return the components after one step, and the mean log likelihood of those before it."""
        weights, means, precision = components
        slopes = means @ precision
        logits = slopes @ self.x.T + (np.log(weights) - 0.5 * (slopes * means).sum(axis=1))[:, None]
        shares, log_sum = shares_of(logits)
        log_volume = self.x.shape[1] * np.log(2 * np.pi) - np.linalg.slogdet(precision)[1]
        common = (precision * self.moments).sum() + log_volume
        return self.components(shares), float(log_sum.mean() - 0.5 * common)
