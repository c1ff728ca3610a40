"""The standard error of the log ratio at single points.

Three things move the log ratio from one draw of the samples to the next. The guides learn from the rows: the models of
the folds, each fitted without a part of them, show by how much (the jackknife). The kernel sums average over few rows:
a sum worth k equal terms has a relative variance of 1/k. And what is chosen or shared among candidates changes: their
disagreement stands for it, and for the bias that at least some of them have.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._fit.averaging import Average, Member
from vwkde._fit.fitted import Fitted
from vwkde._fit.guided_ratio import GuidedRatio

Floats = NDArray[np.float64]


def log_ratio_errors(fitted: Fitted, x: Floats) -> Floats:
    """Return the standard error of the log ratio at points, as they were given to the fit."""
    average = fitted.average
    members = [member for member in average.members if member.pointwise]
    shares = np.array([member.pointwise for member in members])
    values = np.stack([member.ratio.log_ratio(member.place(x)) for member in members])
    disagreement = np.average((values - shares @ values) ** 2, axis=0, weights=shares)
    sums = np.sum([share * np.sqrt(_of_sums(m, x)) for share, m in zip(shares, members, strict=True)], axis=0)
    return np.sqrt(_of_guides(average, x) + sums**2 + disagreement + _of_means(fitted))


def _of_guides(average: Average, x: Floats) -> Floats:
    """Return the jackknife variance of the guides' part, from the models without a fold each."""
    by_fold: list[Floats] = []
    for member in (m for m in average.members if m.pointwise and m.ratio.guide.models):
        models, points = member.ratio.guide.models, member.place(x)
        by_fold.append(member.pointwise * np.stack([model(points) for model in models]))
    if not by_fold:
        return np.zeros(len(x))
    together = np.sum(by_fold, axis=0)
    return np.asarray((len(together) - 1) * together.var(axis=0))


def _of_sums(member: Member, x: Floats) -> Floats:
    """Return the variance of the log ratio of the kernel sums."""
    if not isinstance(member.ratio, GuidedRatio):
        return np.zeros(len(x))
    points, pair = member.place(x), member.ratio.pair
    sizes = [np.maximum(each.log_effective_size(points), 0.0) for each in (pair.numerator, pair.denominator)]
    return np.sum([np.exp(-size) for size in sizes], axis=0)


def _of_means(fitted: Fitted) -> float:
    """Return the variance that is always there: that of a log ratio whose level alone is unknown."""
    return float(sum(1 / sample.effective_rows for sample in fitted.samples))
