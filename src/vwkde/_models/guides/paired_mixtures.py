"""The guide named "paired-mixture": a mixture of Gaussians for each sample, both of which start from a common one.

Two mixtures that are fitted apart divide their samples differently, and the difference of their log densities has the
errors of both. So one mixture is fitted to as many rows of either sample, and its components then move to each sample:
what they miss they miss in both, and it cancels. With few rows the components of one sample have too few.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import (
    MORE_ROWS,
    MixtureDerivatives,
    drawn_to,
    fit_mixture,
    grow_mixture,
    refit_mixture,
)
from vwkde._models.guides.densities import LogDensityDifference, UnbiasedGaussians, fit_gaussians, mixture_forms
from vwkde._models.guides.kind import Fit

Floats = NDArray[np.float64]

_MANY_ROWS = 4_000
"""Rows of the smaller sample from which one common mixture serves all folds."""


def paired_mixture_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide from two mixtures of as many components, of the same shape, as suit all rows of both samples.

    Where the denominator is a product of X and Y, its mixture has to be one, too, and is made in another way.
    """
    if denominator.marginals is not None:
        return mixture_forms(numerator, denominator)
    common = _mixture_of_both(numerator, denominator)
    if _are_many(numerator, denominator):
        common = _mixture_of_both(numerator, denominator, common)  # by more rows than have chosen its components
    return (partial(_fit_pair, common),)


def grown_pair(form: Fit, numerator: Sample, denominator: Sample) -> Fit:
    """Return the guide from mixtures of as many components as suit many more rows than have chosen its form."""
    assert isinstance(form, partial)
    (like,) = form.args
    if denominator.marginals is not None:
        points, weight, rows = numerator.points, numerator.weight, numerator.effective_rows
    else:
        points, weight, rows = _both(numerator, denominator)
    return partial(form.func, grow_mixture(like, points, weight, rows))


def _fit_pair(
    like: MixtureDerivatives, numerator: Sample, denominator: Sample
) -> LogDensityDifference | UnbiasedGaussians:
    # a common mixture of many rows hardly depends on those of one fold, and does not know which sample they are from
    common = like if _are_many(numerator, denominator) else _mixture_of_both(numerator, denominator, like)
    if len(common.weights) == 1:
        return fit_gaussians(numerator, denominator)
    return LogDensityDifference(_moved(common, numerator).log_density, _moved(common, denominator).log_density)


def _are_many(numerator: Sample, denominator: Sample) -> bool:
    return min(len(numerator), len(denominator)) >= _MANY_ROWS


def _moved(common: MixtureDerivatives, sample: Sample) -> MixtureDerivatives:
    """Return the common mixture fitted to one sample, at first to some of its rows, which is quicker."""
    own = refit_mixture(common, sample.points, sample.weight, most=MORE_ROWS)
    if len(sample) > MORE_ROWS:
        own = refit_mixture(own, sample.points, sample.weight, most=len(sample))
    return drawn_to(own, common, sample.effective_rows)


def _mixture_of_both(
    numerator: Sample, denominator: Sample, like: MixtureDerivatives | None = None
) -> MixtureDerivatives:
    points, weight, rows = _both(numerator, denominator)
    return fit_mixture(points, weight, like=like, rows=rows)


def _both(numerator: Sample, denominator: Sample) -> tuple[Floats, Floats, float]:
    """Return equally many rows of both samples, their weights, and how many rows they are worth.

    They are sorted, so that they are the same if the samples change places.
    """
    rows = min(len(numerator), len(denominator))
    both = [sample.thinned(rows, np.random.default_rng(0)) for sample in (numerator, denominator)]
    points = np.concatenate([sample.points for sample in both])
    weight = np.concatenate([sample.weight / sample.weight.mean() for sample in both])
    order = np.lexsort(points.T)
    return points[order], weight[order], sum(sample.effective_rows for sample in both)
