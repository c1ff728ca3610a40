"""Components of a mixture with a covariance each.

A log density is linear in the constant one, the columns and their products, and so are the moments that give the next
components. A step is two products of this matrix, one with the coefficients of all components and one with their
shares, for a block of rows at a time. scikit-learn takes several passes over the rows for every component.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._models.derivatives.components import LEAST_VARIANCE, Components, shares_of
from vwkde._models.products import product_count, square_places, write_products

Floats = NDArray[np.float64]

_AT_A_TIME = 2**17
"""Numbers in a block of rows: so few that they stay in the processor's cache."""


class FullRows:
    """The rows of a centred sample."""

    def __init__(self, x: Floats) -> None:
        self.x = x
        self.columns = x.shape[1]
        features = 1 + self.columns + product_count(self.columns)
        self.blocks = parallel.split(len(x), max(1, _AT_A_TIME // features))

    def components(self, shares: Floats) -> Components:
        """Return the components that are most likely for these shares of the rows."""
        moments = np.sum([shares[:, rows] @ self._features(rows) for rows in self.blocks], axis=0)
        return _most_likely(moments, self.columns)

    def improved(self, components: Components) -> tuple[Components, float]:
        """Return the components after one step, and the mean log likelihood of those before it."""
        coefficients = _coefficients(components)
        moments, likelihood = np.zeros_like(coefficients), 0.0
        for rows in self.blocks:
            features = self._features(rows)
            shares, log_sum = shares_of(coefficients @ features.T)
            moments += shares @ features
            likelihood += float(log_sum.sum())
        return _most_likely(moments, self.columns), likelihood / len(self.x)

    def _features(self, rows: slice) -> Floats:
        """Return ones, the columns and their products, side by side."""
        x, d = self.x[rows], self.columns
        features = np.empty((len(x), 1 + d + product_count(d)))
        features[:, 0] = 1
        features[:, 1 : d + 1] = x
        write_products(x, features[:, d + 1 :])
        return features


def _coefficients(components: Components) -> Floats:
    """Return the coefficients of each component's log density, times its weight, in the features."""
    weights, means, precisions = components
    d = means.shape[1]
    slopes = np.einsum("kij,kj->ki", precisions, means)
    constants = np.log(weights) + 0.5 * (np.linalg.slogdet(precisions)[1] - d * np.log(2 * np.pi))
    curvatures = -precisions[:, *np.triu_indices(d)]
    curvatures[:, square_places(d)] *= 0.5
    return np.hstack([(constants - 0.5 * (slopes * means).sum(axis=1))[:, None], slopes, curvatures])


def _most_likely(moments: Floats, columns: int) -> Components:
    """Return the components with these sums of the features, each weighted by the component's shares."""
    rows = moments[:, 0] + 10 * np.finfo(np.float64).eps
    means = moments[:, 1 : columns + 1] / rows[:, None]
    first, second = np.triu_indices(columns)
    covariances = np.empty((len(rows), columns, columns))
    covariances[:, first, second] = moments[:, columns + 1 :] / rows[:, None]
    covariances[:, second, first] = covariances[:, first, second]
    covariances += LEAST_VARIANCE * np.eye(columns) - means[:, :, None] * means[:, None, :]
    return Components(rows / rows.sum(), means, np.asarray(np.linalg.inv(covariances), dtype=np.float64))
