"""From a log ratio to weights: bounded, balanced, with mean one over the rows that they were made for."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.reweighting.balancing import Tilt, find_tilt, worth_balancing
from vwkde._answers.reweighting.shrinkage import Shrinkage, choose_shrinkage
from vwkde._data.sample import effective_rows
from vwkde._data.validation import is_number

Floats = NDArray[np.float64]

BALANCED = ("auto", "moments", "means", "none")


@dataclass(frozen=True)
class Weighing:
    """How a log ratio at rows becomes a weight: `kind` is what is balanced, `level` what is subtracted at the end."""

    shrinkage: Shrinkage
    kind: str
    tilt: Tilt | None = None
    level: float = 0.0

    def __call__(self, log_ratio: Floats, x: Floats) -> Floats:
        """Return the logarithm of the weights of rows x, without the rows' own weights."""
        log_weight = self.shrinkage(log_ratio)
        return log_weight - self.level if self.tilt is None else log_weight + self.tilt(x) - self.level


@dataclass(frozen=True)
class Side:
    """The rows of a sample, their own weights, and the log ratio at each by an estimate that has not seen it."""

    x: Floats
    weight: Floats
    log_ratio: Floats


def make_weighing(
    numerator: Side, denominator: Side, truncate: float | str | None, relative: float | str, balance: str
) -> Weighing:
    """Return how to weigh the denominator's rows so that they represent the numerator."""
    rows = effective_rows(denominator.weight)
    shrinkage = choose_shrinkage(truncate, relative, numerator.log_ratio, numerator.weight, rows)
    kind = worth_balancing(balance, numerator.x.shape[1], rows)
    log_weight = np.log(denominator.weight) + shrinkage(denominator.log_ratio)
    tilt = find_tilt(kind, numerator.x, numerator.weight, denominator.x, log_weight, rows)
    unscaled = Weighing(shrinkage, kind, tilt)
    log_mean = _log_mean(unscaled(denominator.log_ratio, denominator.x), denominator.weight)
    return Weighing(shrinkage, kind, tilt, log_mean)


def check_options(truncate: object, relative: object, balance: object, owner: str) -> None:
    """Refuse bounds and balances that do not exist, and two bounds at once."""
    if not (truncate is None or truncate == "auto" or (is_number(truncate) and truncate >= 1)):
        raise ValueError(
            f"The 'truncate' parameter of {owner} must be 'auto', None or a number of at least 1, the largest ratio. "
            f"Got {truncate!r} instead."
        )
    if not (relative == "auto" or (is_number(relative) and 0 <= relative < 1)):
        raise ValueError(
            f"The 'relative' parameter of {owner} must be 'auto' or a number from 0 up to, but not including, 1: the "
            f"part of the numerator in the mixture that it is divided by. Got {relative!r} instead."
        )
    if relative != 0 and is_number(truncate):
        raise ValueError(
            f"The 'truncate' and 'relative' parameters of {owner} are two ways to bound ratios. Got truncate="
            f"{truncate!r} and relative={relative!r}; give one of them."
        )
    if not (isinstance(balance, str) and balance in BALANCED):
        raise ValueError(
            f"The 'balance' parameter of {owner} must be one of {', '.join(map(repr, BALANCED))}. Got {balance!r} "
            f"instead."
        )


def _log_mean(log_weight: Floats, own: Floats) -> float:
    largest = float(log_weight.max())
    return largest + float(np.log(np.average(np.exp(log_weight - largest), weights=own)))
