"""How much changed at least: what a simple rule, learnt from one half of the rows, finds in the other half.

The total variation is the largest difference that any rule makes between the shares of rows which it assigns to the
current table. So a rule that has not seen the rows gives a lower limit, whose error is that of two shares. Here the
rule is linear in few features of columns and products of two features: those that differ clearly between the tables.
It sees a small change of one column among many, which a fit of the whole density does not.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, ndtri

from vwkde._data.groups import random_half
from vwkde._data.sample import variance_of_mean
from vwkde.monitoring._columns import Column, features_of
from vwkde.results import Estimate

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Side = tuple[Floats, Ints | None]
"""The features of the rows of one table, and their groups."""

_MOST_FEATURES = 40
"""Features of a rule at most: so few that their correlations are known well."""
_ROUNDING = 1e-9


class Least(NamedTuple):
    """A lower limit of the total variation, and its standard error."""

    value: float
    standard_error: float


def least_change(columns: list[Column], groups: tuple[Ints | None, Ints | None], random: np.random.Generator) -> Least:
    """Return how much changed at least between the reference and the current table."""
    rows = len(columns[0].reference)
    features = np.concatenate([part for column in columns for part in _features(column)], axis=1)
    sides: list[Side] = list(zip(np.split(features, [rows]), groups, strict=True))
    halves = [random_half(len(x), group, random) for x, group in sides]
    found = []
    for seen in (0, 1):
        learnt, judged = (
            [_part(side, half == which) for side, half in zip(sides, halves, strict=True)] for which in (seen, 1 - seen)
        )
        found.append(_judge(_learn(learnt[0][0], learnt[1][0]), judged))
    values, errors = zip(*found, strict=True)
    return Least(float(np.mean(values)), float(np.linalg.norm(errors) / 2))


def at_least(estimate: Estimate, least: Least) -> Estimate:
    """Return an estimate of the amount that is not below what was found at least.

    Its upper end stays: a simple rule may miss a part. The larger of two values is rather too large, so that the lower
    end is that of a two-sided interval, although an estimate with something unseen has a one-sided one.
    """
    if least.value <= estimate.value:
        return estimate
    high = estimate.interval[1]
    raised = Estimate(
        least.value,
        least.standard_error * float(ndtri(0.975) / ndtri(0.95)),
        estimate.kind,
        estimate.unit,
        open_above=estimate.open_above,
        diagnostics=estimate.diagnostics,
    )
    return Estimate(**{**vars(raised), "unseen": max(high - raised.interval[1], _ROUNDING)})


def as_jensen_shannon(least: Least) -> Least:
    """Return the Jensen–Shannon divergence that goes with a total variation at least: that of a rule's two shares."""
    share = 0.5 * (1 + float(np.clip(least.value, 0.0, 1 - _ROUNDING)))
    slope = 0.5 * np.log(share / (1 - share))
    value = np.log(2) - entr(share) - entr(1 - share)
    return Least(float(value), float(np.hypot(slope * least.standard_error, least.standard_error**2 / 2)))


def _features(column: Column) -> list[Floats]:
    """Return what a rule sees of a column: its values, their distance from the middle, and where they are missing."""
    missing = np.isnan(column.pooled).astype(np.float64)[:, None]
    parts = [features_of(column), *([] if column.is_category else [features_of(column, folded=True)])]
    spread = missing.std()
    return [*parts, (missing - missing.mean()) / spread] if spread else parts


def _part(side: Side, rows: NDArray[np.bool_]) -> Side:
    x, group = side
    return x[rows], None if group is None else np.unique(group[rows], return_inverse=True)[1].ravel()


class Rule(NamedTuple):
    """A row is assigned to the current table if the weighted sum of its products of features exceeds the threshold."""

    one: Ints
    other: Ints
    weight: Floats
    threshold: float

    def __call__(self, x: Floats) -> Floats:
        """Return 1 for rows that are assigned to the current table, and 0 for others."""
        return (_products(x, self.one, self.other) @ self.weight > self.threshold).astype(np.float64)


def _learn(reference: Floats, current: Floats) -> Rule:
    """Return the linear discriminant of the products that differ most, by as many as noise does not explain."""
    with_one = [np.concatenate([np.ones((len(x), 1)), x], axis=1) for x in (reference, current)]
    moments, squares = ([(x**power).T @ x**power / len(x) for x in with_one] for power in (1, 2))
    difference = moments[1] - moments[0]
    scatter = [second - first**2 for first, second in zip(moments, squares, strict=True)]
    variance = sum(each / len(x) for each, x in zip(scatter, with_one, strict=True))
    one, other = np.triu_indices(len(difference), 1)  # products of different features, and with the constant
    clear = difference[one, other] ** 2 / np.maximum(variance[one, other], _ROUNDING / len(reference))
    order = np.argsort(-clear, kind="stable")[:_MOST_FEATURES]
    kept = order[: max(1, int((clear[order] > 2 * np.log(len(clear))).sum()))]
    sides = [_products(x, one[kept], other[kept]) for x in (reference, current)]
    within = np.mean([np.atleast_2d(np.cov(x.T)) for x in sides], axis=0)
    ridge = np.diag(within).mean() * len(kept) / min(map(len, sides)) + _ROUNDING
    means = [x.mean(axis=0) for x in sides]
    weight = np.linalg.solve(within + ridge * np.eye(len(kept)), means[1] - means[0])
    return Rule(one[kept], other[kept], weight, float((means[0] + means[1]) @ weight / 2))


def _products(x: Floats, one: Ints, other: Ints) -> Floats:
    with_one = np.concatenate([np.ones((len(x), 1)), x], axis=1)
    return with_one[:, one] * with_one[:, other]


def _judge(rule: Rule, sides: list[Side]) -> tuple[float, float]:
    """Return how much more often the rule chooses rows of the current table, and its standard error."""
    chosen = [(rule(x), group) for x, group in sides]
    variance = sum(variance_of_mean(each, np.ones(len(each)), group) for each, group in chosen)
    least = 1 / min(len(each) for each, _ in chosen)  # a share of 0 or 1 is not certain
    return float(chosen[1][0].mean() - chosen[0][0].mean()), max(float(np.sqrt(variance)), least)
