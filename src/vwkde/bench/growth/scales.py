"""Logarithmic scales of a picture."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_MARGIN = 0.06
"""Space beyond the outermost values, as a fraction of the length."""
_MOST_TICKS = 5


@dataclass(frozen=True)
class Scale:
    """Where numbers from `low` to `high`, both as powers of ten, are placed on a length in pixels."""

    low: float
    high: float
    length: float

    def place(self, value: float) -> float:
        """Return the distance from the start."""
        return float(self.length * (np.log10(value) - self.low) / (self.high - self.low))

    def from_top(self, value: float) -> float:
        """Return the distance from the end, for a scale that goes up."""
        return self.length - self.place(value)

    def has(self, value: float) -> bool:
        """Return whether a number is on the scale."""
        return bool(self.low <= np.log10(value) <= self.high)

    def ticks(self) -> list[float]:
        """Return powers of ten, at most five of them; 1, 3 and 10 and so on if the scale has few."""
        powers = np.arange(np.ceil(self.low), np.floor(self.high) + 1)
        if len(powers) <= 2:
            finer = [factor * 10.0**power for power in (*(powers[:1] - 1), *powers) for factor in (1, 3)]
            return [value for value in finer if self.has(value)]
        return [float(10.0**power) for power in powers[:: -(-len(powers) // _MOST_TICKS)]]


def scale_of(values: Sequence[float], length: float) -> Scale:
    """Return the scale that has room for some positive numbers."""
    low, high = np.log10([min(values, default=1.0), max(values, default=1.0)])
    margin = _MARGIN * (high - low) or 0.5
    return Scale(float(low - margin), float(high + margin), length)


def short(value: float) -> str:
    """Return a number that takes little space: 250, 16k, 2.5k, 0.01."""
    if value >= 1_000_000:
        return f"{value / 1_000_000:g}M"
    return f"{value / 1_000:g}k" if value >= 1_000 else f"{value:g}"
