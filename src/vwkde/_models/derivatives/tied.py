"""Gaussian mixtures whose components share one covariance, fitted by expectation and maximisation.

With one precision P for all components xᵀPx cancels from the shares, and the covariance is the sample's second moments
minus those of the means. A step takes two products of the sample with a matrix of one column per component, so that
many starts in many columns are cheap.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from vwkde._runtime.quiet import without_convergence_warnings

Floats = NDArray[np.float64]

_MOST_STEPS = 100
_TOLERANCE = 1e-3
"""Training stops when the mean log likelihood rises by less."""
_LEAST_VARIANCE = 1e-6
"""Added to every variance, so that components of a degenerate sample have a density."""


class TiedComponents(NamedTuple):
    """Σ weights_k · N(means_k, precision⁻¹)."""

    weights: Floats
    means: Floats
    precision: Floats


def fit_tied(x: Floats, count: int, random_state: int) -> TiedComponents:
    """Fit `count` components, starting from the clusters that k-means finds."""
    with without_convergence_warnings():  # k-means warns if there are fewer distinct rows than clusters
        labels = KMeans(count, n_init=1, random_state=random_state).fit(x).labels_
    centre = x.mean(axis=0)
    centred = x - centre
    start = _components(centred, np.eye(count)[:, labels], _second_moments(centred))
    return _moved(_climb(centred, start), centre)


def refit_tied(x: Floats, start: TiedComponents) -> TiedComponents:
    """Fit the same number of components, starting from these."""
    centre = x.mean(axis=0)
    return _moved(_climb(x - centre, _moved(start, -centre)), centre)


def _moved(components: TiedComponents, by: Floats) -> TiedComponents:
    return components._replace(means=components.means + by)


def _climb(x: Floats, start: TiedComponents) -> TiedComponents:
    """Iterate on centred rows until the likelihood hardly rises."""
    moments = _second_moments(x)
    components, likelihood = start, -np.inf
    for _ in range(_MOST_STEPS):
        before = likelihood
        shares, likelihood = _shares(x, components, moments)
        components = _components(x, shares, moments)
        if abs(likelihood - before) < _TOLERANCE:
            break
    return components


def _second_moments(x: Floats) -> Floats:
    return np.asarray(x.T @ x / len(x))


def _shares(x: Floats, components: TiedComponents, moments: Floats) -> tuple[Floats, float]:
    """Return each component's share of each row, of shape (k, n), and the mean log likelihood."""
    weights, means, precision = components
    slopes = means @ precision
    logits = slopes @ x.T + (np.log(weights) - 0.5 * (slopes * means).sum(axis=1))[:, None]
    highest = logits.max(axis=0)
    shares = np.exp(logits - highest)
    totals = shares.sum(axis=0)
    log_volume = x.shape[1] * np.log(2 * np.pi) - np.linalg.slogdet(precision)[1]
    common = (precision * moments).sum() + log_volume
    return shares / totals, float((highest + np.log(totals)).mean() - 0.5 * common)


def _components(x: Floats, shares: Floats, moments: Floats) -> TiedComponents:
    """Return the components that are most likely for these shares."""
    rows = shares.sum(axis=1) + 10 * np.finfo(np.float64).eps
    means = shares @ x / rows[:, None]
    weights = rows / rows.sum()
    covariance = moments - (means.T * weights) @ means + _LEAST_VARIANCE * np.eye(x.shape[1])
    return TiedComponents(weights, means, np.linalg.inv(covariance))
