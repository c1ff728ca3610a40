"""Whether each sample covers the region of the other one, and how many points support the estimate there."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._fit.kernel_estimate import KernelEstimate
from vwkde._fit.kernel_pair import KernelPair, LogDensities
from vwkde._runtime.warn import warn
from vwkde.exceptions import OverlapWarning

Floats = NDArray[np.float64]

_EDGE = 0.01
"""Share of a sample's own points that count as its edge."""
_POOR = 0.5
"""Share of unsupported points above which a divergence is unreliable."""
_FEW = 0.015
"""Share of points outside the other sample from which a divergence that weighs them without bound may be infinite."""
_QUERIES = 500
"""Points at which effective sizes are computed: enough for a median."""
_NAMES = "numerator", "denominator"


def describe_overlap(pair: KernelPair, rows: tuple[int, int]) -> dict[str, Any]:
    """Return three pairs of numbers, for numerator and denominator; `rows` are their numbers of rows, in memory or not.

    unsupported_fraction
        The share of the sample's points where the other sample's density is lower than at its own outermost percent.
    kernel_effective_size
        How many equally weighted points the sample's kernel sums amount to, at the median point of the other sample.
    largest_weight_share
        The share of the heaviest point in the sample's total weight.
    """
    p, q = pair.samples
    some, at_some = pair.at_some(1)
    at_p = _without_alpha(pair.at_sample(0), pair.numerator.log_alpha[:, 0])
    at_q = _without_alpha(at_some, pair.denominator.log_alpha[some, 0])
    sizes = _effective_size(pair.numerator, q.points), _effective_size(pair.denominator, p.points)
    growth = rows[0] / len(p), rows[1] / len(q)  # rows in memory are a random part of all rows
    return {
        "unsupported_fraction": [
            _unsupported(at_p.denominator, p.weight, at_q.denominator),
            _unsupported(at_q.numerator, q.weight[some], at_p.numerator),
        ],
        "kernel_effective_size": [size * by for size, by in zip(sizes, growth, strict=True)],
        "largest_weight_share": [
            _largest_share(each.log_weight) / by
            for each, by in zip((pair.numerator, pair.denominator), growth, strict=True)
        ],
    }


def _without_alpha(at_points: LogDensities, log_alpha: Floats) -> LogDensities:
    """Return the log densities of p at points, from those of α·p."""
    return LogDensities(at_points.numerator - log_alpha, at_points.denominator - log_alpha)


def may_be_infinite(
    diagnostics: Mapping[str, Any], kind: str, order: float | None = None, degenerate: bool = False
) -> bool:
    """Return whether a divergence may be infinite, and warn if it may, or if most points are unsupported.

    It may be if the sample under which an unbounded function of the ratio is averaged has points outside the other one,
    or if one of the samples is `degenerate`, which raised a warning before.
    """
    side = _unbounded_side(kind, order)
    if side is not None and degenerate:
        return True
    if side is not None and diagnostics["outside_fraction"][side] > _FEW:
        one, other = _NAMES[side], _NAMES[1 - side]
        warn(
            f"{diagnostics['outside_fraction'][side]:.0%} of the {one}'s points lie where the {other} has none, as far "
            f"as its rows show: the divergence may be infinite, and the value, an extrapolation there, means only 'at "
            f"least'. Use more {other} rows, drop the {one} rows outside, or use a bounded divergence such as "
            f"'jensen-shannon'.",
            OverlapWarning,
        )
        return True
    _warn_if_poor(diagnostics["unsupported_fraction"], kind)
    return False


def warn_if_weights_cannot_represent(diagnostics: Mapping[str, Any]) -> None:
    """Warn if no weights make the denominator stand for the numerator, since its rows do not reach there."""
    outside, poor = diagnostics["outside_fraction"][0], diagnostics["unsupported_fraction"][0]
    if outside > _FEW or poor > _POOR:
        share, how_many = (outside, "none") if outside > _FEW else (poor, "almost none")
        warn(
            f"{share:.0%} of the numerator's points lie where the denominator has {how_many}: no weights make the "
            f"denominator stand for them. Use more denominator rows, or leave out those numerator rows.",
            OverlapWarning,
        )


def _unbounded_side(kind: str, order: float | None) -> int | None:
    """Return the sample whose points weigh without bound where the other has none; None for finite divergences."""
    if kind == "renyi":
        return 0 if order is not None and order > 1 else None
    return {"kl": 0, "chi2": 0, "reverse-kl": 1}.get(kind)


def _warn_if_poor(unsupported: list[float], kind: str) -> None:
    """Warn if most of the points that an unbounded divergence averages over are unsupported."""
    for side in {"kl": (0,), "reverse-kl": (1,), "renyi": (0, 1), "chi2": (0,)}.get(kind, ()):
        if unsupported[side] > _POOR:
            one, other = _NAMES[side], _NAMES[1 - side]
            warn(
                f"{unsupported[side]:.0%} of the {one}'s points lie where the {other} has almost none: the value is an "
                f"extrapolation and means only 'large'. Use samples that overlap, more {other} rows, or fewer columns.",
                OverlapWarning,
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
