"""The guide named "logistic": log odds that are quadratic in the columns, with a ridge."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.axes import principal_axes
from vwkde._data.sample import Sample
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.newton import fit_line
from vwkde._models.products import product_count, square_places, write_products

Floats = NDArray[np.float64]

INVERSE_RIDGES = (0.001, 0.01, 0.1, 1.0)
"""Ridges to choose from, as scikit-learn's C, the strongest first."""
_MOST_FEATURES = 2_000
"""With more quadratic features than this the guide is linear."""


@dataclass(frozen=True)
class QuadraticLogistic:
    """A guide that is linear in the whitened columns and their products."""

    centre: Floats
    whitening: Floats
    intercept: float
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return self.intercept + quadratic_features((x - self.centre) @ self.whitening) @ self.coefficients


def fit_logistic(inverse_ridge: float, numerator: Sample, denominator: Sample) -> QuadraticLogistic:
    """Fit logistic regression on quadratic features, with a ridge.

    The rows are whitened by themselves: the coordinates that they come in have seen the rows that are held out.
    """
    samples = numerator, denominator
    centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)
    root = principal_axes(pooled_covariance(samples), np.finfo(np.float64).eps).root
    if not root.shape[1]:  # rows that are all equal, without the few that differ
        return QuadraticLogistic(centre, root, 0.0, np.zeros(0))
    p, q = (replace(s, points=quadratic_features((s.points - centre) @ root)) for s in samples)
    return QuadraticLogistic(centre, root, *fit_line(p, q, inverse_ridge))


def quadratic_features(x: Floats) -> Floats:
    """Return the columns and their products, scaled so that a ridge on the coefficients is invariant to rotation."""
    columns = x.shape[1]
    count = columns + product_count(columns)
    if count > _MOST_FEATURES:
        return x
    features = np.empty((len(x), count))
    features[:, :columns] = x
    write_products(x, features[:, columns:])
    scale = np.full(count - columns, np.sqrt(0.5))
    scale[square_places(columns)] = 0.5
    features[:, columns:] *= scale
    return features
