"""Whether one sample covers the places where the other one lives."""

import warnings

import numpy as np
from numpy.typing import NDArray

from vwkde.exceptions import OverlapWarning

Floats = NDArray[np.float64]

_COVERED = 0.01
"""Share of a sample's own points that count as lying at its edge."""
_POOR = 0.5
"""Share of unsupported points from which a divergence is not to be trusted."""


def unsupported_fraction(log_density: Floats, weight: Floats, own_log_density: Floats) -> float:
    """Return the share of points where the other sample's density is lower than at nearly all of its own points.

    `log_density` is the other sample's at the points, `own_log_density` the same at its own points, left out.
    """
    edge = np.quantile(own_log_density, _COVERED)
    return float(np.average(log_density < edge, weights=weight))


def warn_if_poor(unsupported: float) -> None:
    """Warn when most points are unsupported."""
    if unsupported > _POOR:
        warnings.warn(
            f"{unsupported:.0%} of the numerator's points lie where the denominator has almost none: the value is an "
            f"extrapolation, best read as 'large'. Use samples that overlap, more denominator rows, or fewer columns.",
            OverlapWarning,
            stacklevel=3,
        )
