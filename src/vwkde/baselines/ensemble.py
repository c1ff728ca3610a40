"""KL divergence by a weighted ensemble of plain kernel estimates with several bandwidths.

Moon, Sricharan, Greenewald and Hero, "Ensemble estimation of information divergence", Entropy 2018. The bias of a
plug-in estimate is a sum of powers of its bandwidth, and a symmetric kernel leaves only the even ones. The weights w of
bandwidths h₁ … h_L solve

    minimise Σᵢ (√n · Σ_l w_l·h_lⁱ)²,  i = 2, 4 … d,      where   Σ w_l = 1   and   ‖w‖² ≤ η,

so that the terms of the bias cancel as far as weights of that size allow. Moon and others minimise the largest term;
the sum of squares has the solution (TᵀT + λ)⁻¹1, scaled to sum to one, with λ as small as η allows.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from vwkde._fit.kernel_estimate import KernelEstimate
from vwkde.baselines.answer import Answer
from vwkde.baselines.kernel_density import answer_by, common_bandwidth, plain_estimate, whiten
from vwkde.baselines.settings import check_count, check_positive

Floats = NDArray[np.float64]

_WIDEST = 2.0
"""The largest bandwidth relative to the smallest, which maximises the leave-one-out likelihood."""
_LOG_RIDGES = (-14.0, 3.0)
"""Powers of ten between which λ lies, relative to the largest eigenvalue of TᵀT."""


def ensemble(p: Floats, q: Floats, seed: int, *, members: int = 20, most_weight: float = 3.0) -> Answer:
    """Estimate by a weighted ensemble.

    Parameters
    ----------
    p, q
        The numerator's and the denominator's rows.
    seed
        Seed of the bandwidth selection.
    members
        The number of bandwidths, at least 2.
    most_weight
        Largest sum of the squared weights, the η above. It must exceed 1/members.

    Returns
    -------
    Answer
        The divergence, its log ratio, and the bandwidths and weights chosen.
    """
    check_count("members", members, 2)
    check_positive("most_weight", most_weight)
    if not most_weight * members > 1:
        raise ValueError(
            f"The 'most_weight' parameter must exceed 1/members, the value of equal weights. "
            f"Got {most_weight!r} instead."
        )
    p, q, whitening = whiten(p, q)
    widths = common_bandwidth(p, q, seed) * np.linspace(1, _WIDEST, members)
    weights = ensemble_weights(widths, min(len(p), len(q)), p.shape[1], most_weight)
    densities = _Ensemble(plain_estimate(p, widths), weights), _Ensemble(plain_estimate(q, widths), weights)
    return answer_by(densities, p, q, whitening, bandwidths=widths.tolist(), weights=weights.tolist())


@dataclass(frozen=True)
class _Ensemble:
    """The weighted mean of log densities with several bandwidths."""

    estimate: KernelEstimate
    weights: Floats

    def log_density(self, x: Floats) -> Floats:
        return self.weights @ self.estimate.log_density(x)

    def left_out(self) -> Floats:
        return self.weights @ self.estimate.left_out()


def ensemble_weights(widths: Floats, rows: int, columns: int, most_weight: float) -> Floats:
    """Return the weights of the bandwidths: they sum to one and make the terms of the bias small."""
    powers = np.arange(2, max(columns, 2) + 1, 2)
    terms = np.sqrt(rows) * widths ** powers[:, None]
    values, vectors = np.linalg.eigh(terms.T @ terms)
    ones = vectors.T @ np.ones(len(widths))

    def weights(log_ridge: float) -> Floats:
        parts = ones / (np.maximum(values, 0) + values[-1] * 10**log_ridge)
        return vectors @ parts / (ones @ parts)

    def excess(log_ridge: float) -> float:
        return float(np.log(weights(log_ridge) @ weights(log_ridge) / most_weight))

    low, high = _LOG_RIDGES
    return weights(low if excess(low) <= 0 else brentq(excess, low, high))
