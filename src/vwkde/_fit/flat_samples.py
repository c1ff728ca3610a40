"""Samples that are flat where the other one is not: what is told about them, in the columns as given."""

import numpy as np
from numpy.typing import NDArray

from vwkde._data.in_memory import Held
from vwkde._models.gaussian import THINNEST, GaussianModel
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]

_SAMPLES = "numerator", "denominator"
_ROUNDING = 1e-12
_OUTCOME = "The estimate compares smoothed samples, without weights."


def warn_of_flat_samples(held: Held, gaussians: tuple[GaussianModel, GaussianModel]) -> None:
    """Warn of each sample without a density, by the columns that are constant in it, or what else it may come from."""
    for side, model in enumerate(gaussians):
        if model.degenerate:
            warn(f"{_reason(held, side, model)} {_OUTCOME}", DegenerateDataWarning)


def _reason(held: Held, side: int, model: GaussianModel) -> str:
    x, other = held.data[side], held.data[1 - side]
    this, that = _SAMPLES[side], _SAMPLES[1 - side]
    constant = (np.ptp(x, axis=0) == 0) & (np.ptp(other, axis=0) > 0)
    if len(x) <= x.shape[1]:
        return (
            f"The {this} has {len(x)} different {'row' if len(x) == 1 else 'rows'} for {x.shape[1]} columns: too few "
            f"for a density where the {that} has one. Give more rows, or fewer columns."
        )
    if constant.any():
        return _of_columns([held.names[i] if held.names else int(i) for i in np.flatnonzero(constant)], this, that)
    directions = f"{_thin(model)} of {len(model.mean)} directions"
    if _has_combinations(x):
        return (
            f"The {this} does not vary in {directions} in which the {that} does: it has no density there, and the true "
            f"ratio is infinite or zero. Look for columns that follow from others in the {this} only."
        )
    return (
        f"The {this} varies less than a millionth as much as the {that} in {directions}: it has no density there by "
        f"comparison. Look for values of the {that} that are far too large."
    )


def _of_columns(labels: list[str | int], this: str, that: str) -> str:
    columns, are = (f"Column {labels[0]!r}", "is") if len(labels) == 1 else (f"Columns {labels}", "are")
    return (
        f"{columns} {are} constant in the {this} but not in the {that}, so the ratio may be infinite: the {this} has "
        f"no density there. Leave {'it' if are == 'is' else 'them'} out, or compare only rows with the same values."
    )


def _thin(model: GaussianModel) -> int:
    return int(np.count_nonzero(np.linalg.eigvalsh(model.precision) > 0.999 / THINNEST))


def _has_combinations(x: NDArray[np.floating]) -> bool:
    """Return whether some columns of a sample follow from others."""
    largest = np.abs(x).max(axis=0)
    scaled = x.astype(np.float64) / np.where(largest > 0, largest, 1.0)
    centred = scaled - scaled.mean(axis=0)
    deviation = centred.std(axis=0)
    values = np.linalg.eigvalsh(
        np.cov(centred / np.where(deviation > 0, deviation, 1.0), rowvar=False, ddof=0).reshape(x.shape[1], -1)
    )
    return bool(values[0] < _ROUNDING * len(values))
