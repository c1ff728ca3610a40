"""Kernel density estimates without their leading bias (h²/2)·∇²p, which is removed from each density separately.

Score-debiased (Epstein, Dwivedi and others, "SD-KDE: Score-debiased kernel density estimation", 2025): every point is
moved along the score by (h²/2)·∇log p before a kernel is placed on it. The score is that of the plain estimate.

Laplace-corrected (the kernel of fourth order; Wand and Schucany, "Gaussian-based kernels", Canadian Journal of
Statistics 1990): K(r)·(1 + d/2 − r²/2h²) instead of K(r). The estimate can be negative.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._fit.kernel_estimate import KernelEstimate
from vwkde.baselines.answer import Answer
from vwkde.baselines.kernel_density import answer_by, common_bandwidth, local_mean_squares, plain_estimate, whiten
from vwkde.baselines.settings import check_positive

Floats = NDArray[np.float64]

_LEAST_FACTOR = 0.1
"""Smallest Laplace-corrected density, relative to the plain one: without a limit it may have no logarithm."""


@dataclass(frozen=True)
class LaplaceDensity:
    """A kernel estimate with the Laplace-corrected kernel."""

    points: Floats
    bandwidth: float

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at new points."""
        return self._plain.log_density(x) + self._log_factor(x, own=False)

    def left_out(self) -> Floats:
        """Return the log density at the points, each left out of its own estimate."""
        return self._plain.left_out() + self._log_factor(self.points, own=True)

    @property
    def _plain(self) -> KernelEstimate:
        return plain_estimate(self.points, self.bandwidth)

    def _log_factor(self, x: Floats, own: bool) -> Floats:
        _, squares = local_mean_squares(x, self.points, self.bandwidth, own)
        return np.log(np.maximum(1 + x.shape[1] / 2 - squares / 2, _LEAST_FACTOR))


@dataclass(frozen=True)
class MovedDensity:
    """A kernel estimate on moved points; a point is left out at its original position."""

    origin: Floats
    moved: Floats
    bandwidth: float

    def log_density(self, x: Floats) -> Floats:
        """Return the log density at new points."""
        return plain_estimate(self.moved, self.bandwidth).log_density(x)

    def left_out(self) -> Floats:
        """Return the log density at the original points, each left out of its own estimate."""
        return plain_estimate(self.moved, self.bandwidth).left_out_at(self.origin)


def sd_kde(p: Floats, q: Floats, seed: int, *, bandwidth: float | None = None) -> Answer:
    """Estimate by score-debiased kernel estimates, both with one bandwidth.

    A point that is left out of its own density still contributes to the scores of the others.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Seed of the bandwidth selection.
    bandwidth
        The bandwidth in units of the whitened data; by default it is selected from the data.

    Returns
    -------
    Answer
        The divergence and its log ratio.
    """
    check_positive("bandwidth", bandwidth)
    p, q, whitening = whiten(p, q)
    h = _wide_bandwidth(p, q, seed) if bandwidth is None else bandwidth
    densities = MovedDensity(p, _moved(p, h), h), MovedDensity(q, _moved(q, h), h)
    return answer_by(densities, p, q, whitening, bandwidth=h)


def laplace_kde(p: Floats, q: Floats, seed: int, *, bandwidth: float | None = None) -> Answer:
    """Estimate by Laplace-corrected kernel estimates, both with one bandwidth.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Seed of the bandwidth selection.
    bandwidth
        The bandwidth in units of the whitened data; by default it is selected from the data.

    Returns
    -------
    Answer
        The divergence and its log ratio.
    """
    check_positive("bandwidth", bandwidth)
    p, q, whitening = whiten(p, q)
    h = _wide_bandwidth(p, q, seed) if bandwidth is None else bandwidth
    return answer_by((LaplaceDensity(p, h), LaplaceDensity(q, h)), p, q, whitening, bandwidth=h)


def _wide_bandwidth(p: Floats, q: Floats, seed: int) -> float:
    """Return the plain estimates' bandwidth times n^(1/(d+4) − 1/(d+8)).

    The factor changes the rate at which it shrinks to the optimal rate for a bias of fourth order.
    """
    rows, columns = min(len(p), len(q)), p.shape[1]
    return common_bandwidth(p, q, seed) * float(rows ** (1 / (columns + 4) - 1 / (columns + 8)))


def _moved(x: Floats, bandwidth: float) -> Floats:
    """Return points moved by (h²/2)·∇log p̂, which is halfway to the local mean of the points around them."""
    mean, _ = local_mean_squares(x, x, bandwidth, own=True)
    return x + 0.5 * (mean - x)
