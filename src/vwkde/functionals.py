"""What is asked of a ratio, as averages of the log ratio over the two samples."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def kl(numerator: tuple[Floats, Floats], denominator: tuple[Floats, Floats]) -> tuple[float, float]:
    """Return KL(numerator ‖ denominator) and its standard error.

    Each argument is (log ratio, weight) at a sample's points. The value is the mean log ratio over the numerator. Its
    influence function is log r − KL on the numerator and 1 − r on the denominator, whose variances give the error.
    """
    log_ratio, weight = numerator
    value = np.average(log_ratio, weights=weight)
    on_numerator = _variance_of_mean(log_ratio - value, weight)
    on_denominator = _variance_of_mean(1 - _truncated_ratio(denominator[0]), denominator[1])
    return float(value), float(np.sqrt(on_numerator + on_denominator))


def _truncated_ratio(log_ratio: Floats) -> Floats:
    """Return the ratio at the denominator's n points, at most √n (Ionides 2008).

    Its mean is one, but left out of its own estimate an outlier can have any ratio, and alone decide the variance.
    """
    return np.exp(np.minimum(log_ratio, 0.5 * np.log(len(log_ratio))))


def _variance_of_mean(terms: Floats, weight: Floats) -> float:
    return float(np.sum((weight * terms) ** 2) / weight.sum() ** 2)
