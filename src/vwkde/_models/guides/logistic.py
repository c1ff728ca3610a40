"""The guide named "logistic": log odds that are quadratic in the columns, with a ridge."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.axes import principal_axes
from vwkde._data.sample import Sample
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.regression import FEW_FEATURES, fit_by_slopes, fit_line, rows_of
from vwkde._models.products import product_count, square_places, write_products

Floats = NDArray[np.float64]

INVERSE_RIDGES = (0.001, 0.01, 0.1, 1.0)
"""Ridges to choose from, as scikit-learn's C, the strongest first."""
_MOST_FEATURES = 2_000
"""With more quadratic features than this the guide is linear."""


@dataclass(frozen=True)
class QuadraticLogistic:
    """A guide that is linear in the whitened columns and their products: intercept + slope·z + ½ z·curvature·z."""

    centre: Floats
    whitening: Floats
    intercept: float
    slope: Floats
    curvature: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        z = (x - self.centre) @ self.whitening
        return self.intercept + _quadratic(z, self.slope, self.curvature)


def fit_logistic(inverse_ridge: float, numerator: Sample, denominator: Sample) -> QuadraticLogistic:
    """Fit logistic regression on quadratic features, with a ridge.

    The rows are whitened by themselves: the coordinates that they come in have seen the rows that are held out.
    """
    samples = numerator, denominator
    centre = np.mean([sample.mean_and_covariance()[0] for sample in samples], axis=0)
    root = principal_axes(pooled_covariance(samples), np.finfo(np.float64).eps).root
    columns = root.shape[1]
    if not columns:  # rows that are all equal, without the few that differ
        return QuadraticLogistic(centre, root, 0.0, np.zeros(0), np.zeros((0, 0)))
    p, q = (replace(sample, points=(sample.points - centre) @ root) for sample in samples)
    if columns + product_count(columns) > _MOST_FEATURES:
        intercept, slope = fit_line(p, q, inverse_ridge)
        return QuadraticLogistic(centre, root, intercept, slope, np.zeros((columns, columns)))
    few = columns + product_count(columns) <= FEW_FEATURES
    return QuadraticLogistic(centre, root, *(_by_features if few else _by_slopes)(p, q, inverse_ridge))


def _by_features(p: Sample, q: Sample, inverse_ridge: float) -> tuple[float, Floats, Floats]:
    """Return intercept, slope and curvature from the coefficients of the features."""
    columns = p.points.shape[1]
    p, q = (replace(sample, points=quadratic_features(sample.points)) for sample in (p, q))
    intercept, coefficients = fit_line(p, q, inverse_ridge)
    curvature = np.zeros((columns, columns))
    curvature[np.triu_indices(columns)] = np.sqrt(0.5) * coefficients[columns:]
    curvature.flat[:: columns + 1] *= np.sqrt(0.5)
    return intercept, coefficients[:columns], curvature + curvature.T


def _by_slopes(p: Sample, q: Sample, inverse_ridge: float) -> tuple[float, Floats, Floats]:
    """Return the same without writing the features down: the ridge on their coefficients is that on the curvature."""
    z = np.concatenate([p.points, q.points])
    columns = z.shape[1]

    def parts(coefficients: Floats) -> tuple[Floats, Floats]:
        return coefficients[:columns], coefficients[columns:].reshape(columns, columns)

    def combined(pull: Floats) -> Floats:
        return np.concatenate([pull @ z, ((z * (0.5 * pull)[:, None]).T @ z).ravel()])

    count, rows = columns + columns**2, rows_of(p, q)
    line = fit_by_slopes(lambda w: _quadratic(z, *parts(w)), combined, count, rows, inverse_ridge)
    return line.intercept, *parts(line.coefficients)


def _quadratic(z: Floats, slope: Floats, curvature: Floats) -> Floats:
    return z @ slope + 0.5 * np.einsum("nd,nd->n", z @ curvature, z)


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
