"""How a Gaussian kernel passes over a grid: the window that spreads points and reads values, and how wrong it can be.

On each axis, in units of the bandwidth, exp(−(x − y)²/2) ≈ Σ_ab φ(x − a) g(a − b) φ(y − b) over the nodes a, b of a
grid. The window φ is the exponential of a semicircle, a few nodes wide; g is the kernel divided by the window twice, in
the Fourier domain. What is wrong is aliasing, which such a window makes nearly as small as any can.

The error of this sum is a function of x − y and of the place of x between two nodes; `tests/_compute/engines/` has its
size on a fine mesh of both. It falls off like exp(−t²/4), the kernel that is wider by √2. So the sum with the wider
kernel, from the same grid, bounds the error for every query.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WIDTH = 10
"""Nodes that the window covers."""
STEP = 0.3
"""Distance between nodes, in bandwidths."""
SHAPE = 2.3 * WIDTH
"""Exponent of the window: with the step above its spectrum ends where that of the kernel begins again by aliasing."""
REACH = 9.0
"""Distance, in bandwidths, beyond which g is taken to be zero: exp(−40)."""
NEAR = REACH - WIDTH * STEP
"""Distance up to which both windows see all of g."""
_FREQUENCIES = 2_048
NEAR_ERROR = 1e-8
"""Largest error on one axis at distances t below `NEAR`, in units of exp(−t²/4): twice the largest found."""
FAR_ERROR = 2e-13
"""Largest error on one axis at distances above `NEAR`."""
WIDE_RATIO = 0.999
"""Smallest ratio of what the grid gives for the wider kernel to its value, at distances below `NEAR`."""


def window(z: Floats) -> Floats:
    """Return φ at a distance in nodes."""
    inside = np.maximum(0, 1 - (2 * z / WIDTH) ** 2)
    return np.where(inside > 0, np.exp(SHAPE * (np.sqrt(inside) - 1)), 0.0)


@cache
def taps(variance: float) -> Floats:
    """Return g(a − b) for the kernel exp(−t²/2 variance), from −REACH to REACH."""
    node, weight = np.polynomial.legendre.leggauss(200)
    at = node * WIDTH / 2
    frequency = (np.arange(_FREQUENCIES) + 0.5) * np.pi / _FREQUENCIES  # per node, up to the highest
    spectrum = np.cos(np.outer(frequency, at)) @ (weight * WIDTH / 2 * window(at))
    kernel = np.sqrt(2 * np.pi * variance) * np.exp(-variance * (frequency / STEP) ** 2 / 2)
    count = round(REACH / STEP)
    place = np.arange(-count, count + 1)
    return np.cos(np.outer(place, frequency)) @ (kernel / spectrum**2) / (STEP * _FREQUENCIES)
