"""What is asked of a ratio, as averages of the log ratio over the two samples."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def kl(numerator: tuple[Floats, Floats], denominator: tuple[Floats, Floats]) -> tuple[float, float]:
    """Return KL(numerator ‖ denominator) and its standard error.

    Each argument is (log ratio, weight) at a sample's points. The value is the mean log ratio over the numerator. Its
    influence function is log r − KL on the numerator and 1 − r on the denominator, whose variances give the error; r is
    normalised to mean one over the denominator, as the true ratio is.
    """
    log_ratio, weight = numerator
    value = np.average(log_ratio, weights=weight)
    numerator_error = _mean_square_error(log_ratio - value, weight)
    denominator_error = _mean_square_error(_relative_ratio(*denominator) - 1, denominator[1])
    return float(value), float(np.sqrt(numerator_error + denominator_error))


def _relative_ratio(log_ratio: Floats, weight: Floats) -> Floats:
    ratio = np.exp(log_ratio - log_ratio.max())
    return ratio / np.average(ratio, weights=weight)


def _mean_square_error(influence: Floats, weight: Floats) -> float:
    """Return the variance of a weighted mean of these terms."""
    return float(np.sum((weight * influence) ** 2) / weight.sum() ** 2)
