"""The demo's picture."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from vwkde._display.matplotlib import require_matplotlib
from vwkde._display.style import BLACK, GOLD, RED, TEAL
from vwkde._runtime.files import save_picture
from vwkde.cli.demo import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE = np.linspace(-2.5, 2.8, 200)[:, None]
_TRUTH, _KDE, _VWKDE, _DEFAULT = BLACK, RED, TEAL, GOLD


def save_demo(comparisons: list[Comparison], path: Path) -> None:
    """Draw the 1-D example in the upper row and the 20-D examples in the lower row."""
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 7), layout="constrained")
    axes = figure.subplots(2, 3)
    line = next(c for c in comparisons if c.name == "1-D, h = 0.7")
    high = [c for c in comparisons if c.pair.numerator.mean.size > 1]
    _log_ratio_on_a_line(axes[0, 0], line)
    _bias_on_a_line(axes[0, 1], line)
    _weight_on_a_line(axes[0, 2], line)
    _estimate_against_truth(axes[1, 0], high[0])
    _bias_against_truth(axes[1, 1], high[0])
    _divergences(axes[1, 2], high)
    save_picture(path, figure, dpi=120)


def _log_ratio_on_a_line(ax: "Axes", c: Comparison) -> None:
    x = _LINE
    ax.plot(x, c.pair.log_ratio(x), color=_TRUTH, label="truth")
    ax.plot(x, c.kde.log_ratio(x), color=_KDE, label="KDE")
    ax.plot(x, c.vwkde.log_ratio(x), color=_VWKDE, label="VWKDE")
    ax.set(title=f"Log ratio ({c.name})", xlabel="x", ylabel="log p₁/p₂")
    ax.legend(frameon=False)


def _bias_on_a_line(ax: "Axes", c: Comparison) -> None:
    x = _LINE
    truth = c.pair.log_ratio(x)
    for ratio, color, name in ((c.kde, _KDE, "KDE"), (c.vwkde, _VWKDE, "VWKDE")):
        ax.plot(x, ratio.log_ratio(x) - truth, color=color, label=f"{name}, measured")
        ax.plot(x, ratio.bandwidth_**2 * ratio.residual_bias(x), color=color, ls=":", label=f"{name}, h²·B")
    ax.axhline(0, color=_TRUTH, lw=0.8)
    ax.set(title="Its bias, before and after", xlabel="x", ylabel="estimate − truth", ylim=(-3.5, 3.5))
    ax.legend(frameon=False, fontsize="small")


def _weight_on_a_line(ax: "Axes", c: Comparison) -> None:
    x = _LINE
    log_weight = c.vwkde.log_weight(x)
    ax.plot(x, np.exp(log_weight - log_weight.max()), color=_VWKDE, label="α")
    for density, style in ((c.pair.numerator, "-"), (c.pair.denominator, "--")):
        ax.plot(x, np.exp(density.log_density(x)), color="grey", ls=style, lw=0.9)
    ax.set(
        title="The weight α; p₁ (—) and p₂ (- -)", xlabel="x", ylabel="α, scaled to 1", yscale="log", ylim=(1e-3, 1.5)
    )


def _estimate_against_truth(ax: "Axes", c: Comparison) -> None:
    x = _new_points(c)
    truth = c.pair.log_ratio(x)
    for ratio, color, name in ((c.kde, _KDE, "KDE"), (c.vwkde, _VWKDE, "VWKDE")):
        ax.scatter(truth, ratio.log_ratio(x), s=5, alpha=0.5, color=color, label=name, linewidths=0)
    ends = np.array([truth.min(), truth.max()])
    ax.plot(ends, ends, color=_TRUTH, label="truth")
    ax.set(title=f"Log ratio at new points ({c.name})", xlabel="true log p₁/p₂", ylabel="estimate")
    ax.legend(frameon=False, markerscale=3)


def _bias_against_truth(ax: "Axes", c: Comparison) -> None:
    x = _new_points(c)
    truth = c.pair.log_ratio(x)
    edges = np.quantile(truth, np.linspace(0, 1, 11))
    bins = np.clip(np.digitize(truth, edges) - 1, 0, 9)
    centres = [truth[bins == b].mean() for b in range(10)]
    for ratio, color, name in ((c.kde, _KDE, "KDE"), (c.vwkde, _VWKDE, "VWKDE")):
        error = ratio.log_ratio(x) - truth
        ax.plot(centres, [error[bins == b].mean() for b in range(10)], "o-", color=color, label=name)
    ax.axhline(0, color=_TRUTH, lw=0.8)
    ax.set(title="Its bias, before and after", xlabel="true log p₁/p₂", ylabel="mean of estimate − truth")
    ax.legend(frameon=False)


def _divergences(ax: "Axes", comparisons: list[Comparison]) -> None:
    place = np.arange(len(comparisons))
    rows = [c.to_dict() for c in comparisons]
    bars_of = (("truth", _TRUTH), ("KDE", _KDE), ("VWKDE", _VWKDE), ("default", _DEFAULT))
    for number, (label, color) in enumerate(bars_of):
        values = [row[label.lower()] for row in rows]
        bars = ax.bar(place + 0.21 * (number - 1.5), values, width=0.2, color=color, label=label)
        ax.bar_label(bars, fmt="%.2f", fontsize="small", padding=2)
    ax.axhline(0, color=_TRUTH, lw=0.8)
    ax.margins(y=0.12)
    ax.set_xticks(place, [row["example"] for row in rows])
    ax.set(title="KL divergence", ylabel="nats")
    ax.legend(frameon=False)


def _new_points(c: Comparison) -> Any:
    """Return points that were not used in the fits."""
    return np.concatenate(c.pair.sample(500, random_state=1))
