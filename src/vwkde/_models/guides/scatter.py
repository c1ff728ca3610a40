"""The guide named "scatter": columns whose scatter depends on the columns before them, as the noise of y does on x.

Each sample is a chain of columns (`_models/chain.py`), in the order of the columns, as for windows of a time series
whose volatility remembers, or in the reverse order.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc

from vwkde._data.sample import Sample
from vwkde._models.chain import MOST_WITH_WAVES, fit_chains, waves
from vwkde._models.guides.densities import LogDensityDifference
from vwkde._models.guides.kind import Fit

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Samples = tuple[Sample, Sample]

_MOST_COLUMNS = 30
_MOST_ROWS = 2_000
"""Rows of each sample that show whether the scatter depends on other columns, and in which direction."""
_LEVEL = 0.02
"""The p-value below which they do."""
_FARTHEST = 3.0
"""Standard deviations beyond which values count as this many."""
_LEAST_VARIANCE = 1e-6


def scatter_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with means of columns that both samples share, and with those of each sample.

    The chain runs in the direction in which it describes the samples better.
    """
    p, q = (sample.thinned(_MOST_ROWS, np.random.default_rng(0)) for sample in (numerator, denominator))
    order = max(_orders(numerator.points.shape[1]), key=lambda order: _likelihood((p, q), order))
    return partial(fit_scatter, order, True), partial(fit_scatter, order, False)


def fit_scatter(order: Ints, shared: bool, numerator: Sample, denominator: Sample) -> LogDensityDifference:
    """Return the guide from a chain for each sample, with means that are `shared` or not."""
    p, q = fit_chains((numerator, denominator), order, shared)
    return LogDensityDifference(p.log_density, q.log_density)


def have_scatter(numerator: Sample, denominator: Sample) -> bool:
    """Return whether the scatter of columns depends on other columns otherwise in one sample than in the other."""
    columns = numerator.points.shape[1]
    if denominator.pairs is not None or not 2 <= columns <= _MOST_COLUMNS:
        return False
    sides = [_dependence(s.thinned(_MOST_ROWS, np.random.default_rng(0))) for s in (numerator, denominator)]
    return any(_differ(p, q) for p, q in zip(*sides, strict=True))


class _Dependence(NamedTuple):
    """The means of products of the sizes of columns with functions of other columns, and the variances of the means."""

    mean: Floats
    variance: Floats


def _differ(p: _Dependence, q: _Dependence) -> bool:
    """Return whether the means of two samples differ, all together or one of them."""
    squares = (p.mean - q.mean) ** 2 / (p.variance + q.variance + np.finfo(np.float64).tiny)
    return bool(chdtrc(squares.size, squares.sum()) < _LEVEL or chdtrc(1, squares.max()) * squares.size < _LEVEL)


def _dependence(sample: Sample) -> list[_Dependence]:
    """Return how the sizes of columns go with others and their sizes, and with waves along them if they are few.

    Means and covariances are taken out.
    """
    share = sample.weight / sample.weight.sum()
    centre, covariance = sample.mean_and_covariance()
    values, axes = np.linalg.eigh(covariance)
    z = (sample.points - centre) @ (axes / np.sqrt(np.maximum(values, _LEAST_VARIANCE))) @ axes.T
    near = np.clip(z, -_FARTHEST, _FARTHEST)
    size = np.abs(near) - share @ np.abs(near)
    one, other = np.triu_indices(z.shape[1], 1)
    kinds = [[size[:, one] * size[:, other], size[:, one] * near[:, other], size[:, other] * near[:, one]]]
    if z.shape[1] <= MOST_WITH_WAVES:
        kinds.append([size[:, i] * wave[:, j] for wave in waves(near) for i, j in ((one, other), (other, one))])
    return [_means(np.concatenate(kind, axis=1), share, sample.effective_rows) for kind in kinds]


def _means(products: Floats, share: Floats, rows: float) -> _Dependence:
    mean = share @ products
    return _Dependence(mean, share @ (products - mean) ** 2 / rows)


def _orders(columns: int) -> tuple[Ints, Ints]:
    return np.arange(columns), np.arange(columns)[::-1]


def _likelihood(samples: Samples, order: Ints) -> float:
    """Return the sum over samples of the mean log likelihood of the chains."""
    chains = fit_chains(samples, order, shared=True)
    logs = [chain.log_density(sample.points) for chain, sample in zip(chains, samples, strict=True)]
    return float(sum(np.average(each, weights=s.weight) for each, s in zip(logs, samples, strict=True)))
