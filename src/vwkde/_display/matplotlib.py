"""Matplotlib: new axes, legends, and the elements of pictures, each drawn on given axes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._display.style import BLACK, central_range, number
from vwkde._runtime.extras import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.container import ErrorbarContainer
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

Floats = NDArray[np.float64]

_MOST_BINS = 60
_MOST_DOTS = 1_000
"""Maximum dots of one sample on a map; more would hide the colours."""
_STRIP = 0.25
"""Height of the histograms below a curve, as a fraction of the height of the curve."""


class Layer(NamedTuple):
    """Values or points of one sample, and how they are shown."""

    label: str
    values: Floats
    colour: str


class Whisker(NamedTuple):
    """A value and the ends of its interval."""

    value: float
    low: float
    high: float


def require_matplotlib() -> None:
    """Raise an error that says how to install Matplotlib, if it is missing."""
    require("matplotlib", "Pictures need Matplotlib", "plot")


def axes_or_new(ax: Any, *shape: int, **options: Any) -> Any:
    """Return the given axes, or those of a new pyplot figure, so that plt.show() shows it."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(*shape, layout="constrained", **options)[1]


def legend_above(ax: "Axes", columns: int = 3, **options: Any) -> None:
    """Put the legend, if it has entries, above the axes, where there are no data."""
    if not ax.get_legend_handles_labels()[0]:
        return
    style: dict[str, Any] = {"frameon": False, "fontsize": "small", "columnspacing": 1.2, "handlelength": 1.5}
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 1), ncols=columns, **style | options)


def curve(ax: "Axes", x: Floats, y: Floats, samples: Sequence[Layer], **kwargs: Any) -> "Line2D":
    """Draw a curve, with small histograms of the samples below it."""
    (line,) = ax.plot(x, y, **{"color": BLACK} | kwargs)
    ax.axhline(0, color="grey", lw=0.8, ls=":")
    if samples:
        _strip(ax, x, central_range(*_near([x], y, samples)), samples)
    return line


def colour_map(
    ax: "Axes",
    x: Floats,
    y: Floats,
    values: Floats,
    samples: Sequence[Layer],
    colours: tuple[str, str],
    zero: str,
    **kwargs: Any,
) -> "QuadContourSet":
    """Draw values on a grid in colours centred at zero, the zero line with the label `zero`, and the samples."""
    from matplotlib.ticker import MaxNLocator

    limit = max(float(np.quantile(np.abs(near), 0.95)) for near in _near([x, y], values, samples))
    levels = MaxNLocator(12, steps=[1, 2, 5, 10], symmetric=True).tick_values(-limit, limit)
    style: dict[str, Any] = {"levels": levels, "cmap": _diverging(*colours), "extend": "both"}
    surface = ax.contourf(x, y, values, **style | kwargs)
    _dots(ax, samples)
    if values.min() < 0 < values.max():
        ax.contour(x, y, values, levels=[0], colors=BLACK, linewidths=1)
        ax.plot([], [], color=BLACK, lw=1, label=zero)
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return surface


def histograms(ax: "Axes", samples: Sequence[Layer], **kwargs: Any) -> "list[StepPatch]":
    """Draw the share of rows per bin and the means; outliers count in the outermost bins."""
    edges = _edges(samples, *central_range(*(sample.values for sample in samples)))
    patches = []
    for label, values, colour in samples:
        share = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / len(values)
        style = _light(colour) | {"label": f"{label}, mean {number(values.mean())}"}
        patches.append(ax.stairs(share, edges, **style | kwargs))
        ax.axvline(values.mean(), color=colour, ls="--", lw=1.2)
    ax.set(xlim=(edges[0], edges[-1]), ylabel="share of rows per bin")
    return patches


def whiskers(ax: "Axes", names: Sequence[str], rows: Sequence[Whisker], **kwargs: Any) -> "ErrorbarContainer":
    """Draw a dot and its interval per row, from top to bottom, with the values above the dots.

    Intervals without an upper end are drawn past all others, with an arrow.
    """
    values = [row.value for row in rows]
    lows, highs = np.array([(row.low, row.high) for row in rows]).T
    is_open = np.isinf(highs)
    seen = np.array([0.0, *values, *lows, *highs[~is_open]])
    ends = np.where(is_open, seen.max() + 0.15 * (np.ptp(seen) or 1.0), highs)
    style: dict[str, Any] = {"fmt": "o", "capsize": 4}
    container = ax.errorbar(values, range(len(rows)), xerr=np.abs([lows - values, ends - values]), **style | kwargs)
    for place, (value, end) in enumerate(zip(values, ends, strict=True)):
        _above(ax, number(value), value, place)
        if is_open[place]:
            ax.plot(end, place, marker=">", color=container.lines[0].get_color())
    ax.set_ylim(len(rows) - 0.5, -0.6)
    ax.set_yticks(range(len(rows)), names)
    return container


def _strip(ax: "Axes", x: Floats, view: tuple[float, float], samples: Sequence[Layer]) -> None:
    """Draw the histograms below the visible part of the curve; its far ends may leave the axes."""
    edges = _edges(samples, x[0], x[-1])
    heights = [np.histogram(sample.values, edges)[0] / len(sample.values) for sample in samples]
    span = view[1] - view[0]
    floor = view[0] - (_STRIP + 0.1) * span
    scale = _STRIP * span / (np.max(heights) or 1.0)
    for (label, _, colour), height in zip(samples, heights, strict=True):
        ax.stairs(floor + scale * height, edges, baseline=floor, label=label, **_light(colour))
    ax.set_ylim(floor, view[1] + 0.1 * span)


def _near(grid: Sequence[Floats], values: Floats, samples: Sequence[Layer]) -> list[Floats]:
    """Return the grid values near the points of each sample, or all values: far corners must not set the scale."""
    if not samples:
        return [values.ravel()]
    nodes = [
        [np.searchsorted(x, column).clip(0, len(x) - 1) for x, column in zip(grid, sample.values.T, strict=True)]
        for sample in samples
    ]
    return [values[tuple(reversed(node))] for node in nodes]


def _dots(ax: "Axes", samples: Sequence[Layer]) -> None:
    for label, points, colour in samples:
        some = points[np.linspace(0, len(points) - 1, min(len(points), _MOST_DOTS)).astype(int)]
        ax.scatter(
            some[:, 0], some[:, 1], s=9, color=colour, edgecolors="white", linewidths=0.4, alpha=0.8, label=label
        )


def _diverging(low: str, high: str) -> "LinearSegmentedColormap":
    """Return a map from one colour through white to another, light enough for dots to be visible."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    ends = [tuple(0.35 + 0.65 * np.array(to_rgb(colour))) for colour in (low, high)]
    return LinearSegmentedColormap.from_list("diverging", [ends[0], "white", ends[1]])


def _edges(samples: Sequence[Layer], low: float, high: float) -> Floats:
    """Return bin edges between two ends; the number of bins follows Rice's rule for the smallest sample."""
    rows = min(len(sample.values) for sample in samples)
    return np.linspace(low, high, min(_MOST_BINS, int(2 * np.ceil(np.cbrt(rows)))) + 1)


def _light(colour: str) -> dict[str, Any]:
    return {"fill": True, "color": colour, "alpha": 0.4}


def _above(ax: "Axes", text: str, x: float, y: float) -> None:
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    ax.annotate(
        text, (x, y), (0, 6), textcoords="offset points", ha="center", va="bottom", fontsize="small", bbox=ground
    )
