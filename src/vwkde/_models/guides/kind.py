"""What a guide is, and what the fits need to know of a named kind of guide."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample

Floats = NDArray[np.float64]


class Guide(Protocol):
    """A coarse log ratio."""

    def __call__(self, x: Floats) -> Floats:
        """Return u₀, of shape (n,)."""


Fit = Callable[[Sample, Sample], Guide]
"""Fits a guide to a numerator and a denominator."""


@dataclass(frozen=True)
class GuideKind:
    """A named kind of guide.

    Parameters
    ----------
    forms
        Takes both samples and returns ways to fit the guide. The one with the smallest cross-fitted log loss is used.
    fewest_rows
        Rows of the smaller sample from which the guide is worth trying.
    affine
        Whether the guide does not depend on the choice of axes. Others must be clearly better to be chosen.
    by_moments
        Whether the guide is made of `Sample.moments` alone, and so knows rows that are not in memory.
    unbiased
        Whether its error averages out over points, so that averages may forgive it.
    normal_scores_up_to
        Columns up to which the guide is also tried after each column was mapped to normal scores.
    """

    forms: Callable[[Sample, Sample], tuple[Fit, ...]]
    fewest_rows: int
    affine: bool
    by_moments: bool = False
    unbiased: bool = False
    normal_scores_up_to: float = np.inf
