"""The guide named "paired-mixture": a mixture of Gaussians for each sample, both of which start from a common one.

Two mixtures that are fitted apart divide their samples differently, and the difference of their log densities has the
errors of both. So one mixture is fitted to as many rows of either sample, and its components then move to each sample:
what they miss they miss in both, and it cancels. With few rows the components of one sample have too few.
"""

from functools import partial

import numpy as np

from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import MORE_ROWS, MixtureDerivatives, drawn_to, fit_mixture, refit_mixture
from vwkde._models.guides.densities import LogDensityDifference, UnbiasedGaussians, fit_gaussians, mixture_forms
from vwkde._models.guides.kind import Fit


def paired_mixture_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide from two mixtures of as many components, of the same shape, as suit all rows of both samples.

    Where the denominator is a product of X and Y, its mixture has to be one, too, and is made in another way.
    """
    if denominator.marginals is not None:
        return mixture_forms(numerator, denominator)
    return (partial(_fit_pair, _mixture_of_both(numerator, denominator)),)


def _fit_pair(
    like: MixtureDerivatives, numerator: Sample, denominator: Sample
) -> LogDensityDifference | UnbiasedGaussians:
    common = _mixture_of_both(numerator, denominator, like)
    if len(common.weights) == 1:
        return fit_gaussians(numerator, denominator)
    return LogDensityDifference(_moved(common, numerator).log_density, _moved(common, denominator).log_density)


def _moved(common: MixtureDerivatives, sample: Sample) -> MixtureDerivatives:
    """Return the common mixture fitted to one sample."""
    own = refit_mixture(common, sample.points, sample.weight, most=MORE_ROWS)
    return drawn_to(own, common, sample.effective_rows)


def _mixture_of_both(
    numerator: Sample, denominator: Sample, like: MixtureDerivatives | None = None
) -> MixtureDerivatives:
    """Fit a mixture to equally many rows of both samples, which are sorted: it is the same if these change places."""
    rows = min(len(numerator), len(denominator))
    both = [sample.thinned(rows, np.random.default_rng(0)) for sample in (numerator, denominator)]
    points = np.concatenate([sample.points for sample in both])
    weight = np.concatenate([sample.weight / sample.weight.mean() for sample in both])
    order = np.lexsort(points.T)
    return fit_mixture(points[order], weight[order], like=like, rows=sum(sample.effective_rows for sample in both))
