"""Whether the log ratios of a fit can be those of two densities, whatever these are."""

from typing import Any

import numpy as np

from vwkde._answers.functionals import KINDS, AtSample
from vwkde._compute import parallel
from vwkde._models.exponentials import chance_of
from vwkde._models.log_loss import best_level, level_gap
from vwkde._runtime.warn import warn
from vwkde.exceptions import BiasWarning

_CLEARLY = 3.0
"""Standard errors beyond which chance does not explain a contradiction."""
_SMALL = 0.05
"""Size in nats of contradictions that the usual leave-one-out bias explains."""
_NEVER_NEGATIVE = ("kl", "reverse-kl", "jensen-shannon")


def level_error(numerator: AtSample, denominator: AtSample) -> float:
    """Return by how much the level of the log ratio is clearly too low, in nats; zero if chance explains it.

    The true ratio has E_p[1/(1 + r)] = E_q[r/(1 + r)]. Where they differ, adding a constant to the log ratio makes them
    equal.
    """
    log_ratios = numerator.log_ratio, denominator.log_ratio
    weights = numerator.weight, denominator.weight
    variance = numerator.variance_of_mean(parallel.elementwise(chance_of, -numerator.log_ratio))
    variance += denominator.variance_of_mean(parallel.elementwise(chance_of, denominator.log_ratio))
    if abs(level_gap(log_ratios, weights)) <= _CLEARLY * np.sqrt(variance):
        return 0.0
    return best_level(log_ratios, weights)


def warn_if_contradictory(
    asked: dict[str, tuple[float, float]], numerator: AtSample, denominator: AtSample, guide: Any, weighting: str
) -> None:
    """Warn if the log ratios cannot be right because a divergence is clearly negative, whichever was asked for.

    `asked` is the divergence that was asked for, by its kind, with its standard error; `guide` is the caller's, and
    `weighting` the one in use.
    """
    others = [kind for kind in _NEVER_NEGATIVE if kind not in asked]
    known = parallel.run_if_many(lambda kind: KINDS[kind](numerator, denominator), others, len(numerator.log_ratio))
    values = dict(zip(others, known, strict=True)) | asked
    contradictions = [each for each in (_describe(kind, *found) for kind, found in values.items()) if each]
    if not contradictions:
        return
    causes = "rows that both samples share, very few rows, outliers, or densities of very different width"
    warn(
        f"The fitted ratio cannot be right: {'; '.join(contradictions)}. The estimate is biased. Likely causes are "
        f"{causes}. {_remedy(guide, weighting)}",
        BiasWarning,
    )


def _remedy(guide: Any, weighting: str) -> str:
    """Return what the caller can do that is not done yet."""
    if isinstance(guide, str) and guide == "auto":
        return "Leave out shared rows and outliers, or use more rows or fewer columns."
    if guide is None and weighting != "uniform":
        return "Try the default guide='auto', method='kde', which uses no weights, or fewer columns."
    return "Try the default guide='auto' or fewer columns."


def _describe(kind: str, value: float, error: float) -> str:
    """Return what is wrong with a divergence, or nothing."""
    if value > -max(_CLEARLY * error, _SMALL):
        return ""
    return f"its {kind} is {value:.3g} ± {error:.2g}, and no divergence is negative"
