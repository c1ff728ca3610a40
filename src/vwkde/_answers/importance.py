"""Weights with which the denominator represents the numerator."""

import numpy as np
from numpy.typing import NDArray

from vwkde._fit.fitted import Fitted

Floats = NDArray[np.float64]


def importance_weights(fitted: Fitted) -> Floats:
    """Return the denominator's own weights times the ratios, at most √n, in the order of the input rows.

    The ratios have mean one. If they add up to less than a single row, which is so if the samples do not meet, what is
    missing goes to the row with the largest one.
    """
    sample = fitted.samples[1]
    log_ratio = fitted.average.at_samples(averages=False)[1]
    log_weight = sample.log_weight + np.minimum(log_ratio, 0.5 * np.log(len(sample)))
    weight = np.exp(log_weight)
    weight[np.argmax(log_weight)] += max(0.0, 1 - weight.sum())
    return sample.in_given_order(weight / weight.mean())
