"""Figure 1: why the ratio of two kernel estimates is biased at a point, and how a weight corrects it."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde import datasets
from vwkde.datasets import Gaussian
from vwkde.divergences import make_ratio
from vwkde.reproduce.core.figure import Claim, Figure, Results, Scale, six_digits
from vwkde.reproduce.core.tasks import Outcome, Task, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas

Floats = NDArray[np.float64]

_PAIR = datasets.mean_difference(1, 2.0)
_PLACE = 0.0
"""The paper's x₀: the peak of p₁, where p₁ is concave, on the flank of p₂, where p₂ is convex."""
_BANDWIDTH = 0.5
_ROWS = 1_000
_GRID = np.linspace(-8, 10, 7_201)
"""Grid for numerical integration, with 400 points per unit."""
_CONTENDERS = {"plain": "uniform", "weighted": "closed-form"}


def log_weight(x: Floats) -> Floats:
    """Return log α from the exact densities: −½ (log p₁ + log p₂)."""
    return -0.5 * (_PAIR.numerator.log_density(x[:, None]) + _PAIR.denominator.log_density(x[:, None]))


def expected(density: Gaussian, x: Floats, weighted: bool) -> Floats:
    """Return the expectation of a kernel estimate at points; a weighted one is divided by α there."""
    terms = np.exp(density.log_density(_GRID[:, None]) + (log_weight(_GRID) if weighted else 0.0))
    kernel = np.exp(-0.5 * ((x[:, None] - _GRID) / _BANDWIDTH) ** 2)
    means = kernel @ terms / kernel.sum(axis=1)
    return means / np.exp(log_weight(x)) if weighted else means


def log_ratio_at_place(weighting: str, seed: int) -> float:
    """Return the log ratio at x₀ by kernel estimates from one pair of samples."""
    unit = np.sqrt(np.mean([np.var(x) for x in _PAIR.sample(_ROWS, random_state=seed)]))
    ratio = make_ratio(
        None, {"guide": None, "weighting": weighting, "derivatives": "gaussian", "bandwidth": _BANDWIDTH / unit}
    )
    fitted = ratio.fit(*_PAIR.sample(_ROWS, random_state=seed))
    return float(six_digits(fitted.log_ratio(np.array([[_PLACE]]))[0]))


def _tasks(scale: Scale) -> list[Task]:
    return [
        Task(f"{name}/{seed}", log_ratio_at_place, (weighting, seed))
        for name, weighting in _CONTENDERS.items()
        for seed in range(scale.repetitions)
    ]


def _collect(outcomes: dict[str, Outcome], scale: Scale) -> Results:
    place = np.array([_PLACE])
    values = values_of(outcomes)

    def densities(weighted: bool) -> list[float]:
        return [float(expected(each, place, weighted)[0]) for each in (_PAIR.numerator, _PAIR.denominator)]

    return {
        "bandwidth": _BANDWIDTH,
        "place": _PLACE,
        "densities": [
            float(np.exp(each.log_density(place[:, None]))[0]) for each in (_PAIR.numerator, _PAIR.denominator)
        ],
        "expected_plain": densities(False),
        "expected_weighted": densities(True),
        "measured": {name: [values[f"{name}/{seed}"] for seed in range(scale.repetitions)] for name in _CONTENDERS},
    }


def _claims(results: Results) -> list[Claim]:
    true, plain, weighted = (np.array(results[name]) for name in ("densities", "expected_plain", "expected_weighted"))
    log_ratio = float(np.log(true[0] / true[1]))
    means = {name: float(np.mean(values)) for name, values in results["measured"].items()}
    return [
        Claim(
            "At x₀ the concave p₁ is underestimated and the convex p₂ overestimated.",
            "§1, Figure 1(b)",
            f"expected estimate over density: p₁ {plain[0] / true[0]:.3f}, p₂ {plain[1] / true[1]:.3f}",
            bool(plain[0] < true[0] and plain[1] > true[1]),
        ),
        Claim(
            "The two biases add up to an underestimation of the ratio.",
            "§1, Figure 1(b)",
            f"log ratio at x₀: true {log_ratio:.3f}, by plain estimates {means['plain']:.3f}",
            means["plain"] < log_ratio,
        ),
        Claim(
            "A weight turns the bias of p₂ into one that offsets that of p₁.",
            "§1, Figure 1(c)",
            f"expected weighted estimate over density: p₁ {weighted[0] / true[0]:.3f}, p₂ {weighted[1] / true[1]:.3f}; "
            f"log ratio by weighted estimates {means['weighted']:.3f}",
            abs(means["weighted"] - log_ratio) < 0.5 * abs(means["plain"] - log_ratio),
        ),
    ]


def _draw(results: Results, canvas: "Canvas") -> None:
    left, middle, right = canvas.subplots(1, 3)
    x = np.linspace(-3, 5, 300)
    near = np.linspace(-1.2, 1.2, 200)
    for density, colour, label in _densities():
        left.plot(x, np.exp(density.log_density(x[:, None])), color=colour, label=label)
        for ax, weighted in ((middle, False), (right, True)):
            truth = np.exp(density.log_density(near[:, None]))
            ax.plot(near, truth, color=colour, label=label)
            ax.plot(near, expected(density, near, weighted), "--", color=colour, label=f"{label}, expected estimate")
    left.set(title="(a) Two densities", xlabel="x")
    middle.set(title=f"(b) Around x₀: plain estimates, h = {results['bandwidth']}", xlabel="x")
    right.set(title="(c) Around x₀: estimates with the weight α", xlabel="x")
    _draw_weight(right, near)
    for ax in (left, middle, right):
        ax.axvline(results["place"], color="grey", lw=0.8, ls=":")
        ax.set_ylim(0, 0.47)
        ax.legend(frameon=False, fontsize="small")


def _draw_weight(ax: "Axes", x: Floats) -> None:
    log_alpha = log_weight(x)
    ax.plot(x, 0.04 * np.exp(log_alpha - log_alpha.min()), color="black", lw=1.2, label="α, scaled")


def _densities() -> tuple[tuple[Gaussian, str, str], ...]:
    return (_PAIR.numerator, "tab:blue", "p₁"), (_PAIR.denominator, "tab:red", "p₂")


FIGURE = Figure(
    "fig1",
    "The bias of a ratio of kernel estimates, and its correction by a weight",
    f"Unit Gaussians two apart. Expected estimates are exact; weighted ones are divided by α. The log ratios at x₀ are "
    f"means over repeated samples of {_ROWS:,} rows each.",
    _tasks,
    _collect,
    _claims,
    _draw,
    (15, 4.5),
)
