"""The KL divergence by every method, over sample sizes or settings: shared by figures 4 and 5."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwkde._display.style import BLACK, GOLD, NAVY, RED, TEAL
from vwkde.divergences import make_estimator
from vwkde.reproduce.core.figure import Results, Scale, six_digits
from vwkde.reproduce.core.tasks import Outcome, Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

LABELS = {
    "nn": "NN",
    "nng": "NNG",
    "kliep": "KLIEP",
    "nngarcia": "NNGarcia",
    "nnwang": "NNWang",
    "mine": "MINE",
    "ensemble": "Ensemble",
    "vonmises": "vonMises",
    "kde": "KDE",
    "vwkde-mb": "VWKDE-MB",
    "vwkde-mf": "VWKDE-MF",
}
"""The methods of the paper's figures, by the paper's names."""
BESIDE = {
    "nn-10": "NN, k = 10",
    "ulsif": "uLSIF",
    "rulsif": "RuLSIF",
    "sd-kde": "SD-KDE",
    "laplace-kde": "Laplace-KDE",
    "classifier": "boosted classifier",
    "default": "vwkde's default",
}
"""Methods that the paper does not have."""
_OWN = ("vwkde-mb", "vwkde-mf")
_SLOW = ("mine", "vwkde-mf")
"""Methods that a quick run tries only once, since they train networks."""
_SETTINGS: dict[str, tuple[str | None, dict[str, Any]]] = {"nn-10": ("nn", {"k": 10}), "default": (None, {})}


@dataclass(frozen=True)
class Point:
    """One point of a panel: its position on the axis, the pair of densities, and the rows of each sample."""

    x: float
    pair: Any
    rows: int


@dataclass(frozen=True)
class Panel:
    """One panel of a figure: its title, the label of its axis, and its points."""

    name: str
    title: str
    axis: str
    points: tuple[Point, ...]


def sweep_tasks(panels: list[Panel], scale: Scale) -> list[Task]:
    """Return one task for every panel, point, repetition and method."""
    return [
        Task(_task_name(panel, point, seed, method), estimate, (point.pair, point.rows, seed, method))
        for panel in panels
        for point in panel.points
        for method in LABELS | BESIDE
        for seed in range(_repetitions(method, scale))
    ]


def estimate(pair: Any, rows: int, seed: int, method: str) -> float:
    """Return the KL divergence by a method, from samples of `rows` rows drawn with `seed`."""
    name, settings = _SETTINGS.get(method, (method, {}))
    numerator, denominator = pair.sample(rows, random_state=seed)
    fitted = make_estimator(name, settings).fit(numerator, denominator)
    # `divergence` also computes the standard error, for which some methods must fit many times
    value = fitted.answer_.kl if hasattr(fitted, "answer_") else fitted.divergence("kl").value
    if not np.isfinite(value):
        raise ValueError(f"the estimate is {value}")
    return float(six_digits(value))


def collect_sweep(panels: list[Panel], outcomes: dict[str, Outcome], scale: Scale) -> Results:
    """Return, for each panel, the truth at its points and every estimate, with the mean time each method took."""

    def outcomes_at(panel: Panel, point: Point, method: str) -> list[Outcome]:
        names = [_task_name(panel, point, seed, method) for seed in range(_repetitions(method, scale))]
        return [outcomes[name] for name in names]

    def of(panel: Panel, method: str) -> Results:
        each = [outcomes_at(panel, point, method) for point in panel.points]
        return {
            "kl": [[outcome.value for outcome in group if outcome.error is None] for group in each],
            "seconds": [round(float(np.mean([outcome.seconds for outcome in group])), 3) for group in each],
            "failures": sorted({outcome.error for group in each for outcome in group if outcome.error}),
        }

    return {
        panel.name: {
            "title": panel.title,
            "axis": panel.axis,
            "x": [point.x for point in panel.points],
            "rows": [point.rows for point in panel.points],
            "truth": [round(float(point.pair.kl), 6) for point in panel.points],
            "methods": {method: of(panel, method) for method in LABELS | BESIDE},
        }
        for panel in panels
    }


def relative_bias(panel: Results, method: str, at: int = -1) -> float:
    """Return the relative error of a method's mean at a point, by default the last."""
    values = panel["methods"][method]["kl"][at]
    return float(np.mean(values) / panel["truth"][at] - 1) if values else np.nan


def deviation(panel: Results, method: str, at: int = -1) -> float:
    """Return the standard deviation of a method's estimates at a point."""
    values = panel["methods"][method]["kl"][at]
    return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan


def near_truth(panel: Results, within: float) -> list[str]:
    """Return the paper's methods whose mean is within this share of the truth at both of the last two points.

    One point is not enough: a mean that crosses the truth between two points is near it in passing. A method that
    failed at a point is not near it.
    """
    return [method for method in LABELS if all(abs(relative_bias(panel, method, at)) <= within for at in (-2, -1))]


def named(methods: list[str]) -> str:
    """Return the methods' names in one phrase."""
    return ", ".join((LABELS | BESIDE)[method] for method in methods) or "none"


def draw_sweep(ax: "Axes", panel: Results) -> None:
    """Draw the mean and the standard deviation of every method of the paper, and of the default, along the axis."""
    import matplotlib

    x, truth = np.array(panel["x"]), np.array(panel["truth"])
    ax.plot(x, truth, color=BLACK, lw=1.2, label="truth", zorder=5)
    colours = iter(matplotlib.colormaps["tab10"].colors)  # type: ignore[attr-defined]
    for place, method in enumerate([*LABELS, "default"]):
        values = panel["methods"][method]["kl"]
        mean = [np.mean(each) if each else np.nan for each in values]
        error = [np.std(each, ddof=1) if len(each) > 1 else 0.0 for each in values]
        style: dict[str, Any] = {"lw": 0.9, "marker": "osv^<>DPX*h"[place % 11], "markersize": 4, "alpha": 0.85}
        style |= {"color": next(colours)} if method not in (*_OWN, "default", "kde") else _emphasis(method)
        ax.errorbar(
            _aside(x, place), mean, error, capsize=1.5, elinewidth=0.7, label=(LABELS | BESIDE)[method], **style
        )
    ax.set_ylim(-0.8 * np.median(truth), truth.max() + 1.2 * np.median(truth))
    ax.set(title=panel["title"], xlabel=panel["axis"], ylabel="KL (nats)")
    if x[0] > 0 and x[-1] >= 8 * x[0]:
        ax.set_xscale("log", base=2)
        ax.set_xticks(x, [f"{value:g}" for value in x])
    ax.minorticks_off()


def _emphasis(method: str) -> dict[str, Any]:
    colours = {"kde": RED, "vwkde-mb": TEAL, "vwkde-mf": NAVY, "default": GOLD}
    return {"color": colours[method], "lw": 1.8, "markersize": 5.5, "alpha": 1.0, "zorder": 6}


def _aside(x: Floats, place: int) -> Floats:
    """Return the x positions of one method's marks, slightly shifted from those of the others."""
    step = 0.006 * (place - 5.5)
    return x * 2**step if x[0] > 0 and x[-1] >= 8 * x[0] else x + step * (x[-1] - x[0])


def _repetitions(method: str, scale: Scale) -> int:
    return 1 if scale.quick and method in _SLOW else scale.repetitions


def _task_name(panel: Panel, point: Point, seed: int, method: str) -> str:
    return f"{panel.name}/{point.x:g}/{seed}/{method}"
