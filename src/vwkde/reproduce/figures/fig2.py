"""Figure 2: the posterior of two 20-D Gaussians, its bias and its variance against the bandwidth."""

from typing import TYPE_CHECKING

import numpy as np

from vwkde import datasets
from vwkde.reproduce.core.figure import Claim, Figure, Results, Scale
from vwkde.reproduce.core.repeats import collect_repeats, draw_along_line, draw_bias_and_variance, of_each, repeat_tasks
from vwkde.reproduce.core.tasks import Outcome, Task

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_PAIR = datasets.isotropic(20)
_ROWS = 1_000
_BANDWIDTHS = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0)
_SHOWN = 0.8
"""The bandwidth of the first panel: the one that the paper's appendix uses in 20-D."""
_MOST_SCATTER = 2.0
"""How many times larger than KDE's VWKDE's standard deviation may be."""
_LINE = np.zeros((60, 20))
_LINE[:, 0] = np.linspace(-1.6, 3.0, 60)
_POINTS = np.concatenate(_PAIR.sample(500, random_state=1_000_000))


def _bandwidths(scale: Scale) -> tuple[float, ...]:
    return (0.6, _SHOWN, 1.2) if scale.quick else _BANDWIDTHS


def _tasks(scale: Scale) -> list[Task]:
    return repeat_tasks(_PAIR, _ROWS, _bandwidths(scale), _POINTS, _LINE, "posterior", scale)


def _collect(outcomes: dict[str, Outcome], scale: Scale) -> Results:
    return collect_repeats(_PAIR, _bandwidths(scale), _LINE, "posterior", outcomes, scale)


def _claims(results: Results) -> list[Claim]:
    at = results["bandwidths"].index(_SHOWN)
    bias, variance = (
        {method: of_each(results, method, name) for method in results["methods"]}
        for name in ("squared_bias", "variance")
    )
    return [
        Claim(
            "VWKDE corrects the bias of the posterior.",
            "§2.2, Figure 2(a)",
            f"squared bias at h = {_SHOWN}: KDE {bias['kde'][at]:.4f}, VWKDE {bias['vwkde-mb'][at]:.4f}",
            bool(bias["vwkde-mb"][at] < 0.5 * bias["kde"][at]),
        ),
        Claim(
            "The bias of KDE grows with the bandwidth, that of VWKDE stays small.",
            "Figure 2(b, c)",
            f"squared bias from the narrowest to the widest kernel: KDE {bias['kde'][0]:.4f} to {bias['kde'][-1]:.4f}, "
            f"VWKDE {bias['vwkde-mb'][0]:.4f} to {bias['vwkde-mb'][-1]:.4f}",
            bool(bias["kde"][-1] > bias["kde"][0] and bias["vwkde-mb"][-1] < 0.5 * bias["kde"][-1]),
        ),
        Claim(
            "The variance does not blow up.",
            "Figure 2(b, c)",
            f"variance at h = {_SHOWN}: KDE {variance['kde'][at]:.3f}, VWKDE {variance['vwkde-mb'][at]:.3f}; with the "
            f"widest kernel {variance['kde'][-1]:.4f} and {variance['vwkde-mb'][-1]:.4f}",
            bool((variance["vwkde-mb"] <= _MOST_SCATTER**2 * variance["kde"]).all()),
        ),
    ]


def _draw(results: Results, canvas: "Canvas") -> None:
    left, middle, right = canvas.subplots(1, 3)
    draw_along_line(left, results, _SHOWN)
    left.set(title=f"(a) Posterior along the line of the means, h = {_SHOWN}", xlabel="x₁", ylabel="P(p₁ | x)")
    for ax, method, letter in ((middle, "kde", "b"), (right, "vwkde-mb", "c")):
        draw_bias_and_variance(ax, results, method)
        ax.set(title=f"({letter}) Bias² and variance", ylim=(0, None))
    right.sharey(middle)
    middle.autoscale(axis="y")
    middle.set_ylim(bottom=0)


FIGURE = Figure(
    "fig2",
    "Posterior of two 20-D Gaussians",
    f"Unit Gaussians √2 apart, {_ROWS:,} rows each (the paper does not state its number). Bias and variance are "
    f"averages over {len(_POINTS):,} other points from both. The band in the first panel is one standard deviation.",
    _tasks,
    _collect,
    _claims,
    _draw,
    (15, 4.5),
)
