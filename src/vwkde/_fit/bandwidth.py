"""The kernel's bandwidth: rules of thumb, and selection by leave-one-out losses.

All rules take one sample, in any coordinates, and return the bandwidth in the same units. Bias-reduced estimates need a
wider kernel than a plain density estimate: the paper selects the bandwidth on a random quarter of the sample.
"""

from typing import Literal, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from vwkde._compute import parallel
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources
from vwkde._compute.sums import log_kernel_sums
from vwkde._compute.sums.groups import log_sums_over_other_groups
from vwkde._data.moments import moments_of
from vwkde._data.sample import Sample, effective_rows
from vwkde._fit.kernel_estimate import Numerics

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Rule = Literal["scott", "silverman", "likelihood", "ise"]
RULES = ("scott", "silverman", "likelihood", "ise")

_STEPS = np.arange(-8, 9) / 4
"""Candidates are the starting value times two to these powers: ¼ to 4, in two chains of √2 steps."""
_MOVES = 8
"""How often the candidates may move by a factor of four, when the best one is the first or the last."""
_DISTINCT = 0.9
"""With a smaller share of distinct rows the data are discrete: the losses would measure gaps between values."""
_MANY_ROWS = 5_000
"""A part of this size gives a stable bandwidth on its own; the bandwidths of smaller parts are averaged."""
_MOST_QUERIES = 20_000
"""Rows at which the loss is averaged, for the estimate from all rows: enough for an accurate mean."""


def scott(x: Floats, weight: Floats) -> float:
    """Return Scott's rule n^(−1/(d+4)), scaled by the root mean variance of the columns."""
    return _spread(x, weight) * effective_rows(weight) ** (-1 / (x.shape[1] + 4))


def silverman(x: Floats, weight: Floats) -> float:
    """Return Silverman's rule (n(d+2)/4)^(−1/(d+4)), scaled by the root mean variance of the columns."""
    d = x.shape[1]
    return _spread(x, weight) * (effective_rows(weight) * (d + 2) / 4) ** (-1 / (d + 4))


def select_bandwidth(
    x: Floats,
    rule: Rule,
    *,
    part: float = 1.0,
    weight: Floats | None = None,
    group: Ints | None = None,
    random_state: int = 0,
    resources: Resources = DEFAULT_RESOURCES,
    dtype: DTypeLike = np.float64,
) -> float:
    """Return the bandwidth that a rule gives on a part of the sample; `dtype` is the precision of kernel sums.

    "likelihood" maximises the leave-one-out log likelihood, "ise" minimises the leave-one-out estimate of the
    integrated squared error. With `part` = ¼ the sample is divided at random into four parts and the log bandwidths are
    averaged, which is the paper's quarter rule with less noise. From 20,000 rows on, one quarter is stable enough.
    Discrete data, where more than a tenth of the rows are copies of others, get Scott's rule. If there are groups, each
    row is left out with its group.
    """
    weight = np.ones(len(x)) if weight is None else weight
    if rule in ("scott", "silverman"):
        return {"scott": scott, "silverman": silverman}[rule](x, weight) * part ** (-1 / (x.shape[1] + 4))
    counted = np.flatnonzero(weight > 0)
    count = max(1, min(round(1 / part), len(counted) // 8))
    parts = np.array_split(np.random.default_rng(random_state).permutation(counted), count)
    used = parts if len(parts[0]) < _MANY_ROWS else parts[:1]
    own = [None if group is None else group[rows] for rows in used]
    bandwidths = [
        _leave_one_out(parallel.take_rows(x, rows), rule, weight[rows], its, resources, dtype)
        for rows, its in zip(used, own, strict=True)
    ]
    return float(np.exp(np.mean(np.log(bandwidths))))


def _leave_one_out(
    x: Floats, rule: Rule, weight: Floats, group: Ints | None, resources: Resources, dtype: DTypeLike
) -> float:
    """Return the best of the candidates, refined by a parabola through it and its neighbours."""
    start = scott(x, weight)
    rows = len(x)
    if group is None:
        x, weight = _distinct(x, weight)
    if len(x) < max(3, _DISTINCT * rows) or (group is not None and np.ptp(group) == 0):
        return start
    mixed = np.random.default_rng(0).permutation(len(x)) if len(x) > _MOST_QUERIES else np.arange(len(x))
    x, weight, group = parallel.take_rows(x, mixed, dtype), weight[mixed], None if group is None else group[mixed]
    loss = {"likelihood": _negative_log_likelihood, "ise": _integrated_squared_error}[rule]
    for _ in range(_MOVES):
        losses = loss(x, start * 2.0**_STEPS, weight, group, resources)
        best = int(np.argmin(losses))
        if 0 < best < len(losses) - 1:
            break
        start *= 2.0 ** _STEPS[best]
    else:
        return start
    before, here, after = losses[best - 1 : best + 2]
    offset = 0.5 * (before - after) / (before - 2 * here + after)
    return float(start * 2.0 ** (_STEPS[best] + offset * (_STEPS[1] - _STEPS[0])))


def _negative_log_likelihood(
    x: Floats, bandwidths: Floats, weight: Floats, group: Ints | None, resources: Resources
) -> Floats:
    sums = _left_out_sums(x, bandwidths, weight, group, resources)
    return x.shape[1] * np.log(bandwidths) - np.average(sums, axis=1, weights=weight[:_MOST_QUERIES])


def _left_out_sums(x: Floats, bandwidths: Floats, weight: Floats, group: Ints | None, resources: Resources) -> Floats:
    """Return the log sums at the first rows, each left out, with its group if there are groups."""
    log_weight = np.log(weight)
    if group is None:
        some = x[:_MOST_QUERIES]
        return log_kernel_sums(some, x, bandwidths, log_weight=log_weight, leave_one_out=True, resources=resources)

    def log_sums(at: Ints, over: Ints) -> Floats:
        return log_kernel_sums(x[at], x[over], bandwidths, log_weight=log_weight[over, None], resources=resources)

    sums = log_sums_over_other_groups(x, x, group, bandwidths, log_weight[:, None], log_sums)
    return sums[:, :_MOST_QUERIES, 0]


def _integrated_squared_error(
    x: Floats, bandwidths: Floats, weight: Floats, group: Ints | None, resources: Resources
) -> Floats:
    """Return ∫p̂² − 2·mean p̂₋ᵢ(xᵢ), in units of the candidates' middle; the kernel of p̂² is wider by √2."""
    total = weight.sum()
    log_weight = np.log(weight)
    wide = bandwidths * np.sqrt(2)
    some, counts = x[:_MOST_QUERIES], weight[:_MOST_QUERIES]
    square = log_kernel_sums(some, x, wide, log_weight=log_weight, resources=resources) - np.log(total)
    left_out = weight if group is None else np.bincount(group, weights=weight)[group]
    own = _left_out_sums(x, bandwidths, weight, group, resources) - np.log(total - left_out[:_MOST_QUERIES])
    unit = np.sqrt(2 * np.pi) * np.median(bandwidths)
    volume = x.shape[1] * np.log(unit)
    scale = x.shape[1] * np.log(np.sqrt(2 * np.pi) * np.stack([wide, bandwidths]))[:, :, None]
    integral = np.average(np.exp(square - scale[0] + volume), axis=1, weights=counts)
    cross = np.average(np.exp(own - scale[1] + volume), axis=1, weights=counts)
    return integral - 2 * cross


def _distinct(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Merge equal rows: if one of several copies is left out, the others remain and favour a bandwidth of zero."""
    rounded = np.round((x - x.mean(axis=0)) / _spread(x, weight), 9)
    projected = np.sort(rounded @ np.random.default_rng(0).normal(size=x.shape[1]))
    if (np.diff(projected) > 1e-12 * np.abs(projected).max()).all():
        return x, weight  # equal rows have equal projections, which are much faster to sort
    _, first, group = np.unique(rounded, axis=0, return_index=True, return_inverse=True)
    if len(first) == len(x):
        return x, weight
    return x[first], np.bincount(group.ravel(), weights=weight).astype(np.float64)


def _spread(x: Floats, weight: Floats) -> float:
    """Return the root mean variance, or one if only rounding varies, so that bandwidths are positive."""
    spread = float(np.sqrt(np.trace(moments_of(x, weight).scatter) / weight.sum() / x.shape[1]))
    return spread if spread > 1e-13 * np.abs(x).max() else 1.0


def pair_bandwidth(samples: tuple[Sample, Sample], bandwidth: float | str, numerics: Numerics) -> float:
    """Return the bandwidth of two samples: the number given, or by a rule; "auto" is the paper's quarter rule."""
    if not isinstance(bandwidth, str):
        return float(bandwidth)
    rule, part = ("likelihood", 0.25) if bandwidth == "auto" else (bandwidth, 1.0)
    return float(np.mean(_bandwidths(samples, cast(Rule, rule), part, numerics)))


def _bandwidths(samples: tuple[Sample, Sample], rule: Rule, part: float, numerics: Numerics) -> list[float]:
    def of_one(sample: Sample) -> float:
        return _sample_bandwidth(sample, rule, part, numerics)

    return parallel.concurrently(of_one, samples, min(map(len, samples)))


def _sample_bandwidth(sample: Sample, rule: Rule, part: float, numerics: Numerics) -> float:
    """Return the bandwidth of the rows in memory, reduced by Scott's rate to the number of all rows."""
    in_memory = select_bandwidth(
        sample.points,
        rule,
        part=part,
        weight=sample.weight,
        group=sample.group,
        random_state=numerics.seed,
        resources=numerics.resources,
        dtype=numerics.dtype,
    )
    return in_memory * float((len(sample) / sample.total) ** (1 / (sample.points.shape[1] + 4)))
