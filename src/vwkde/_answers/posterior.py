"""Class posteriors from log ratios: of two classes, and of many from the odds of all pairs."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vwkde._data.validation import is_number

Floats = NDArray[np.float64]


def posterior(log_ratio: Floats, prior: float) -> Floats:
    """Return the probability of the numerator's class, whose prior probability is `prior`."""
    if not is_number(prior) or not 0 < prior < 1:
        raise ValueError(
            f"The 'prior' parameter of posterior must be a number that lies between 0 and 1. Got {prior!r} instead."
        )
    return expit(log_ratio + np.log(prior) - np.log1p(-prior))


def couple(log_odds: dict[tuple[int, int], Floats], classes: int) -> Floats:
    """Return the probabilities p that minimise Σ (p_j·r_ij − p_i·r_ji)², where r_ij is that of i against j.

    At the minimum, p solves one linear system per row: the gradient is a multiple of the vector of ones, and p sums to
    one.
    """
    n = len(next(iter(log_odds.values())))
    pairs = np.zeros((n, classes, classes))
    for (i, j), value in log_odds.items():
        pairs[:, i, j], pairs[:, j, i] = expit(value), expit(-value)
    system = np.zeros((n, classes + 1, classes + 1))
    system[:, :classes, :classes] = -pairs * pairs.transpose(0, 2, 1)
    diagonal = np.arange(classes)
    system[:, diagonal, diagonal] = (pairs.transpose(0, 2, 1) ** 2).sum(axis=2)
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    target = np.zeros((n, classes + 1, 1))
    target[:, classes] = 1.0
    probability = np.linalg.solve(system, target)[:, :classes, 0]
    probability = np.maximum(probability, 0.0)
    return probability / probability.sum(axis=1, keepdims=True)
