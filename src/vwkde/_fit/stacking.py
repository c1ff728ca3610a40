"""The second way to combine candidates: a logistic regression on their log ratios.

The mean of the best candidates is never farther from zero than each of them, but most of them are too close to zero:
whatever a model misses makes its log ratio flatter. So the candidates' log ratios, each computed without the row in
question, become the columns of a logistic regression between the two samples, with coefficients of at least zero that
need not add up to one. A ridge draws them to the shares that the candidates have at single points. At the rows of each
fold, the coefficients come from the rows outside it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from vwkde._data.sample import Sample
from vwkde._models.exponentials import loss_and_wrong
from vwkde._models.log_loss import AtBoth

Floats = NDArray[np.float64]

_RIDGE = 20.0
"""The ridge, as if so many rows had voted for the candidates' shares."""
_LARGEST = 15.0
"""Log ratios beyond this are cut off: they tell nothing more about the class, and would decide the fit."""
_LEAST = 1e-3
"""Coefficients below this are left out."""


class Stack(NamedTuple):
    """The coefficients of the candidates, and the constant."""

    coefficients: Floats
    level: float


def fit_stack(log_ratios: list[AtBoth], start: Floats, samples: tuple[Sample, Sample]) -> Stack:
    """Return the coefficients of log ratios at the rows of two samples, drawn to those in `start`."""
    p, q = (np.clip(np.stack(side, axis=1), -_LARGEST, _LARGEST) for side in zip(*log_ratios, strict=True))
    p_weight, q_weight = (sample.weight / (2 * sample.weight.sum()) for sample in samples)
    ridge = _RIDGE / min(sample.effective_rows for sample in samples)

    def loss_and_slope(parameters: Floats) -> tuple[float, Floats]:
        coefficients, level = parameters[:-1], parameters[-1]
        p_terms, p_wrong = loss_and_wrong(p @ coefficients + level)
        q_terms, q_wrong = loss_and_wrong(-q @ coefficients - level)
        away = coefficients - start
        loss = p_weight @ p_terms + q_weight @ q_terms + 0.5 * ridge * away @ away
        p_slope, q_slope = -p_weight * p_wrong, q_weight * q_wrong
        slope = p_slope @ p + q_slope @ q + ridge * away
        return float(loss), np.append(slope, p_slope.sum() + q_slope.sum())

    bounds = [(0, None)] * len(start) + [(None, None)]
    best = minimize(loss_and_slope, np.append(start, 0.0), jac=True, method="L-BFGS-B", bounds=bounds).x
    return Stack(np.where(best[:-1] > _LEAST, best[:-1], 0.0), float(best[-1]))
