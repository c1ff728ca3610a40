"""The pieces that displays are made of: each function draws one thing on given axes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._display.style import BLACK, RED, TEAL, central_range, number
from vwkde.results import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.container import ErrorbarContainer
    from matplotlib.contour import QuadContourSet
    from matplotlib.lines import Line2D
    from matplotlib.patches import StepPatch

Floats = NDArray[np.float64]

NUMERATOR, DENOMINATOR = TEAL, RED
LOG_RATIO = "log p₁/p₂ (nats)"

_KINDS = {
    "kl": "KL(p₁ ‖ p₂)",
    "reverse-kl": "KL(p₂ ‖ p₁)",
    "jensen-shannon": "Jensen–Shannon",
    "renyi": "Rényi",
    "hellinger": "Hellinger",
    "total-variation": "Total variation",
}
_MOST_BINS = 60
_MOST_DOTS = 1_000
"""Dots of one sample that a map shows; more would hide the colours."""
_STRIP = 0.25
"""Height of the histograms beneath a curve, as a share of the curve's own."""
_EDGE = 0.01
"""Share of a sample's rows that count as its edge, beyond which it has almost none."""


class Layer(NamedTuple):
    """Values or points of one sample, and how they are shown."""

    label: str
    values: Floats
    colour: str


def layers(numerator: Floats | None, denominator: Floats | None) -> list[Layer]:
    """Return those of the two samples that are there."""
    both = ("numerator p₁", numerator, NUMERATOR), ("denominator p₂", denominator, DENOMINATOR)
    return [
        Layer(f"{name} ({len(values):,} rows)", values, colour) for name, values, colour in both if values is not None
    ]


def kind_name(kind: str, order: float | None = None) -> str:
    """Return what a picture calls a kind of divergence."""
    return _KINDS.get(kind, kind) + ("" if order is None else f" of order {order:g}")


def curve(ax: "Axes", x: Floats, log_ratio: Floats, samples: list[Layer], **kwargs: Any) -> "Line2D":
    """Draw the log ratio over one feature, with small histograms of the samples beneath."""
    (line,) = ax.plot(x, log_ratio, **{"color": BLACK} | kwargs)
    ax.axhline(0, color="grey", lw=0.8, ls=":")
    if samples:
        _strip(ax, x, central_range(*_near([x], log_ratio, samples)), samples)
    return line


def colour_map(
    ax: "Axes", x: Floats, y: Floats, log_ratio: Floats, samples: list[Layer], **kwargs: Any
) -> "QuadContourSet":
    """Draw the log ratio over two features in colours centred at zero, and the samples' points."""
    from matplotlib.ticker import MaxNLocator

    limit = max(float(np.quantile(np.abs(values), 0.95)) for values in _near([x, y], log_ratio, samples))
    levels = MaxNLocator(12, steps=[1, 2, 5, 10], symmetric=True).tick_values(-limit, limit)
    style: dict[str, Any] = {"levels": levels, "cmap": _colours(), "extend": "both"}
    surface = ax.contourf(x, y, log_ratio, **style | kwargs)
    _dots(ax, samples)
    if log_ratio.min() < 0 < log_ratio.max():
        ax.contour(x, y, log_ratio, levels=[0], colors=BLACK, linewidths=1)
        ax.plot([], [], color=BLACK, lw=1, label="p₁ = p₂")
    ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    return surface


def histograms(ax: "Axes", samples: list[Layer], **kwargs: Any) -> "list[StepPatch]":
    """Draw the share of rows per bin and the means; what lies far out counts in the outermost bins."""
    edges = _edges(samples, *central_range(*(sample.values for sample in samples)))
    patches = []
    for label, values, colour in samples:
        share = np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0] / len(values)
        style = _light(colour) | {"label": f"{label}, mean {number(values.mean())}"}
        patches.append(ax.stairs(share, edges, **style | kwargs))
        ax.axvline(values.mean(), color=colour, ls="--", lw=1.2)
    ax.set(xlim=(edges[0], edges[-1]), xlabel=f"leave-one-out {LOG_RATIO}", ylabel="share of rows per bin")
    return patches


def whiskers(ax: "Axes", names: Sequence[str], estimates: Sequence[Estimate], **kwargs: Any) -> "ErrorbarContainer":
    """Draw a dot and its interval per estimate, from top to bottom, with the values above the dots."""
    values = [estimate.value for estimate in estimates]
    lengths = np.abs([estimate.interval for estimate in estimates] - np.array(values)[:, None]).T
    style: dict[str, Any] = {"fmt": "o", "color": NUMERATOR, "capsize": 4, "label": _in_words(estimates)}
    container = ax.errorbar(values, range(len(values)), xerr=lengths, **style | kwargs)
    for place, value in enumerate(values):
        _above(ax, number(value), value, place)
    ax.set_ylim(len(values) - 0.5, -0.6)
    _name_rows(ax, names, estimates)
    return container


def distributions(ax: "Axes", numerator: Floats, denominator: Floats, **kwargs: Any) -> "list[Line2D]":
    """Draw the empirical distributions of the log ratio, and shade where one sample has almost no rows."""
    samples = layers(numerator, denominator)
    low, high = central_range(numerator, denominator)
    lines = [ax.ecdf(s.values, **{"color": s.colour, "label": s.label} | kwargs) for s in samples]
    first, last = np.quantile(numerator, _EDGE), np.quantile(denominator, 1 - _EDGE)
    if low < first:
        ax.axvspan(low, first, color=DENOMINATOR, alpha=0.12, lw=0, label="almost no numerator rows")
    if last < high:
        ax.axvspan(last, high, color=NUMERATOR, alpha=0.12, lw=0, label="almost no denominator rows")
    ax.set(xlabel=f"leave-one-out {LOG_RATIO}", ylabel="share of rows below", xlim=(low, high), ylim=(0, 1.02))
    return lines


def shares(ax: "Axes", weights: Floats, effective_size: float, **kwargs: Any) -> "Line2D":
    """Draw the share of the weight that the heaviest rows carry together."""
    rows = np.arange(len(weights) + 1) / len(weights)
    share = np.concatenate([[0], np.cumsum(np.sort(weights)[::-1])]) / weights.sum()
    (line,) = ax.plot(rows, share, **{"color": DENOMINATOR, "label": "importance weights"} | kwargs)
    ax.plot([0, 1], [0, 1], color="grey", ls=":", label="equal weights")
    text = f"effective sample size\n{effective_size:,.0f} of {len(weights):,} rows"
    ax.text(0.97, 0.05, text, ha="right", va="bottom", transform=ax.transAxes)
    ax.set(
        xlabel="share of denominator rows, heaviest first", ylabel="share of the weight", xlim=(0, 1), ylim=(0, 1.02)
    )
    return line


def _strip(ax: "Axes", x: Floats, view: tuple[float, float], samples: list[Layer]) -> None:
    """Draw the histograms below the part of the curve that is in view, and let its far ends leave the axes."""
    edges = _edges(samples, x[0], x[-1])
    heights = [np.histogram(sample.values, edges)[0] / len(sample.values) for sample in samples]
    span = view[1] - view[0]
    floor = view[0] - (_STRIP + 0.1) * span
    scale = _STRIP * span / (np.max(heights) or 1.0)
    for (label, _, colour), height in zip(samples, heights, strict=True):
        ax.stairs(floor + scale * height, edges, baseline=floor, label=label, **_light(colour))
    ax.set_ylim(floor, view[1] + 0.1 * span)


def _near(grid: Sequence[Floats], log_ratio: Floats, samples: list[Layer]) -> list[Floats]:
    """Return the grid's values next to each sample's points, or else all: far corners shall not set the scale."""
    if not samples:
        return [log_ratio.ravel()]
    nodes = [
        [np.searchsorted(x, column).clip(0, len(x) - 1) for x, column in zip(grid, sample.values.T, strict=True)]
        for sample in samples
    ]
    return [log_ratio[tuple(reversed(node))] for node in nodes]


def _dots(ax: "Axes", samples: list[Layer]) -> None:
    for label, points, colour in samples:
        some = points[np.linspace(0, len(points) - 1, min(len(points), _MOST_DOTS)).astype(int)]
        ax.scatter(
            some[:, 0], some[:, 1], s=9, color=colour, edgecolors="white", linewidths=0.4, alpha=0.8, label=label
        )


def _colours() -> "LinearSegmentedColormap":
    """Return a map from the denominator's colour to the numerator's, light enough for dots to stand out."""
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    ends = [tuple(0.35 + 0.65 * np.array(to_rgb(colour))) for colour in (DENOMINATOR, NUMERATOR)]
    return LinearSegmentedColormap.from_list("ratio", [ends[0], "white", ends[1]])


def _edges(samples: list[Layer], low: float, high: float) -> Floats:
    """Return bins between two ends, of the number that Rice's rule gives for the smallest sample."""
    rows = min(len(sample.values) for sample in samples)
    return np.linspace(low, high, min(_MOST_BINS, int(2 * np.ceil(np.cbrt(rows)))) + 1)


def _light(colour: str) -> dict[str, Any]:
    return {"fill": True, "color": colour, "alpha": 0.4}


def _above(ax: "Axes", text: str, x: float, y: float) -> None:
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.6}
    ax.annotate(
        text, (x, y), (0, 6), textcoords="offset points", ha="center", va="bottom", fontsize="small", bbox=ground
    )


def _in_words(estimates: Sequence[Estimate]) -> str:
    """Return what dots and whiskers are; how wide the intervals are is told if it is the same for all."""
    levels = {estimate.confidence_level for estimate in estimates}
    return f"estimate, {100 * levels.pop():g} % interval" if len(levels) == 1 else "estimate and its interval"


def _name_rows(ax: "Axes", names: Sequence[str], estimates: Sequence[Estimate]) -> None:
    """Put the unit on the axis if there is one for all, else beside the names."""
    kinds, units = {e.kind for e in estimates}, {e.unit for e in estimates}
    what = kind_name(kinds.pop()) if len(kinds) == 1 else "divergence"
    ax.set_xlabel(_with_unit(what, estimates[0]) if len(units) == 1 else what)
    rows = names if len(units) == 1 else list(map(_with_unit, names, estimates))
    ax.set_yticks(range(len(rows)), rows)


def _with_unit(name: str, estimate: Estimate) -> str:
    return f"{name} ({estimate.unit})" if estimate.unit else name
