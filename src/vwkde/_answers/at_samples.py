"""The log ratios of a fit at its samples, as divergences average them."""

import numpy as np

from vwkde._answers.functionals import AtSample
from vwkde._fit.averaging import Average
from vwkde._fit.fitted import Fitted


def at_samples(fitted: Fitted, average: Average | None = None) -> tuple[AtSample, AtSample]:
    """Return what averages over both samples need, for the whole fit or for an average of some of its members."""
    average = average or fitted.average
    p, q = fitted.samples
    at_p, at_q = average.at_samples(averages=True)
    p_noise, q_noise = (np.maximum(noise, _least_noise(fitted)) for noise in average.noise())
    behind = (p.total / len(p), q.total / len(q)) if fitted.average.by_moments else (1.0, 1.0)
    return (
        AtSample(at_p, p.weight, p_noise, behind[0], p.group, p.effective_rows),
        AtSample(at_q, q.weight, q_noise, behind[1], q.group, q.effective_rows),
    )


def _least_noise(fitted: Fitted) -> float:
    """Return the variance that a log ratio has at least: that of one in which only the means are unknown."""
    columns = fitted.samples[0].points.shape[1]
    return float(sum(columns / sample.effective_rows for sample in fitted.samples))
