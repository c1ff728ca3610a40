"""Figure A2: a slice through two 20-D Gaussians and through their kernel estimates."""

from typing import TYPE_CHECKING

import numpy as np

from vwkde import datasets
from vwkde.baselines.kernel_density import plain_estimate
from vwkde.reproduce.core.figure import Claim, Figure, Results, Scale, six_digits
from vwkde.reproduce.core.tasks import Outcome, Task, values_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_PAIR = datasets.isotropic(20)
_ROWS = 5_000
_BANDWIDTH = 0.8
_LINE = np.zeros((80, 20))
_LINE[:, 0] = np.linspace(-3, 4.4, 80)


def estimate(seed: int) -> list[list[float]]:
    """Return kernel estimates of both densities along the slice, from one pair of samples."""
    samples = _PAIR.sample(_ROWS, random_state=seed)
    logs = [plain_estimate(points, _BANDWIDTH).log_density(_LINE) for points in samples]
    return [six_digits(np.exp(log)) for log in logs]


def _tasks(scale: Scale) -> list[Task]:
    return [Task(f"slice/{seed}", estimate, (seed,)) for seed in range(scale.repetitions)]


def _collect(outcomes: dict[str, Outcome], scale: Scale) -> Results:
    values = values_of(outcomes)
    estimates = np.array([values[f"slice/{seed}"] for seed in range(scale.repetitions)])
    truth = [np.exp(each.log_density(_LINE)) for each in (_PAIR.numerator, _PAIR.denominator)]
    return {
        "line": _LINE[:, 0].tolist(),
        "densities": np.array(truth).tolist(),
        "mean_estimates": estimates.mean(axis=0).tolist(),
    }


def _claims(results: Results) -> list[Claim]:
    true, estimated = (float(np.max(results[name])) for name in ("densities", "mean_estimates"))
    return [
        Claim(
            "The largest density in the slice is of the order of 10⁻⁸, that of KDE of about 10⁻¹⁰.",
            "Appendix D.1, Figure A2",
            f"largest density {true:.1e}, largest mean estimate {estimated:.1e}",
            bool(round(np.log10(true)) == -8 and 1e-11 < estimated < 1e-9),
        )
    ]


def _draw(results: Results, canvas: "Canvas") -> None:
    left, right = canvas.subplots(1, 2)
    for ax, name, title in ((left, "densities", "The densities"), (right, "mean_estimates", "Their kernel estimates")):
        for values, colour, label in zip(results[name], ("tab:blue", "tab:red"), ("p₁", "p₂"), strict=True):
            ax.plot(results["line"], values, color=colour, label=label)
        ax.set(title=title, xlabel="x₁, all other columns zero")
        ax.legend(frameon=False)


FIGURE = Figure(
    "figA2",
    "A slice through two 20-D Gaussians",
    f"Unit Gaussians √2 apart, {_ROWS:,} rows each, h = {_BANDWIDTH}; estimates are means over the repetitions.",
    _tasks,
    _collect,
    _claims,
    _draw,
    (11, 4),
)
