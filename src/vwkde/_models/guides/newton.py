"""Logistic regression with a ridge, by Newton's method where features are few: it is then many times quicker.

The loss is that of scikit-learn's LogisticRegression: ½‖w‖² + C · Σ weight · log(1 + exp(∓(w·x + w₀))).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from vwkde._data.sample import Sample
from vwkde._models.guides.classifiers import fit_classifier

Floats = NDArray[np.float64]

_FEW_FEATURES = 60
"""Features up to which Newton's method is the quicker way."""
_TOLERANCE, _MOST_STEPS = 1e-6, 1_000
"""Those of the general solver."""
_STEPS, _HALVINGS = 50, 30
_CLOSE = 1e-10
"""The search ends where a step would lower the loss by less than this share of it."""


class Line(NamedTuple):
    """A log odds that is linear in the features."""

    intercept: float
    coefficients: Floats


def fit_line(numerator: Sample, denominator: Sample, inverse_ridge: float) -> Line:
    """Fit a logistic regression between two samples of features; both have equal weight."""
    if numerator.points.shape[1] <= _FEW_FEATURES:
        return _by_newton(numerator, denominator, inverse_ridge)
    regression = LogisticRegression(C=inverse_ridge, tol=_TOLERANCE, max_iter=_MOST_STEPS)
    model = fit_classifier(regression, numerator, denominator).classifier
    return Line(float(model.intercept_[0]), model.coef_[0])


def _by_newton(numerator: Sample, denominator: Sample, inverse_ridge: float) -> Line:
    """Fit it by Newton's method."""
    samples = numerator, denominator
    rows = sum(map(len, samples))
    x = np.column_stack([np.concatenate([sample.points for sample in samples]), np.ones(rows)])
    weight = np.concatenate([sample.weight * inverse_ridge * rows / (2 * len(sample)) for sample in samples])
    sign = np.repeat([1.0, -1.0], [len(numerator), len(denominator)])
    ridge = np.append(np.ones(x.shape[1] - 1), 0.0)

    def loss_at(w: Floats) -> float:
        return float(weight @ np.logaddexp(0.0, -sign * (x @ w)) + 0.5 * (ridge * w) @ w)

    w = np.zeros(x.shape[1])
    loss = loss_at(w)
    for _ in range(_STEPS):
        wrong = expit(-sign * (x @ w))
        slope = ridge * w - (weight * sign * wrong) @ x
        curvature = (x * (weight * wrong * (1 - wrong))[:, None]).T @ x
        curvature.flat[:: len(w) + 1] += ridge + np.finfo(np.float64).eps * np.trace(curvature)
        step = cho_solve(cho_factor(curvature), slope)
        if slope @ step < _CLOSE * loss:
            break
        for _ in range(_HALVINGS):
            moved = loss_at(w - step)
            if moved < loss:
                break
            step /= 2
        else:
            break
        w, loss = w - step, moved
    return Line(float(w[-1]), w[:-1])
