"""Logistic regression with a ridge: by Newton's method where features are few, which is many times quicker, or L-BFGS.

The loss is that of scikit-learn's LogisticRegression: ½‖w‖² + C · Σ weight · log(1 + exp(∓(w·x + w₀))).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from vwkde._data.sample import Sample
from vwkde._models.exponentials import loss_and_wrong

Floats = NDArray[np.float64]

FEW_FEATURES = 60
"""Features up to which Newton's method is the quicker way."""
_STEPS, _HALVINGS = 50, 30
_CLOSE = 1e-10
"""The search ends where a step would lower the loss by less than this share of it."""
TOLERANCE = 1e-6
"""L-BFGS ends where no slope of the mean loss of a row is larger."""
_UNTIL = {"maxiter": 1_000, "maxls": 50, "ftol": 64 * np.finfo(np.float64).eps}
"""Where else it ends."""


class Line(NamedTuple):
    """A log odds that is linear in the features."""

    intercept: float
    coefficients: Floats


class Rows(NamedTuple):
    """The rows of both samples: +1 or −1 for the sample, and weights, with equal sums for both and one in the mean."""

    sign: Floats
    weight: Floats


def fit_line(numerator: Sample, denominator: Sample, inverse_ridge: float, tolerance: float = TOLERANCE) -> Line:
    """Fit a logistic regression between two samples of features; both have equal weight."""
    rows = rows_of(numerator, denominator)
    x = np.concatenate([numerator.points, denominator.points])
    if x.shape[1] <= FEW_FEATURES:
        return _by_newton(x, rows, inverse_ridge)
    return fit_by_slopes(x.__matmul__, x.T.__matmul__, x.shape[1], rows, inverse_ridge, tolerance)


def rows_of(numerator: Sample, denominator: Sample) -> Rows:
    """Return which rows are whose, and how much they count."""
    samples = numerator, denominator
    total = len(numerator) + len(denominator)
    sign = np.repeat([1.0, -1.0], [len(numerator), len(denominator)])
    return Rows(sign, np.concatenate([sample.weight * total / (2 * len(sample)) for sample in samples]))


def fit_by_slopes(
    log_odds: Callable[[Floats], Floats],
    combined: Callable[[Floats], Floats],
    features: int,
    rows: Rows,
    inverse_ridge: float,
    tolerance: float = TOLERANCE,
) -> Line:
    """Fit it by L-BFGS.

    `log_odds` takes coefficients and returns their sum of features at each row; `combined` takes a number for each row
    and returns the sum of the features over the rows, times these.
    """
    share = rows.weight / rows.weight.sum()
    ridge = 1 / (inverse_ridge * rows.weight.sum())

    def loss_and_slope(w: Floats) -> tuple[float, Floats]:
        terms, wrong = loss_and_wrong(rows.sign * (log_odds(w[:-1]) + w[-1]))
        pull = -share * rows.sign * wrong
        loss = share @ terms + 0.5 * ridge * w[:-1] @ w[:-1]
        return float(loss), np.append(combined(pull) + ridge * w[:-1], pull.sum())

    until = {**_UNTIL, "gtol": tolerance}
    w = minimize(loss_and_slope, np.zeros(features + 1), jac=True, method="L-BFGS-B", options=until).x
    return Line(float(w[-1]), w[:-1])


def _by_newton(features: Floats, rows: Rows, inverse_ridge: float) -> Line:
    """Fit it by Newton's method."""
    x = np.column_stack([features, np.ones(len(features))])
    sign, weight = rows.sign, rows.weight * inverse_ridge
    ridge = np.append(np.ones(x.shape[1] - 1), 0.0)

    def loss_at(w: Floats) -> tuple[float, Floats]:
        terms, wrong = loss_and_wrong(sign * (x @ w))
        return float(weight @ terms + 0.5 * (ridge * w) @ w), wrong

    w = np.zeros(x.shape[1])
    loss, wrong = loss_at(w)
    for _ in range(_STEPS):
        slope = ridge * w - (weight * sign * wrong) @ x
        curvature = (x * (weight * wrong * (1 - wrong))[:, None]).T @ x
        curvature.flat[:: len(w) + 1] += ridge + np.finfo(np.float64).eps * np.trace(curvature)
        step = cho_solve(cho_factor(curvature), slope)
        if slope @ step < _CLOSE * loss:
            break
        for _ in range(_HALVINGS):
            moved, wrong_there = loss_at(w - step)
            if moved < loss:
                break
            step /= 2
        else:
            break
        w, loss, wrong = w - step, moved, wrong_there
    return Line(float(w[-1]), w[:-1])
