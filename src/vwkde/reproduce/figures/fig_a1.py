"""Figure A1: the posterior of two 20-D Gaussians by several algorithms."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde import datasets
from vwkde._answers.posterior import posterior
from vwkde.baselines.posteriors import network_posterior, svm_posterior
from vwkde.divergences import make_ratio
from vwkde.reproduce.core.figure import Claim, Figure, Results, Scale, six_digits
from vwkde.reproduce.core.tasks import Outcome, Task, values_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

Floats = NDArray[np.float64]

ALGORITHMS = {
    "kde": "KDE",
    "svm": "SVM, Platt scaling",
    "network": "two-layer network",
    "vwkde-mb": "VWKDE-MB",
    "vwkde-mf": "VWKDE-MF",
    "default": "vwkde's default",
}
_PAIR = datasets.isotropic(20)
_ROWS, _QUICK_ROWS = 1_000, 400
_POINTS = np.concatenate(_PAIR.sample(250, random_state=1_000_000))
_OWN, _OTHERS = ("vwkde-mb", "vwkde-mf"), ("kde", "svm", "network")


def predict(algorithm: str, rows: int, seed: int) -> list[float]:
    """Return the posterior by an algorithm at the points, from samples of `rows` rows drawn with `seed`."""
    data = _PAIR.sample(rows, random_state=seed)
    functions = {"svm": svm_posterior, "network": network_posterior}
    if algorithm in functions:
        predicted = functions[algorithm](*data, seed)(_POINTS)
    else:
        predicted = make_ratio(None if algorithm == "default" else algorithm, {}).fit(*data).posterior(_POINTS)
    return [round(float(value), 5) for value in predicted]


def _rows(scale: Scale) -> int:
    return _QUICK_ROWS if scale.quick else _ROWS


def _tasks(scale: Scale) -> list[Task]:
    return [
        Task(f"{algorithm}/{_rows(scale)}/{seed}", predict, (algorithm, _rows(scale), seed))
        for algorithm in ALGORITHMS
        for seed in range(scale.repetitions)
    ]


def _collect(outcomes: dict[str, Outcome], scale: Scale) -> Results:
    truth = posterior(_PAIR.log_ratio(_POINTS), 0.5)
    values = values_of(outcomes)
    errors, first = {}, {}
    for algorithm in ALGORITHMS:
        predicted = [values[f"{algorithm}/{_rows(scale)}/{seed}"] for seed in range(scale.repetitions)]
        errors[algorithm] = six_digits([np.mean((np.array(each) - truth) ** 2) for each in predicted])
        first[algorithm] = predicted[0]
    return {
        "rows": _rows(scale),
        "truth": [round(float(value), 5) for value in truth],
        "predicted": first,
        "mean_squared_error": errors,
    }


def _claims(results: Results) -> list[Claim]:
    means = {algorithm: float(np.mean(errors)) for algorithm, errors in results["mean_squared_error"].items()}
    return [
        Claim(
            "Both VWKDE-MB and VWKDE-MF are superior to the other methods.",
            "Appendix D, Figure A1",
            "mean squared error of the posterior: "
            + ", ".join(f"{label} {means[algorithm]:.4f}" for algorithm, label in ALGORITHMS.items()),
            max(means[own] for own in _OWN) < min(means[other] for other in _OTHERS),
        )
    ]


def _draw(results: Results, canvas: "Canvas") -> None:
    axes = canvas.subplots(2, 3, sharex=True, sharey=True)
    for ax, (algorithm, label) in zip(axes.ravel(), ALGORITHMS.items(), strict=True):
        ax.plot([0, 1], [0, 1], color="black", lw=0.8)
        ax.scatter(results["truth"], results["predicted"][algorithm], s=6, alpha=0.6, linewidths=0)
        error = np.mean(results["mean_squared_error"][algorithm])
        ax.set(title=f"{label}: error² {error:.4f}", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    canvas.supxlabel("true posterior")
    canvas.supylabel("predicted posterior")


FIGURE = Figure(
    "figA1",
    "Posterior of two 20-D Gaussians by several algorithms",
    "Unit Gaussians √2 apart. Dots are points that no algorithm has seen, predicted from the first pair of samples; "
    "mean squared errors are over all repetitions. The paper does not state its number of rows.",
    _tasks,
    _collect,
    _claims,
    _draw,
    (12, 8),
)
