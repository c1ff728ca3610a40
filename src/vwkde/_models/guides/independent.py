"""The guide named "independent": each sample is a linear mixture of independent columns of any shape.

Where columns are sums of independent parts, such as windows of a time series or sensors that share sources, a change of
the sums changes every shape that a Gaussian knows, and tails too. The directions of the parts come from FastICA
(Hyvärinen, 1999), for each sample its own. The density of each part is a mixture of three normal distributions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.decomposition import FastICA

from vwkde._data.sample import Sample
from vwkde._models.derivatives.components import Components, shares_of
from vwkde._models.gaussian import is_few
from vwkde._models.guides.densities import LogDensityDifference
from vwkde._runtime.quiet import without_convergence_warnings

Floats = NDArray[np.float64]

_PARTS = 3
"""Normal distributions that make up the density of a column."""
_FIRST_STEPS, _STEPS = 4, 25
"""Steps from every start, and from the better one."""
_PRIOR = 3.0
"""Rows with the variance of the column that each part has in addition, so that equal values have a spread."""
_MOST_ROWS = 500
"""Rows of each sample that show whether its parts are independent and not normal."""
_MOST_COLUMNS = 30
_LEAST_VARIANCE = 1e-6
_ROTATIONS, _TOLERANCE = 50, 1e-3


@dataclass(frozen=True)
class IndependentColumns:
    """The density of x with (x − centre)·axes independent, each column a mixture: weights, means, precisions (k, d)."""

    centre: Floats
    axes: Floats
    columns: Components

    def log_density(self, x: Floats) -> Floats:
        """Return log p, normalised."""
        logits = _logits((x - self.centre) @ self.axes, self.columns)
        return np.asarray(logsumexp(logits, axis=0).sum(axis=1) + np.linalg.slogdet(self.axes)[1])


def fit_independent(numerator: Sample, denominator: Sample) -> LogDensityDifference:
    """Return the guide from both samples' independent columns."""
    p, q = (independent_columns(sample) for sample in (numerator, denominator))
    return LogDensityDifference(p.log_density, q.log_density)


def have_independent_columns(numerator: Sample, denominator: Sample) -> bool:
    """Return whether a sample is described better by independent columns than by a Gaussian (Akaike's criterion)."""
    samples = numerator, denominator
    columns = numerator.points.shape[1]
    if denominator.pairs is not None or not 2 <= columns <= _MOST_COLUMNS:
        return False
    if any(is_few(0.8 * sample.effective_rows - 1, columns) for sample in samples):
        return False
    return any(_gain(sample.thinned(_MOST_ROWS, np.random.default_rng(0))) > 0 for sample in samples)


def _gain(sample: Sample) -> float:
    """Return by how much the criterion of independent columns is below that of a Gaussian, per row."""
    columns, model = sample.points.shape[1], independent_columns(sample)
    log_volume = np.linalg.slogdet(model.axes)[1]
    gaussian = log_volume - 0.5 * columns * np.log(2 * np.pi * np.e)
    likelihood = np.average(model.log_density(sample.points), weights=sample.weight)
    more = (3 * _PARTS - 3) * columns + columns * (columns - 1) / 2
    return float(likelihood - gaussian - more / sample.effective_rows)


def independent_columns(sample: Sample) -> IndependentColumns:
    """Fit the axes, then the density along each of them."""
    centre, covariance = sample.mean_and_covariance()
    values, vectors = np.linalg.eigh(covariance)
    white = vectors / np.sqrt(np.maximum(values, _LEAST_VARIANCE))
    search = FastICA(whiten=False, random_state=0, max_iter=_ROTATIONS, tol=_TOLERANCE)
    with without_convergence_warnings():
        rotation = search.fit((sample.points - centre) @ white).components_
    left, _, right = np.linalg.svd(rotation)
    axes = white @ (left @ right).T
    return IndependentColumns(centre, axes, _mixtures((sample.points - centre) @ axes, sample.weight))


def _mixtures(y: Floats, weight: Floats) -> Components:
    """Return a mixture for each column, from two starts: parts side by side, and parts around the middle."""
    share = weight[:, None] / weight.sum()
    away = np.abs(y - np.median(y, axis=0))
    starts = [_climb(y, share, _thirds(each), _FIRST_STEPS) for each in (y, away)]
    better = starts[1][1] > starts[0][1]
    shares = np.where(better, starts[1][0], starts[0][0])
    return _components(y, share, _climb(y, share, shares, _STEPS)[0])


def _thirds(values: Floats) -> Floats:
    """Return the shares, (k, n, d), with which rows belong to equally many of the smallest values, and so on."""
    part = np.argsort(np.argsort(values, axis=0), axis=0) * _PARTS // len(values)
    return np.asarray(part == np.arange(_PARTS)[:, None, None], dtype=np.float64)


def _climb(y: Floats, share: Floats, shares: Floats, steps: int) -> tuple[Floats, Floats]:
    """Return the shares after some steps, and the mean log likelihood of each column."""
    log_sum = np.zeros_like(y)
    for _ in range(steps):
        shares, log_sum = shares_of(_logits(y, _components(y, share, shares)))
    return shares, (share * log_sum).sum(axis=0)


def _components(y: Floats, share: Floats, shares: Floats) -> Components:
    """Return the parts that are most likely for these shares of the rows."""
    counted = shares * share
    weights = counted.sum(axis=1) + np.finfo(np.float64).eps
    means = np.einsum("knd,nd->kd", counted, y) / weights
    squares = np.maximum(np.einsum("knd,nd->kd", counted, y**2) - weights * means**2, 0.0)
    few = _PRIOR / len(y)
    return Components(weights / weights.sum(axis=0), means, (weights + few) / (squares + few * y.var(axis=0)))


def _logits(y: Floats, columns: Components) -> Floats:
    """Return the log density of each part, weights included, (k, n, d)."""
    weights, means, precisions = columns
    peaks = np.log(weights) + 0.5 * np.log(precisions / (2 * np.pi))
    return np.asarray(peaks[:, None] - 0.5 * precisions[:, None] * (y - means[:, None]) ** 2)
