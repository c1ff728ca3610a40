"""Weights corrected so that weighted means agree with the target (entropy balancing).

Of all weights w, those that change the given ones least (by their Kullback–Leibler divergence) while the weighted means
of some features come close to the target's are w·e^(λ·f). So the correction is a function of the columns, which new
rows have too. If the ratio is right, it removes noise; if it is not, means of what is linear in the features are right
all the same.

How close is close: for the mean of y = β·f + noise, an imbalance δ costs (β·δ)², and uneven weights cost the variance
of the noise over the effective rows. Where the features explain half of the variance of y, and all equally much of it,
the sum of both is least with the ridge below, (number of features) / (number of rows), on λ.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

Floats = NDArray[np.float64]

_ROWS_PER_FEATURE = 50
"""Effective rows for each feature from which variances and products of columns are balanced too."""
_MOST_FEATURES = 2_000


@dataclass(frozen=True)
class Features:
    """What is balanced: the columns and, with `products`, their squares and products; in units of the target.

    Values beyond the range of the rows that were balanced count as the ends of it, so that λ·f stays within bounds.
    """

    centre: Floats
    scale: Floats
    low: Floats
    high: Floats
    products: bool

    def __call__(self, x: Floats) -> Floats:
        """Return the features of rows, (rows, features)."""
        z = (np.clip(x, self.low, self.high) - self.centre) / self.scale
        if not self.products:
            return z
        one, other = np.triu_indices(z.shape[1])
        return np.concatenate([z, z[:, one] * z[:, other]], axis=1)


@dataclass(frozen=True)
class Tilt:
    """The correction of log weights: λ·f."""

    features: Features
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return what is added to the log weight of rows."""
        return self.features(x) @ self.coefficients


def worth_balancing(balance: str, columns: int, rows: float) -> str:
    """Return what is balanced: "auto" stands for second moments if there are rows enough, otherwise for means."""
    if balance != "auto":
        return balance
    features = columns + columns * (columns + 1) // 2
    return "moments" if features <= _MOST_FEATURES and rows >= _ROWS_PER_FEATURE * features else "means"


def find_tilt(
    kind: str, target: Floats, target_weight: Floats, x: Floats, log_weight: Floats, rows: float
) -> Tilt | None:
    """Return the correction by which weighted rows x come close to the target; None if nothing is balanced.

    `rows` is how many equally weighted rows x are worth before they are reweighted.
    """
    if kind == "none":
        return None
    features = make_features(kind, target, target_weight, x)
    wanted = np.average(features(target), axis=0, weights=target_weight)
    excess = features(x) - wanted
    ridge = excess.shape[1] / rows

    def objective(coefficients: Floats) -> tuple[float, Floats]:
        exponent = log_weight + excess @ coefficients
        gradient = softmax(exponent) @ excess + ridge * coefficients
        return float(logsumexp(exponent) + 0.5 * ridge * coefficients @ coefficients), gradient

    start = np.zeros(excess.shape[1])
    return Tilt(features, minimize(objective, start, jac=True, method="L-BFGS-B").x)


def make_features(kind: str, target: Floats, weight: Floats, x: Floats) -> Features:
    """Return what is balanced between a target and rows x; a column that is constant in the target has no scale."""
    centre = np.average(target, axis=0, weights=weight)
    scale = np.sqrt(np.average((target - centre) ** 2, axis=0, weights=weight))
    constant = scale <= 1e-12 * np.abs(centre)
    low, high = (end(x, axis=0) for end in (np.min, np.max))
    return Features(centre, np.where(constant, np.maximum(np.ptp(x, axis=0), 1.0), scale), low, high, kind == "moments")
