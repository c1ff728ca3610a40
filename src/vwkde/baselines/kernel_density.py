"""Kernel density estimates for the baselines: on whitened data, like the project's own, for a fair comparison."""

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import DEFAULT_MEMORY_BUDGET, block_rows, split
from vwkde._coordinates.whitening import Whitening, fit_whitening
from vwkde._data.sample import make_unordered_sample
from vwkde._fit.bandwidth import select_bandwidth
from vwkde._fit.kernel_estimate import KernelEstimate, PointWeight
from vwkde.baselines.answer import Answer

Floats = NDArray[np.float64]


def plain_estimate(points: NDArray[np.floating], bandwidth: float | Floats) -> KernelEstimate:
    """Return the plain kernel estimate of the density behind some points, in their own precision."""
    sample = make_unordered_sample(points.astype(np.float64, copy=False))
    return KernelEstimate(sample, PointWeight(), bandwidth, points.dtype)


class Density(Protocol):
    """A density by its logarithm, at new points and at its own points, each left out."""

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at new points."""

    def left_out(self) -> Floats:
        """Return the log density at the sample's own points, each left out of its own estimate."""


def whiten(p: Floats, q: Floats) -> tuple[Floats, Floats, Whitening]:
    """Return both samples, whitened by their pooled within-class covariance, and the map."""
    whitening = fit_whitening(p, q, (np.ones(len(p)), np.ones(len(q))), None)
    return whitening(p), whitening(q), whitening


def answer_by(densities: tuple[Density, Density], p: Floats, q: Floats, whitening: Whitening, **chosen: Any) -> Answer:
    """Return the plug-in answer of two density estimates of whitened samples."""
    one, other = densities
    at_numerator = one.left_out() - other.log_density(p)
    at_denominator = one.log_density(q) - other.left_out()

    def log_ratio(x: Floats) -> Floats:
        whitened = whitening(x)
        return one.log_density(whitened) - other.log_density(whitened)

    return Answer(float(at_numerator.mean()), at_numerator, at_denominator, log_ratio, chosen)


def own_bandwidths(p: Floats, q: Floats, seed: int) -> tuple[float, float]:
    """Return the bandwidth of each sample that maximises its leave-one-out likelihood."""
    return select_bandwidth(p, "likelihood", random_state=seed), select_bandwidth(q, "likelihood", random_state=seed)


def common_bandwidth(p: Floats, q: Floats, seed: int) -> float:
    """Return the mean of the two samples' bandwidths."""
    return float(np.mean(own_bandwidths(p, q, seed)))


def local_mean_squares(x: Floats, points: Floats, bandwidth: float, own: bool) -> tuple[Floats, Floats]:
    """Return, for each x, the mean of the points weighted by the kernel, and their mean squared distance from x.

    Distances are in bandwidths. With `own` the queries are the points, each left out of its own means.
    """
    mean, squares = np.empty_like(x), np.empty(len(x))
    lengths = np.einsum("ij,ij->i", points, points)
    for block in split(len(x), block_rows(24 * len(points), DEFAULT_MEMORY_BUDGET)):
        queries = x[block]
        squared = np.einsum("ij,ij->i", queries, queries)[:, None] - 2 * queries @ points.T + lengths
        squared = np.maximum(squared, 0) / bandwidth**2
        exponent = -0.5 * squared
        if own:
            exponent[np.arange(len(queries)), np.arange(block.start, block.stop)] = -np.inf
        share = np.exp(exponent - exponent.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        mean[block] = share @ points
        squares[block] = np.einsum("ij,ij->i", share, squared)
    return mean, squares
