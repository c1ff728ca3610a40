"""Bias and variance of an estimator at fixed points, over repeated samples: shared by figures 2 and 3."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.posterior import posterior
from vwkde._display.style import RED, TEAL
from vwkde._runtime.warn import without
from vwkde.datasets import Pair
from vwkde.divergences import make_ratio
from vwkde.exceptions import OverlapWarning
from vwkde.reproduce.core.figure import Results, Scale, six_digits
from vwkde.reproduce.core.tasks import Outcome, Task, values_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
Predicted = Literal["posterior", "log_ratio"]

METHODS = {"kde": ("KDE", RED), "vwkde-mb": ("VWKDE", TEAL)}
"""The two methods to compare, with their names and colours."""


def repeat_tasks(
    pair: Pair[Any],
    rows: int,
    bandwidths: tuple[float, ...],
    points: Floats,
    line: Floats,
    what: Predicted,
    scale: Scale,
) -> list[Task]:
    """Return one task for each method and bandwidth."""
    return [
        Task(
            _task_name(method, bandwidth, scale),
            repeat,
            (pair, rows, method, bandwidth, points, line, what, scale.repetitions),
        )
        for method in METHODS
        for bandwidth in bandwidths
    ]


def repeat(
    pair: Pair[Any],
    rows: int,
    method: str,
    bandwidth: float,
    points: Floats,
    line: Floats,
    what: Predicted,
    repetitions: int,
) -> Results:
    """Return the mean squared bias and the variance at the points, the mean along the line, and the KL estimates."""
    predicted, divergences = [], []
    for seed in range(repetitions):
        ratio = make_ratio(method, {"bandwidth": bandwidth}).fit(*pair.sample(rows, random_state=seed))
        predicted.append(getattr(ratio, what)(np.concatenate([points, line])))
        with without(OverlapWarning):  # a few rows of some repetitions are always outside, and the truth is known
            divergences.append(ratio.divergence("kl").value)
    mean, deviation = np.mean(predicted, axis=0), np.std(predicted, axis=0, ddof=1)
    at = slice(None, len(points))
    # the mean over the repetitions has a variance of its own, which is not bias
    squared_bias = (mean[at] - _truth(pair, points, what)) ** 2 - deviation[at] ** 2 / repetitions
    return {
        "squared_bias": six_digits(max(squared_bias.mean(), 0.0)),
        "variance": six_digits((deviation[at] ** 2).mean()),
        "mean": six_digits(mean[len(points) :]),
        "deviation": six_digits(deviation[len(points) :]),
        "kl": six_digits(divergences),
    }


def collect_repeats(
    pair: Any, bandwidths: tuple[float, ...], line: Floats, what: Predicted, outcomes: dict[str, Outcome], scale: Scale
) -> Results:
    """Return all numbers by method, one entry per bandwidth, and the truth along the line."""
    values = values_of(outcomes)
    return {
        "bandwidths": list(bandwidths),
        "true_kl": six_digits(pair.kl),
        "line": six_digits(line[:, 0]),
        "truth": six_digits(_truth(pair, line, what)),
        "methods": {
            method: [values[_task_name(method, bandwidth, scale)] for bandwidth in bandwidths] for method in METHODS
        },
    }


def of_each(results: Results, method: str, name: str) -> Floats:
    """Return one number of a method, for every bandwidth."""
    return np.array([each[name] for each in results["methods"][method]])


def draw_along_line(ax: "Axes", results: Results, bandwidth: float) -> None:
    """Draw the truth along the line, and the mean and standard deviation of each method."""
    at = results["bandwidths"].index(bandwidth)
    x = np.array(results["line"])
    ax.plot(x, results["truth"], color="black", label="truth")
    for method, (label, colour) in METHODS.items():
        each = results["methods"][method][at]
        mean, deviation = np.array(each["mean"]), np.array(each["deviation"])
        ax.plot(x, mean, color=colour, label=label)
        ax.fill_between(x, mean - deviation, mean + deviation, color=colour, alpha=0.2, lw=0)
    ax.legend(frameon=False)


def draw_bias_and_variance(ax: "Axes", results: Results, method: str) -> None:
    """Draw the squared bias and the variance of a method against the bandwidth."""
    label, colour = METHODS[method]
    x = results["bandwidths"]
    squared_bias = of_each(results, method, "squared_bias")
    squared_bias[squared_bias == 0] = np.nan  # no bias was measured; a logarithmic axis cannot show zero
    ax.plot(x, squared_bias, "o-", color=colour, label=f"{label}, bias²")
    ax.plot(x, of_each(results, method, "variance"), "s--", color=colour, mfc="white", label=f"{label}, variance")
    ax.set(xlabel="bandwidth h")
    ax.legend(frameon=False)


def _truth(pair: Pair[Any], x: Floats, what: Predicted) -> Floats:
    log_ratio = pair.log_ratio(x)
    return posterior(log_ratio, 0.5) if what == "posterior" else log_ratio


def _task_name(method: str, bandwidth: float, scale: Scale) -> str:
    return f"{method}/{bandwidth:g}/{scale.repetitions}"
