"""What a guide is, and what the fits need to know about a named kind of guide."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample

Floats = NDArray[np.float64]


class Guide(Protocol):
    """A coarse log ratio."""

    def __call__(self, x: Floats) -> Floats:
        """Return u₀, of shape (n,)."""


@runtime_checkable
class NoisyGuide(Guide, Protocol):
    """A guide whose variance is known in theory."""

    def noise(self, x: Floats) -> Floats:
        """Return the variance of u₀ at points, of shape (n,)."""


WORTH_THREADS = 100_000
"""Numbers in the samples from which most models gain by several threads."""
Fit = Callable[[Sample, Sample], Guide]
"""Fits a guide to a numerator and a denominator."""


@dataclass(frozen=True)
class Refinement:
    """A form that adds something to the models of another one, which need not be fitted again where they are known."""

    base: Fit
    refine: Callable[[Any, Sample, Sample], Guide]

    def __call__(self, numerator: Sample, denominator: Sample) -> Guide:
        """Fit a model of the other form, and refine it."""
        return self.refine(self.base(numerator, denominator), numerator, denominator)


@dataclass(frozen=True)
class GuideKind:
    """A named kind of guide.

    Parameters
    ----------
    forms
        Takes both samples and returns ways to fit the guide, from rigid to flexible. They are tried in this order while
        the cross-fitted log loss falls.
    fewest_rows
        Smallest number of rows, of the smaller sample, with which the guide is tried.
    fewer_than
        Number of rows, of the smaller sample, from which another guide does better, and this one is not tried.
    affine
        Whether the guide does not depend on the choice of axes. Others are tried on the columns as given.
    by_moments
        Whether the guide uses only `Sample.weighted_moments`, and so includes rows that are not in memory.
    unbiased
        Whether its error averages out over points, so that averages need not count it.
    normal_scores_up_to
        Largest number of columns with which the guide is also tried on normal scores.
    own_units
        Whether the guide needs the columns as they are, but for shift and scale, and not their normal scores.
    most_rows
        Rows of each sample that a model learns from at most; more would cost more and teach it little.
    grows_from
        Columns from which the guide becomes so much better with the number of rows that it may win with more of them.
    grown
        Takes the form that some ten thousand rows have chosen and samples of many more, and returns the form for
        those. By default it stays.
    threads_from
        Numbers in the samples from which several threads gain more time than they lose to the interpreter's lock.
    suits
        Whether the guide is worth trying on these samples, among others.
    shows
        Whether all rows show what the guide is for; `suits` sees only the first of many.
    """

    forms: Callable[[Sample, Sample], tuple[Fit, ...]]
    fewest_rows: int
    affine: bool
    by_moments: bool = False
    unbiased: bool = False
    normal_scores_up_to: float = np.inf
    own_units: bool = False
    most_rows: float = np.inf
    grows_from: float = np.inf
    grown: Callable[[Fit, Sample, Sample], Fit] = lambda form, _numerator, _denominator: form
    fewer_than: float = np.inf
    threads_from: int = WORTH_THREADS
    suits: Callable[[Sample, Sample], bool] = lambda _numerator, _denominator: True
    shows: Callable[[Sample, Sample], bool] = lambda _numerator, _denominator: True

    def grows(self, columns: int) -> bool:
        """Return whether the guide may win with more rows of so many columns."""
        return columns >= self.grows_from
