"""What all pictures share: the palette, the number format, and the visible range."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BLACK, RED, TEAL, GOLD, NAVY = "black", "#d1495b", "#00798c", "#edae49", "#003d5b"

_TO_THE_UNIT = 99.95
"""Numbers from this value on have three digits before the point."""
_TO_THREE_DIGITS = 1e15
"""Numbers from this value on are too long to read, and have whole digits that nobody measured."""


def number(value: float) -> str:
    """Return a number with three significant digits or, if large, rounded to an integer; with a real minus sign."""
    is_whole = _TO_THE_UNIT <= abs(value) < _TO_THREE_DIGITS
    return (f"{value:,.0f}" if is_whole else f"{value:#.3g}").replace("-", "−")


def central_range(*samples: Floats) -> tuple[float, float]:
    """Return a range that covers all samples except far outliers.

    For each sample, the central 90 % are extended on either side by their own width.
    """
    ends = [_central_range(values) for values in samples]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _central_range(values: Floats) -> tuple[float, float]:
    low, high = np.quantile(values, [0.05, 0.95])
    if low == high:
        return float(values.min()), float(values.max())
    return float(max(values.min(), 2 * low - high)), float(min(values.max(), 2 * high - low))
