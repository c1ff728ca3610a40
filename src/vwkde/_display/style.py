"""What all pictures share: the palette, fresh axes, what is in view, and where the legend goes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

BLACK, RED, TEAL, GOLD, NAVY = "black", "#d1495b", "#00798c", "#edae49", "#003d5b"


_TO_THE_UNIT = 99.95
"""Numbers from here on have three digits before the point."""


def require_matplotlib() -> None:
    """Raise with the command that installs it, unless Matplotlib is there."""
    require("matplotlib", "Pictures need Matplotlib", "plot")


def axes_or_new(ax: Any, *shape: int, **options: Any) -> Any:
    """Return the given axes, or those of a new figure that pyplot knows, so that plt.show() shows it."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(*shape, layout="constrained", **options)[1]


def legend_above(ax: "Axes", columns: int = 3, **options: Any) -> None:
    """Put the legend, if there is anything to tell, on top of the axes, where no data are."""
    if not ax.get_legend_handles_labels()[0]:
        return
    style: dict[str, Any] = {"frameon": False, "fontsize": "small", "columnspacing": 1.2, "handlelength": 1.5}
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1), ncols=columns, **style | options)


def number(value: float) -> str:
    """Return a number in three digits or, if large, to the unit; with a proper minus sign."""
    return (f"{value:,.0f}" if abs(value) >= _TO_THE_UNIT else f"{value:#.3g}").replace("-", "−")


def central_range(*samples: Floats) -> tuple[float, float]:
    """Return a range that holds all samples but for far outliers: of each, thrice that of its central nine tenths."""
    ends = [_central_range(values) for values in samples]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _central_range(values: Floats) -> tuple[float, float]:
    low, high = np.quantile(values, [0.05, 0.95])
    if low == high:
        return float(values.min()), float(values.max())
    return float(max(values.min(), 2 * low - high)), float(min(values.max(), 2 * high - low))
