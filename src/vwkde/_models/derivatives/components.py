"""The components of a Gaussian mixture, fitted by expectation and maximisation.

`tied.py` and `full.py` say what a step is, for components with one covariance and with one each.
"""

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._models.derivatives.k_means import k_means

Floats = NDArray[np.float64]

TOLERANCE = 1e-3
"""A fit ends when the mean log likelihood rises by less."""
LEAST_VARIANCE = 1e-6
"""Added to every variance, so that components of a degenerate sample have a density."""
_MOST_STEPS = 100


class Components(NamedTuple):
    """Σ weights_k · N(means_k, precisions_k⁻¹); `precisions` is of shape (k, d, d), or (d, d) if all share one."""

    weights: Floats
    means: Floats
    precisions: Floats

    def moved(self, by: Floats) -> "Components":
        """Return the components with their means elsewhere."""
        return self._replace(means=self.means + by)


class Rows(Protocol):
    """The rows that components are fitted to, with the origin at their mean."""

    def components(self, shares: Floats) -> Components:
        """Return the components that are most likely if they have these shares of the rows, of shape (k, n)."""

    def improved(self, components: Components) -> tuple[Components, float]:
        """Return the components after one step, and the mean log likelihood of those before it."""


MakeRows = Callable[[Floats], Rows]
"""Makes such rows of a centred sample."""


def fit_components(
    make_rows: MakeRows, x: Floats, count: int, random_state: int, tolerance: float = TOLERANCE
) -> Components:
    """Fit `count` components, starting from the clusters that k-means finds."""
    centre = x.mean(axis=0)
    centred = x - centre
    rows = make_rows(centred)
    start = rows.components(np.eye(count)[:, k_means(centred, count, random_state)])
    return _climb(rows, start, tolerance).moved(centre)


def refit_components(make_rows: MakeRows, x: Floats, start: Components, tolerance: float = TOLERANCE) -> Components:
    """Fit the same number of components, starting from these."""
    centre = x.mean(axis=0)
    return _climb(make_rows(x - centre), start.moved(-centre), tolerance).moved(centre)


def _climb(rows: Rows, components: Components, tolerance: float) -> Components:
    likelihood = -np.inf
    for _ in range(_MOST_STEPS):
        before = likelihood
        components, likelihood = rows.improved(components)
        if abs(likelihood - before) < tolerance:
            break
    return components


def shares_of(logits: Floats) -> tuple[Floats, Floats]:
    """Return the shares of components, (k, n), from their log densities, and the log of the densities' sum.

    The log densities are overwritten: new arrays of this size would take as long as the exponentials.
    """
    highest = logits.max(axis=0)
    logits -= highest
    shares = np.exp(logits, out=logits)
    totals = shares.sum(axis=0)
    shares /= totals
    return shares, highest + np.log(totals)
