"""The guide named "shared-mixture": clusters that both samples share, with shares that differ between the samples.

If the samples have the same clusters of rows in different proportions, the errors of two separate mixtures, which
differ at every cluster, hide the difference. Here all rows determine the clusters, and only their shares belong to one
sample. A cluster that only one sample has gets nearly all its rows from it. Within a cluster columns are independent,
so that clusters are found among many columns.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from vwkde._data.order import canonical_order
from vwkde._data.sample import Sample
from vwkde._models.derivatives.components import Components, fit_components, shares_of
from vwkde._models.exponentials import log_sum
from vwkde._models.gaussian import pooled_covariance
from vwkde._models.guides.kind import Fit

Floats = NDArray[np.float64]

_COUNTS = 4, 8, 16, 32
"""Numbers of clusters that are tried."""
_FIRST = 2
"""So many of these numbers show whether there are clusters at all."""
_STARTS = 2
_ROWS_PER_CLUSTER = 20
_MOST_ROWS = 500
"""Rows of each sample that show whether there are clusters."""
_PRIOR = 3.0
"""Rows with the spread of all clusters that each cluster has in addition: equal values have a spread, too."""
_SPLIT = 1.0
"""Rows in the proportions of both samples that each sample has in addition: no share is zero."""


@dataclass(frozen=True)
class SharedMixture:
    """Clusters with their shares of both samples, (2, k), their means and the precisions of their columns, (k, d)."""

    components: Components

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratio of the two mixtures."""
        shares, densities = np.log(self.components.weights), _log_densities(self.components, x)
        p, q = (log_sum(densities + share[:, None]) for share in shares)
        return np.asarray(p - q)


@dataclass(frozen=True)
class _Rows:
    """The rows of both samples with their weights, which sample each is of (0, 1), and the spread of each column."""

    x: Floats
    weight: Floats
    side: NDArray[np.intp]
    spread: Floats

    def components(self, shares: Floats) -> Components:
        """Return the clusters that are most likely for these shares of the rows."""
        counted = shares * self.weight
        rows = counted.sum(axis=1, keepdims=True) + np.finfo(np.float64).eps
        means = counted @ self.x / rows
        squares = np.maximum(counted @ self.x**2 - rows * means**2, 0.0)
        by_side = np.stack([counted[:, self.side == side].sum(axis=1) for side in (0, 1)])
        by_side += _SPLIT * rows.T / rows.sum()
        precisions = (rows + _PRIOR) / (squares + _PRIOR * self.spread)
        return Components(by_side / by_side.sum(axis=1, keepdims=True), means, precisions)

    def improved(self, components: Components) -> tuple[Components, float]:
        """Return the clusters after one step, and the mean log likelihood of those before it."""
        logits = _log_densities(components, self.x) + np.log(components.weights.T)[:, self.side]
        shares, log_sum = shares_of(logits)
        return self.components(shares), float(np.average(log_sum, weights=self.weight))


def _log_densities(components: Components, x: Floats) -> Floats:
    """Return the log density of each cluster at points, (k, n)."""
    _, means, precisions = components
    peaks = 0.5 * (np.log(precisions / (2 * np.pi)) - precisions * means**2).sum(axis=1)
    return np.asarray(peaks[:, None] + (precisions * means) @ x.T - 0.5 * precisions @ (x**2).T)


def shared_mixture_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Return the guide with few clusters, and with more."""
    return tuple(partial(fit_shared_mixture, count) for count in _counts(numerator, denominator))


def fit_shared_mixture(count: int, numerator: Sample, denominator: Sample) -> SharedMixture:
    """Return the most likely clusters of a few starts."""
    return max((_fit(count, start, numerator, denominator) for start in range(_STARTS)), key=lambda fit: fit[1])[0]


def have_clusters(numerator: Sample, denominator: Sample) -> bool:
    """Return whether some clusters of independent columns describe both samples better than one does, or a Gaussian.

    They are compared by the Bayesian information criterion. Pairs of X and Y are left out: their product has clusters
    that the pairs lack.
    """
    if denominator.pairs is not None or numerator.points.shape[1] < 2:
        return False
    p, q = (sample.thinned(_MOST_ROWS, np.random.default_rng(0)) for sample in (numerator, denominator))
    without = min(_criterion(1, p, q), _criterion_of_gaussian(p, q))
    return any(_criterion(count, p, q) < without for count in _counts(p, q)[:_FIRST])


def _counts(numerator: Sample, denominator: Sample) -> list[int]:
    rows = numerator.effective_rows + denominator.effective_rows
    return [count for count in _COUNTS if count * _ROWS_PER_CLUSTER <= rows] or [_COUNTS[0]]


def _criterion(count: int, numerator: Sample, denominator: Sample) -> float:
    rows, columns = numerator.effective_rows + denominator.effective_rows, numerator.points.shape[1]
    _, likelihood = _fit(count, 0, numerator, denominator)
    return float(2 * (count * (columns + 1) - 1) * np.log(rows) - 2 * rows * likelihood)


def _criterion_of_gaussian(numerator: Sample, denominator: Sample) -> float:
    """Return the criterion of two Gaussians with one covariance."""
    rows, columns = numerator.effective_rows + denominator.effective_rows, numerator.points.shape[1]
    log_volume = np.linalg.slogdet(pooled_covariance((numerator, denominator)))[1]
    parameters = columns * (columns + 5) / 2
    return float(parameters * np.log(rows) + rows * (log_volume + columns * np.log(2 * np.pi * np.e)))


def _fit(count: int, start: int, numerator: Sample, denominator: Sample) -> tuple[SharedMixture, float]:
    """Return the clusters of one start, and the mean log likelihood; it does not matter which sample comes first."""
    samples = numerator, denominator
    x = np.concatenate([sample.points for sample in samples])
    order = canonical_order(x)
    x, weight, side = (
        each[order]
        for each in (
            x,
            np.concatenate([s.weight * s.effective_rows / s.weight.sum() for s in samples]),
            np.repeat([0, 1], [len(s) for s in samples]),
        )
    )
    spread = np.maximum(x.var(axis=0), np.finfo(np.float64).eps)
    components = fit_components(lambda rows: _Rows(rows, weight, side, spread), x, count, start)
    return SharedMixture(components), _Rows(x, weight, side, spread).improved(components)[1]
