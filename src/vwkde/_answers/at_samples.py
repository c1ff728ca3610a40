"""The log ratios of a fit at its samples, as divergences average them."""

import numpy as np

from vwkde._answers.functionals import AtSample
from vwkde._fit.averaging import Average
from vwkde._fit.fitted import Fitted, PaperFit

_AVERAGED = {"kl": 0, "reverse-kl": 1}
"""The sample over which these divergences are averages of the log ratio; the other one tells only their errors."""


def at_samples(fitted: Fitted, average: Average | None = None, kind: str | None = None) -> tuple[AtSample, AtSample]:
    """Return what averages over both samples need, for the whole fit or for an average of some of its members.

    The paper's form has kernel sums over all rows, and they take long at many rows. So for a divergence that is an
    average over one sample, by its `kind`, those at some rows of the other sample are enough if there are very many.
    """
    if kind in _AVERAGED and isinstance(fitted, PaperFit) and fitted.ratio.pair.some_suffice:
        averaged = _AVERAGED[kind]
        return _at_one(fitted, 0, some=averaged != 0), _at_one(fitted, 1, some=averaged != 1)
    average = average or fitted.average
    p, q = fitted.samples
    at_p, at_q = average.at_samples(averages=True)
    p_noise, q_noise = (np.maximum(noise, _least_noise(fitted)) for noise in average.noise())
    behind = (p.total / len(p), q.total / len(q)) if fitted.average.by_moments else (1.0, 1.0)
    return (
        AtSample(at_p, p.weight, p_noise, behind[0], p.group, p.effective_rows),
        AtSample(at_q, q.weight, q_noise, behind[1], q.group, q.effective_rows),
    )


def _at_one(fitted: PaperFit, side: int, some: bool) -> AtSample:
    """Return what averages need of one sample, at all of its rows or at some."""
    sample, pair, noise = fitted.samples[side], fitted.ratio.pair, _least_noise(fitted)
    if not some:
        return AtSample(pair.at_sample(side).log_ratio, sample.weight, noise)
    rows, log_densities = pair.at_some(side)
    return AtSample(log_densities.log_ratio, sample.weight[rows], noise, len(sample) / len(rows), numbers=rows)


def _least_noise(fitted: Fitted) -> float:
    """Return the variance that a log ratio has at least: that of one in which only the means are unknown."""
    columns = fitted.samples[0].points.shape[1]
    return float(sum(columns / sample.effective_rows for sample in fitted.samples))
