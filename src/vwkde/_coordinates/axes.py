"""The principal axes of a covariance, the step that every whitening shares, and the whitening of a single sample."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._coordinates.shrinkage import ledoit_wolf_shrinkage

Floats = NDArray[np.float64]


_CONSTANT = 1e-13
"""Standard deviation up to which a column of numbers near one is constant, except for rounding."""
_THINNEST = 1e-10
"""Variance, relative to the largest, below which a direction does not vary."""


class PrincipalAxes(NamedTuple):
    """Axes as columns, with their variances in ascending order; `flat` are the axes along which nothing varies."""

    variances: Floats
    axes: Floats
    flat: Floats

    @property
    def root(self) -> Floats:
        """Return the axes divided by the standard deviations: rows times this have variance one along each axis."""
        return self.axes / np.sqrt(self.variances)


def principal_axes(covariance: Floats, least: float) -> PrincipalAxes:
    """Return the principal axes; those with at most the share `least` of the largest variance count as flat."""
    values, vectors = np.linalg.eigh(covariance)
    varying = values > least * values[-1]
    return PrincipalAxes(values[varying], vectors[:, varying], vectors[:, ~varying])


def white(z: Floats) -> Floats:
    """Return the rows of a single sample centred and white, in the columns and directions in which they vary.

    The correlations are shrunk as far as the rows do not determine them (Ledoit and Wolf).
    """
    z = z - z.mean(axis=0)
    spread = z.std(axis=0)
    z = z[:, spread > _CONSTANT] / spread[spread > _CONSTANT]
    if not z.shape[1]:
        return z
    shrinkage = ledoit_wolf_shrinkage(z)
    correlation = (1 - shrinkage) * (z.T @ z / len(z)) + shrinkage * np.eye(z.shape[1])
    return np.asarray(z @ principal_axes(correlation, _THINNEST).root)
