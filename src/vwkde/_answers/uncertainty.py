"""Errors of a divergence other than those from influence functions: remaining bias, what no model sees, scatter.

Whatever a model misses makes the two samples look more alike, so errors beyond the noise are nearly always values that
are too small. Two signs tell how much may be missing. The first is the difference between the two ways in which the
default combines its candidates, a mean and a stack (see `_fit/averaging.py`). The second is what can hide: n rows of d
columns, in the smaller sample, show a difference of d numbers only if its KL exceeds the order of √d·2/n, and what has
no simple form is found later, by a share of the root of that. A change of the dependence between columns has about d²/2
numbers, and hides as long as its KL is below the order of d·2/n. The rows of a much larger sample do not help: it is
the smaller one that supports no model. And more hides beside a large difference, since few rows of one sample are where
the other is: 1 + KL times as much. If a guide without bias finds more, and hardly by chance, but has too much noise to
be chosen, that much may hide instead. The three factors were calibrated by `benchmarks/zoo.py` on problems drawn from
tuning seeds.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.at_samples import at_samples
from vwkde._answers.consistency import level_error
from vwkde._answers.functionals import AtSample
from vwkde._compute import parallel
from vwkde._data.groups import FEWEST_GROUPS
from vwkde._data.sample import Sample
from vwkde._fit.averaging import Average
from vwkde._fit.fitted import Fitted, PaperFit
from vwkde._runtime.progress import track
from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
AtBoth = tuple[AtSample, AtSample]
Compute = Callable[[AtSample, AtSample], tuple[float, float]]
"""A divergence from the log ratios at both samples, with its standard error."""

_CLEARLY = 3.0
"""Standard errors by which members may differ by chance."""
_BIAS_ROWS = 500
"""Points of each sample at which the remaining bias is computed."""
_SUBSAMPLES = 30
_PER_DIFFERENCE = 3.0
"""How much may be missed, in units of the difference between the two combinations of the candidates."""
_HIDDEN = 0.38
"""How much KL may hide, in units of the root of √d·2/n."""
_HIDDEN_DEPENDENCE = 0.2
"""How much more may hide in the dependence between columns, in units of d·2/n."""


def systematic_error(fitted: Fitted, compute: Compute, error: float, at_both: AtBoth) -> float:
    """Return how far the remaining bias may move a divergence, as far as the fit shows it.

    `at_both` are the log ratios at the samples.
    """
    if isinstance(fitted, PaperFit):
        bias = _bias_effect(fitted, compute, at_both)
    else:
        bias = _disagreement(fitted, compute, error)
    off = 0.0 if fitted.samples[1].pairs else level_error(*at_both)
    return float(np.hypot(bias, _effect_of_level(off, compute, at_both)))


def unseen(fitted: Fitted, kind: str, order: float | None, compute: Compute, value: float) -> float:
    """Return how much of a divergence the default may have missed; zero for fits that do not choose from the data.

    `value` is the divergence by the average that was chosen.
    """
    if not fitted.may_miss:
        return 0.0
    average = fitted.average
    others = [replace(average, by_fold=way) for way in average.alternatives if way is not average.by_fold]
    values = [value, *_values(fitted, compute, others)]
    beside = in_units_of(kind, order, hidden(fitted.samples), max(value, 0.0))
    missed = _PER_DIFFERENCE * float(np.ptp(values)) + max(beside, in_units_of(kind, order, average.further, 0.0))
    return missed + _share_of_products(fitted.average) * max(value, 0.0)


def _share_of_products(average: Average) -> float:
    """Return how much of an average comes from products of pairs of columns, which are of low degrees.

    Where these differ too little for any single one to be learnt, products of higher degrees may carry as much again.
    """
    return sum(member.average for member in average.members if member.ratio.guide.form == "dependence")


def hidden(samples: tuple[Sample, Sample]) -> float:
    """Return how much KL may hide in so few rows of so many columns; the smaller sample decides what can be seen."""
    d = samples[0].points.shape[1]
    per_row = 2 / min(sample.effective_rows for sample in samples)
    return float(_HIDDEN * np.sqrt(np.sqrt(d) * per_row) + _HIDDEN_DEPENDENCE * d * per_row)


def in_units_of(kind: str, order: float | None, kl: float, value: float) -> float:
    """Return by how much a small amount of KL raises a divergence that has some value.

    Between nearly equal densities every divergence is a multiple of KL, or of its root. Of those without a bound, more
    may be missed where they are large.
    """
    if kind == "chi2":
        return float((1 + value) * np.expm1(2 * kl))
    if kind in ("hellinger", "total-variation"):
        share = 0.25 if kind == "hellinger" else 0.25 / np.pi  # a quarter of that of a shift: it misses less
        return float(np.sqrt(value**2 + share * kl) - value)
    if kind == "jensen-shannon":
        return 0.25 * kl
    return (1 + value) * (order or 1.0) * kl


def _effect_of_level(off: float, compute: Compute, at_both: AtBoth) -> float:
    """Return the change of a divergence when the level of the log ratio is corrected."""
    if not off:
        return 0.0
    moved = [sample._replace(log_ratio=sample.log_ratio + off) for sample in at_both]
    return abs(compute(*at_both)[0] - compute(moved[0], moved[1])[0])


def _disagreement(fitted: Fitted, compute: Compute, error: float) -> float:
    """Return the spread of the members' values beyond what noise explains."""
    members = [member for member in fitted.average.members if member.average]
    if len(members) == 1:
        return 0.0
    alone = [Average((replace(member, average=1.0),)) for member in members]
    values = np.array(_values(fitted, compute, alone))
    shares = [member.average for member in members]
    spread = np.average((values - np.average(values, weights=shares)) ** 2, weights=shares)
    return float(np.sqrt(max(0.0, spread - (_CLEARLY * error) ** 2)))


def _values(fitted: Fitted, compute: Compute, averages: list[Average]) -> list[float]:
    """Return a divergence by each of some averages of members."""
    return parallel.concurrently(
        lambda average: compute(*at_samples(fitted, average))[0], averages, len(fitted.samples[0])
    )


def _bias_effect(fitted: PaperFit, compute: Compute, at_both: AtBoth) -> float:
    """Return the change of a divergence when bandwidth²·B is subtracted from the log ratios, at some points."""
    random = np.random.default_rng(fitted.numerics.seed)
    before, after = [], []
    for at, sample in zip(at_both, fitted.samples, strict=True):
        some = np.sort(random.permutation(len(at.log_ratio))[:_BIAS_ROWS])
        rows = some if at.numbers is None else at.numbers[some]
        bias = fitted.ratio.bandwidth**2 * fitted.residual_bias(sample.points[rows])
        before.append(AtSample(at.log_ratio[some], at.weight[some]))
        after.append(AtSample(at.log_ratio[some] - bias, at.weight[some]))
    return abs(compute(before[0], before[1])[0] - compute(after[0], after[1])[0])


def scatter_over_halves(
    sizes: tuple[int, int],
    estimate: Callable[[tuple[Ints, Ints]], float],
    seed: int,
    groups: tuple[Ints | None, Ints | None] = (None, None),
) -> float:
    """Return the scatter over random halves of the rows, which to first order is that over whole samples.

    `estimate` takes the rows of such halves, of two samples with these sizes. Groups are drawn as a whole.
    """
    random = np.random.default_rng(seed)
    values = []
    with without(DegenerateDataWarning):
        for _ in track(range(_SUBSAMPLES), "subsamples", _SUBSAMPLES):
            values.append(estimate((_half(sizes[0], groups[0], random), _half(sizes[1], groups[1], random))))
    return float(np.std(values, ddof=1))


def _half(size: int, group: Ints | None, random: np.random.Generator) -> Ints:
    """Return half of the rows, or those of half of the groups."""
    labels = np.arange(size) if group is None else np.unique(group)
    fewest = 2 * (2 if group is None else FEWEST_GROUPS)
    if len(labels) < fewest:
        raise ValueError(
            f"interval='subsample' needs at least {fewest} {'rows' if group is None else 'groups'} of each sample, of "
            f"which it draws half. Got {len(labels)} instead; use interval='influence'."
        )
    drawn = random.permutation(labels)[: len(labels) // 2]
    return np.sort(drawn) if group is None else np.flatnonzero(np.isin(group, drawn))
