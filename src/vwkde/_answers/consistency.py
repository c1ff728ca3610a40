"""Whether the log ratios of a fit can be those of two densities, whatever these are."""

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from vwkde._answers.functionals import KINDS, AtSample
from vwkde._runtime.warn import warn
from vwkde.exceptions import BiasWarning

_CLEARLY = 3.0
"""Standard errors beyond which chance does not explain a contradiction."""
_SMALL = 0.05
"""Size in nats of contradictions that the usual leave-one-out bias explains."""
_FAR_OFF = 0.5
"""Error of level, in nats, from which there is a warning; smaller ones only widen the interval."""
_FARTHEST = 100.0
"""Largest error of level, in nats: no log ratio is larger."""
_NEVER_NEGATIVE = ("kl", "reverse-kl", "jensen-shannon")


def level_error(numerator: AtSample, denominator: AtSample) -> float:
    """Return by how much the level of the log ratio is clearly too low, in nats; zero if chance explains it.

    The true ratio has E_p[1/(1 + r)] = E_q[r/(1 + r)]. Both sides are bounded, so that no single row decides. Where
    they differ, adding a constant to the log ratio makes them equal.
    """

    def gap(shift: float) -> float:
        return numerator.mean(expit(-numerator.log_ratio - shift)) - denominator.mean(
            expit(denominator.log_ratio + shift)
        )

    variance = numerator.variance_of_mean(expit(-numerator.log_ratio))
    variance += denominator.variance_of_mean(expit(denominator.log_ratio))
    if abs(gap(0.0)) <= _CLEARLY * np.sqrt(variance):
        return 0.0
    return float(brentq(gap, -_FARTHEST, _FARTHEST))


def warn_if_contradictory(
    asked: dict[str, tuple[float, float]], numerator: AtSample, denominator: AtSample, weighting: str
) -> None:
    """Warn if the log ratios cannot be right: a divergence is clearly negative, or their level is clearly wrong.

    `asked` is the divergence that was asked for, by its kind, with its standard error.
    """
    values = {kind: KINDS[kind](numerator, denominator) for kind in _NEVER_NEGATIVE} | asked
    found = [_describe(kind, *each) for kind, each in values.items()]
    off = level_error(numerator, denominator)
    if abs(off) > _FAR_OFF:
        found.append(f"the log ratio is too {'low' if off > 0 else 'high'} by {abs(off):.2g} nats in the mean")
    contradictions = [each for each in found if each]
    if not contradictions:
        return
    causes = "rows that both samples share, very few rows, outliers, or densities of very different width"
    remedy = "fewer columns" if weighting == "uniform" else "method='kde', which uses no weights"
    warn(
        f"The fitted ratio cannot be right: {'; '.join(contradictions)}. The estimate is biased. Likely causes are "
        f"{causes}. Try {remedy}, or the default guide='auto'.",
        BiasWarning,
    )


def _describe(kind: str, value: float, error: float) -> str:
    """Return what is wrong with a divergence, or nothing."""
    if value > -max(_CLEARLY * error, _SMALL):
        return ""
    return f"its {kind} is {value:.3g} ± {error:.2g}, and no divergence is negative"
