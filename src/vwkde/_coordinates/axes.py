"""The principal axes of a covariance: the step that every whitening shares."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
