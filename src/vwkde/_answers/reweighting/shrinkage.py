"""Ratios that are bounded, so that a few large ones do not decide a mean.

A weighted mean with weights w in place of the ratio r = p/q has a bias, E_p[(w/r − 1)·f], and a variance, E_q[w²·f²]/n.
Among all functions f with mean zero and variance one under p, the squared bias is at most Var_p(w/r), and the variance
of a typical one is E_q[w²]/n = E_p[w²/r]/n. The sum of both is what a bound is chosen by, with the ratios at the
numerator's rows, each from an estimate that has not seen the row. Means over the numerator are enough, and they have
lighter tails than means over the denominator.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEP = 2.0**0.25
"""Between one limit that is tried and the next."""
_MIXTURES = (0.0, 0.005, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
"""Relative ratios that are tried."""


@dataclass(frozen=True)
class Shrinkage:
    """A bound on ratios: none above `limit`, or p/(α·p + (1 − α)·q) with α = `relative` in place of p/q."""

    limit: float = np.inf
    relative: float = 0.0

    def __call__(self, log_ratio: Floats) -> Floats:
        """Return the logarithm of the bounded ratios."""
        if self.relative:
            mixed = np.logaddexp(np.log(self.relative) + log_ratio, np.log1p(-self.relative))
            return np.asarray(log_ratio - mixed)
        return np.minimum(log_ratio, np.log(self.limit))


def choose_shrinkage(
    truncate: float | str | None, relative: float | str, log_ratio: Floats, weight: Floats, rows: float
) -> Shrinkage:
    """Return the bound that was asked for, or the best one by the log ratios at the numerator's rows.

    `weight` are those of these rows, and `rows` is the number of the denominator's, counted by their weight.
    """
    if relative == "auto":
        return _best([Shrinkage(relative=mixture) for mixture in _MIXTURES], log_ratio, weight, rows)
    if isinstance(relative, float) and relative:
        return Shrinkage(relative=relative)
    if truncate == "auto":
        steps = np.arange(np.floor(np.log(max(rows, 4)) / 2 / np.log(_STEP)))
        limits = np.sqrt(rows) / _STEP**steps  # no row counts more than √n equal ones
        return _best([Shrinkage(float(limit)) for limit in limits], log_ratio, weight, rows)
    return Shrinkage() if truncate is None else Shrinkage(float(truncate))


def error_of_means(shrinkage: Shrinkage, log_ratio: Floats, weight: Floats, rows: float) -> float:
    """Return the mean squared error of a weighted mean, at most, for functions of variance one."""
    log_kept = shrinkage(log_ratio) - log_ratio
    kept = np.exp(log_kept)
    mean = np.average(kept, weights=weight)
    bias = np.average((kept / mean - 1) ** 2, weights=weight)
    variance = np.average(np.exp(2 * log_kept + np.minimum(log_ratio, 700.0)), weights=weight) / mean**2 / rows
    return float(bias + variance)


def _best(tried: list[Shrinkage], log_ratio: Floats, weight: Floats, rows: float) -> Shrinkage:
    """Return the one with the smallest error; the first of equals, which changes the ratio least."""
    return min(tried, key=lambda each: error_of_means(each, log_ratio, weight, rows))
