"""What weights were made from."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.reweighting.weighing import Weighing

Floats = NDArray[np.float64]
Halves = Callable[[], list[tuple[Any, Floats, Floats, Floats, Floats]]]
"""Fits halves of the rows: weights, and the target rows and the rows to be weighted of the other half, with weights."""


@dataclass(frozen=True)
class Origin:
    """The target with its weights, the rows with their own weights, and the fitted ratio.

    `log_ratio` returns new rows as numbers, and the log ratio there; `errors` are its standard errors at such rows.
    """

    names: tuple[str, ...]
    target: tuple[Floats, Floats]
    rows: Floats
    own: Floats
    weighing: Weighing
    log_ratio: Callable[[Any], tuple[Floats, Floats]]
    errors: Callable[[Floats], Floats]
    halves: Halves
    seed: int
