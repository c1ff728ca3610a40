"""Grids over one or two features of a fitted ratio, and its log ratio on them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.intake import check_points as check_rows
from vwkde._display.style import central_range
from vwkde.ratio import DensityRatio

Floats = NDArray[np.float64]
Features = int | str | Sequence[int | str] | None

_MARGIN = 0.05
"""How far a grid extends beyond the samples, as a share of their range."""


def check_points(ratio: DensityRatio, points: Any, name: str) -> Floats | None:
    """Return points with the columns that the ratio was fitted to, or None for None."""
    if points is None:
        return None
    layout = ratio._held.layout
    return check_rows(points, name, layout, "samples that the ratio was fitted to").astype(np.float64)


def find_columns(ratio: DensityRatio, features: Features) -> list[int]:
    """Return the numbers of the columns to draw. By default, all of one or two columns, and none of more."""
    if features is None:
        return list(range(_width(ratio))) if _width(ratio) <= 2 else []
    chosen = [features] if isinstance(features, int | np.integer | str) else list(features)
    known: dict[int | str, int] = {number: number for number in range(_width(ratio))}
    known |= {name: number for number, name in enumerate(_names(ratio))}
    unknown = [feature for feature in chosen if feature not in known]
    if unknown or len(set(chosen)) != len(chosen) or len(chosen) not in (1, 2):
        raise ValueError(
            f"The 'features' parameter must be one or two different columns out of {list(known)}. "
            f"Got {features!r} instead."
        )
    return [known[feature] for feature in chosen]


def labels(ratio: DensityRatio, columns: Sequence[int]) -> list[str]:
    """Return the names of the columns; the first one mentions the columns that are not drawn, if any."""
    unnamed = ["x"] if _width(ratio) == 1 else [f"column {i}" for i in range(_width(ratio))]
    names = _names(ratio) or unnamed
    chosen = [names[column] for column in columns]
    if len(columns) < _width(ratio):
        chosen[0] += " (others at their medians)"
    return chosen


def span(
    samples: Sequence[Floats], X: Floats | None, columns: Sequence[int], resolution: int
) -> tuple[list[Floats], Floats]:
    """Return coordinates along each of the columns, and the point that the grid passes through."""
    points = list(samples) or ([] if X is None else [X])
    if not points:
        raise ValueError(
            "The range to draw is not known without points. Give the samples, as in "
            "LogRatioDisplay.from_estimator(ratio, numerator, denominator), or any points as X."
        )
    if resolution < 2:
        raise ValueError(f"The 'grid_resolution' parameter must be at least 2. Got {resolution!r} instead.")
    ends = [_around(samples, column) if X is None else _whole_range(X[:, column]) for column in columns]
    return [np.linspace(low, high, resolution) for low, high in ends], np.median(np.concatenate(points), axis=0)


def log_ratio_on(ratio: DensityRatio, grid: Sequence[Floats], columns: Sequence[int], through: Floats) -> Floats:
    """Return the log ratio on a grid, of shape (len(x),) or (len(y), len(x))."""
    mesh = np.meshgrid(*grid)
    points = np.tile(through, (mesh[0].size, 1))
    points[:, columns] = np.column_stack([axis.ravel() for axis in mesh])
    return ratio._log_ratio_at(points).reshape(mesh[0].shape)


def _around(samples: Sequence[Floats], column: int) -> tuple[float, float]:
    low, high = central_range(*(sample[:, column] for sample in samples))
    margin = _MARGIN * (high - low)
    return low - margin, high + margin


def _whole_range(values: Floats) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    if low == high:
        raise ValueError(
            f"The 'X' parameter must vary along the columns drawn. Got {low:g} in all rows; give rows that differ."
        )
    return low, high


def _names(ratio: DensityRatio) -> list[str]:
    return list(ratio._held.layout.names or ())


def _width(ratio: DensityRatio) -> int:
    """Return the number of columns that the ratio sees: those of a category are several."""
    return ratio._held.layout.width
