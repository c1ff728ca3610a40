"""Whether each sample covers the places where the other one lives, and how many points speak there."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._fit.kernel_estimate import KernelEstimate, KernelPair, LogDensities
from vwkde.exceptions import BiasWarning, OverlapWarning

Floats = NDArray[np.float64]

_EDGE = 0.01
"""Share of a sample's own points that count as lying at its edge."""
_POOR = 0.5
"""Share of unsupported points from which a divergence is not to be trusted."""
_SMALL = 0.05
"""Divergences in nats that may come out negative by the usual bias of leaving points out."""
_QUERIES = 500
"""Points at which effective sizes are looked at: enough for a median."""


def describe_overlap(pair: KernelPair, rows: tuple[int, int]) -> dict[str, Any]:
    """Return three pairs of numbers, for numerator and denominator, by estimates that hold some or all of their rows.

    unsupported_fraction
        The share of the sample's points where the other one is thinner than at its own outermost percent.
    effective_size
        How many equally weighted points the sample's kernel sums amount to, at the median point of the other one.
    largest_weight_share
        The share that the heaviest point has of the sample's whole weight.
    """
    p, q = pair.samples
    at_p, at_q = (_without_alpha(pair, side) for side in (0, 1))
    sizes = _effective_size(pair.numerator, q.points), _effective_size(pair.denominator, p.points)
    growth = rows[0] / len(p), rows[1] / len(q)  # rows beyond those in memory differ from them by chance alone
    return {
        "unsupported_fraction": [
            _unsupported(at_p.denominator, p.weight, at_q.denominator),
            _unsupported(at_q.numerator, q.weight, at_p.numerator),
        ],
        "effective_size": [size * by for size, by in zip(sizes, growth, strict=True)],
        "largest_weight_share": [
            _largest_share(each.log_weight) / by
            for each, by in zip((pair.numerator, pair.denominator), growth, strict=True)
        ],
    }


def _without_alpha(pair: KernelPair, side: int) -> LogDensities:
    """Return the log densities at a sample's points: the estimates are of α·p, and α is not part of the density."""
    estimate, found = (pair.numerator, pair.denominator)[side], pair.at_samples[side]
    alpha = estimate.log_weight[:, 0] - estimate.sample.log_weight
    return LogDensities(found.numerator - alpha, found.denominator - alpha)


def warn_if_poor(unsupported: list[float], kind: str) -> None:
    """Warn when most of the points that a divergence averages over are unsupported; bounded divergences do not mind."""
    names = ("numerator", "denominator")
    for side in {"kl": (0,), "reverse-kl": (1,), "renyi": (0, 1), "chi2": (0,)}.get(kind, ()):
        if unsupported[side] > _POOR:
            one, other = names[side], names[1 - side]
            warnings.warn(
                f"{unsupported[side]:.0%} of the {one}'s points lie where the {other} has almost none: the value is an "
                f"extrapolation, best read as 'large'. Use samples that overlap, more {other} rows, or fewer columns.",
                OverlapWarning,
                stacklevel=3,
            )


def warn_if_negative(value: float, error: float, weighting: str) -> None:
    """Warn when a divergence is clearly negative, which none can be."""
    if value > -max(3 * error, _SMALL):
        return
    causes = "rows that both samples share, very few rows, or densities that differ much in width"
    remedy = "fewer columns" if weighting == "uniform" else "weighting='uniform'"
    warnings.warn(
        f"The value {value:.3g} ± {error:.2g} cannot be right, since no divergence is negative: bias is left. "
        f"Likely causes are {causes}. Try {remedy}.",
        BiasWarning,
        stacklevel=3,
    )


def _unsupported(log_density: Floats, weight: Floats, own_log_density: Floats) -> float:
    return float(np.average(log_density < np.quantile(own_log_density, _EDGE), weights=weight))


def _effective_size(estimate: KernelEstimate, points: Floats) -> float:
    """Return the median effective size over points, at most the number of rows."""
    some = points[np.linspace(0, len(points) - 1, min(len(points), _QUERIES)).astype(int)]
    log_size = np.clip(estimate.log_effective_size(some), 0, np.log(len(estimate.sample)))
    return float(np.exp(np.median(log_size)))


def _largest_share(log_weight: Floats) -> float:
    weight = np.exp(log_weight - log_weight.max())
    return float(1 / weight.sum())
