"""The guide named "logistic": log odds that are quadratic in the columns, with a ridge."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from vwkde._data.sample import Sample
from vwkde._models.guides.classifiers import fit_classifier

Floats = NDArray[np.float64]

INVERSE_RIDGES = (0.001, 0.01, 0.1, 1.0)
"""Ridges to choose from, as scikit-learn's C."""
_MOST_FEATURES = 2_000
"""With more quadratic features than this the guide is linear."""


@dataclass(frozen=True)
class QuadraticLogistic:
    """A guide that is linear in the columns and their products."""

    intercept: float
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return self.intercept + quadratic_features(x) @ self.coefficients


def fit_logistic(inverse_ridge: float, numerator: Sample, denominator: Sample) -> QuadraticLogistic:
    """Fit logistic regression on quadratic features, with a ridge."""
    quadratic = [replace(s, points=quadratic_features(s.points)) for s in (numerator, denominator)]
    model = fit_classifier(LogisticRegression(C=inverse_ridge, tol=1e-8, max_iter=1_000), *quadratic).classifier
    return QuadraticLogistic(float(model.intercept_[0]), model.coef_[0])


def quadratic_features(x: Floats) -> Floats:
    """Return the columns and their products, scaled so that a ridge on the coefficients is invariant to rotation."""
    i, j = np.triu_indices(x.shape[1])
    if x.shape[1] + len(i) > _MOST_FEATURES:
        return x
    return np.concatenate([x, x[:, i] * x[:, j] * np.where(i == j, 0.5, np.sqrt(0.5))], axis=1)
