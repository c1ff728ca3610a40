"""How rare a value would be among those of good images.

Above the median, the distribution of values is taken to be exponential, with the given quantile in the right place. The
logarithm of the tail probability is then linear in the value, so values of different kinds become comparable, also far
beyond those of any good image.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_UPPER = 0.9
"""The quantile that sets the rate of an exponential tail: high, but known well with some tens of images."""
_LEAST = 1e-6
"""Minimum width of a tail, so that values that are all alike can be compared."""


@dataclass(frozen=True)
class Tail:
    """Exponential tails of values: the medians, and the widths in which the tails fall by a factor of e."""

    centre: Floats
    width: Floats

    def __getitem__(self, place: Any) -> "Tail":
        """Return the tails at these places of the arrays."""
        return Tail(self.centre[place], self.width[place])

    def __call__(self, values: NDArray[np.floating]) -> Floats:
        """Return minus the log of the share of the upper half of good values that is higher, in nats.

        Values below the median become negative.
        """
        return np.asarray((values - self.centre) / self.width)


def fit_tail(values: NDArray[np.floating]) -> Tail:
    """Return the tails of values of good images, (images, …), each kind by itself."""
    values = values.astype(np.float64)  # in half precision, a value far out in a narrow tail would overflow
    centre, upper = np.quantile(values, [0.5, _UPPER], axis=0)
    width = (upper - centre) / np.log(0.5 / (1 - _UPPER))
    return Tail(np.asarray(centre), np.maximum(width, _LEAST))
