"""The guide named "line": log odds that are linear in the columns, without a ridge and nearly unbiased.

A ridge is best for single points, but it draws the log ratio to zero, and with it every average. Without a ridge the
coefficients are noisy. That noise averages out, and its variance is known from the curvature of the likelihood. What
remains of the bias, about the number of columns over the number of rows, is removed by the correction of D. Firth
("Bias reduction of maximum likelihood estimates", Biometrika 80, 1993), which also keeps the coefficients finite where
a line separates the samples. Unlike the guide from Gaussians of one covariance, which is linear too, this one does not
ask how the columns are distributed.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.exponentials import chance_of
from vwkde._models.guides.regression import rows_of

Floats = NDArray[np.float64]

_ROWS_PER_COEFFICIENT = 5
"""Rows of the smaller sample for each coefficient with which the variance is known well enough."""
_STEPS = 25
_LARGEST_STEP = 5.0
"""Largest change of the log odds at any row in one step: farther out the curvature says nothing."""
_CLOSE = 1e-6
"""Change of the log odds at which the search ends."""
_FLAT = 1e-10
"""Curvature, relative to the largest, below which rows do not vary in a direction: it gets no coefficient."""


@dataclass(frozen=True)
class UnbiasedLine:
    """Log odds with coefficients of the columns and a constant, the last one, and the covariance of these numbers."""

    coefficients: Floats
    covariance: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return x @ self.coefficients[:-1] + self.coefficients[-1]

    def noise(self, x: Floats) -> Floats:
        """Return the variance of the log odds at points."""
        features = _with_constant(x)
        return np.maximum(np.einsum("nd,nd->n", features @ self.covariance, features), 0.0)  # but for rounding


def fit_unbiased_line(numerator: Sample, denominator: Sample) -> UnbiasedLine:
    """Fit by Newton's method on the corrected slope of the likelihood; both samples have equal weight."""
    sign, weight = rows_of(numerator, denominator)
    x = _with_constant(np.concatenate([numerator.points, denominator.points]))
    coefficients = np.zeros(x.shape[1])
    for _ in range(_STEPS):
        chance = chance_of(x @ coefficients)
        inverse = _inverse_curvature(x, weight * chance * (1 - chance))
        leverage = weight * chance * (1 - chance) * np.einsum("nd,nd->n", x @ inverse, x)
        step = inverse @ ((weight * ((sign > 0) - chance) + leverage * (0.5 - chance)) @ x)
        farthest = np.abs(x @ step).max()
        coefficients = coefficients + step * min(1.0, _LARGEST_STEP / max(farthest, _CLOSE))
        if farthest < _CLOSE:
            break
    chance = chance_of(x @ coefficients)
    inverse = _inverse_curvature(x, weight * chance * (1 - chance))
    # if the samples have different numbers of rows, the weights are not those of independent rows
    scatter = (x.T * (weight**2 * chance * (1 - chance))) @ x
    return UnbiasedLine(coefficients, inverse @ scatter @ inverse)


def have_rows_for_a_line(numerator: Sample, denominator: Sample) -> bool:
    """Return whether there are several rows for each column."""
    return have_rows_for(numerator.points.shape[1], numerator, denominator)


def have_rows_for(slopes: int, numerator: Sample, denominator: Sample) -> bool:
    """Return whether there are several rows for each of some slopes and a constant.

    Pairs of X and Y are as many as one likes, and say nothing about the variance.
    """
    rows = min(numerator.effective_rows, denominator.effective_rows)
    return denominator.pairs is None and rows >= _ROWS_PER_COEFFICIENT * (slopes + 1)


def _with_constant(x: Floats) -> Floats:
    return np.column_stack([x, np.ones(len(x))])


def _inverse_curvature(x: Floats, weight: Floats) -> Floats:
    """Return the inverse of the curvature in the directions in which rows vary."""
    return np.asarray(np.linalg.pinv((x.T * weight) @ x, rcond=_FLAT, hermitian=True))
