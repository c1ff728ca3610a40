"""Whether weighted rows look like the target: statistics of each column, before and after."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)


def balance_lines(
    names: tuple[str, ...], target: tuple[Floats, Floats], rows: Floats, before: Floats, after: Floats
) -> list[dict[str, Any]]:
    """Return one line for each statistic of each column; differences are in standard deviations of the target.

    `target` are points and weights; `before` and `after` are weights of `rows`, and may be negative.
    """
    lines = []
    for column, name in enumerate(names):
        of_target = _statistics(target[0][:, column], target[1])
        of_rows = [_statistics(rows[:, column], weight) for weight in (before, after)]
        unit = of_target["sd"] or np.nan
        for statistic, value in of_target.items():
            one, other = (each[statistic] for each in of_rows)
            lines.append(
                {
                    "column": name,
                    "statistic": statistic,
                    "target": value,
                    "before": one,
                    "after": other,
                    "difference_before": (one - value) / unit,
                    "difference_after": (other - value) / unit,
                }
            )
    return lines


def _statistics(values: Floats, weight: Floats) -> dict[str, float]:
    total = weight.sum()
    mean = float(weight @ values / total)
    variance = float(weight @ (values - mean) ** 2 / total)
    quantiles = weighted_quantiles(values, weight, _LEVELS)
    named = {f"q{100 * level:02.0f}": float(q) for level, q in zip(_LEVELS, quantiles, strict=True)}
    return {"mean": mean, "sd": float(np.sqrt(max(variance, 0.0))), **named}


def weighted_quantiles(values: Floats, weight: Floats, levels: tuple[float, ...]) -> Floats:
    """Return quantiles of weighted values; where weights are negative, where their sum first reaches the level."""
    order = np.argsort(values, kind="stable")
    reached = np.maximum.accumulate(np.cumsum(weight[order])) / weight.sum()
    at = np.searchsorted(reached, np.asarray(levels) * (1 - 1e-12))
    return values[order][np.minimum(at, len(values) - 1)]
