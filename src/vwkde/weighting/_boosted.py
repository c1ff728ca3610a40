"""The ratio of many rows in seconds: a smooth model and boosted trees, cross-fitted.

`DensityRatio` compares many candidates, which takes most of the time. With tens of thousands of rows, trees and what is
smooth in pairs of columns are among the best for nearly all tables. So here a smooth model comes first, since trees
need many rows to follow what is smooth, and boosted trees correct what it leaves. The number of trees is the one with
the smallest loss on held-out rows, and the weight of a row comes from models that have not seen it.
"""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.ensemble import HistGradientBoostingClassifier

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._fit.averaging import Average, Member
from vwkde._fit.candidates import Space
from vwkde._fit.fitted import Fitted, Problem
from vwkde._fit.guided_ratio import GuideAlone
from vwkde._fit.spaces import as_given
from vwkde._models.guides.boosting import OnSteps, fit_boosting
from vwkde._models.guides.classifiers import WORTH_THREADS
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.log_loss import log_loss
from vwkde.ratio import DensityRatio
from vwkde.weighting._smooth import SmoothLogRatio, fit_smooth

Floats = NDArray[np.float64]

FEWEST_ROWS = 1_000
"""Rows of the smaller sample from which trees are worth trying alone."""
_MOST_TREES = 300
_EVERY = 20
"""Trees between two numbers of them that are compared."""
_STEP, _LEAVES, _LEAST_ROWS = 0.05, 10, 200
"""Small steps of small trees with many rows in each leaf: there is little left to correct."""
_TRIAL_ROWS = 20_000
"""Rows of each sample that the number of trees is chosen with, and judged by."""


class BoostedRatio(DensityRatio):
    """A `DensityRatio` of a smooth model and boosted trees; parameters of other guides and kernels have no effect."""

    def _fit_problem(self, problem: Problem) -> Fitted:
        space = as_given(problem, ("boosting",))
        trees = _count_trees(space, problem.numerics.seed)
        guide = cross_fit("boosting", space.samples, problem.numerics.seed, partial(_fit, trees))
        member = Member(space.coordinates, space.name, GuideAlone(guide, space.samples))
        return Fitted(problem.samples, Average((member,)), problem.gaussians, problem.numerics)


@dataclass(frozen=True)
class TreesBeyondSmooth:
    """A guide from a smooth model, and trees for what it leaves."""

    smooth: SmoothLogRatio
    trees: OnSteps | None
    level: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        smooth = self.smooth(x)
        return smooth if self.trees is None else smooth + self.trees(x) + self.level

    def stages(self, x: Floats) -> Iterator[Floats]:
        """Return the log odds without trees, and after some and more of them."""
        smooth = self.smooth(x)
        yield smooth
        if self.trees is not None:
            guide = self.trees.guide
            stages = guide.classifier.staged_decision_function(self.trees.place(x))
            for odds in islice(stages, _EVERY - 1, None, _EVERY):
                yield smooth + np.asarray(odds) - guide.prior_log_odds + self.level


def _fit(trees: int, numerator: Sample, denominator: Sample) -> TreesBeyondSmooth:
    """Return a smooth model with so many trees on top.

    The trees compare the samples with weights by which these would be equal, were the smooth model right. If both get
    the same share of the correction, no weight becomes large.
    """
    smooth = fit_smooth(numerator, denominator)
    if not trees:
        return TreesBeyondSmooth(smooth, None, 0.0)
    (p, p_level), (q, q_level) = (
        _corrected(sample, sign * smooth(sample.points) / 2) for sample, sign in ((numerator, -1), (denominator, 1))
    )
    return TreesBeyondSmooth(smooth, fit_boosting(_trees(trees), p, q), p_level - q_level)


def _corrected(sample: Sample, log_weight: Floats) -> tuple[Sample, float]:
    """Return a sample with other weights, with mean one, and the logarithm of what they were divided by."""
    level = float(logsumexp(log_weight, b=sample.weight / sample.weight.sum()))
    return replace(sample, weight=sample.weight * np.exp(log_weight - level)), level


def _trees(count: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=count,
        learning_rate=_STEP,
        max_leaf_nodes=_LEAVES,
        min_samples_leaf=_LEAST_ROWS,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=0,
    )


def _count_trees(space: Space, seed: int) -> int:
    """Return how many trees have the smallest loss on rows that they have not seen."""
    random = np.random.default_rng(seed)
    parts = [_split(sample, random) for sample in space.samples]
    judged = parts[0][1], parts[1][1]
    few = sum(sample.points.size for sample in judged) < WORTH_THREADS
    with parallel.single_threaded() if few else nullcontext():
        fitted = _fit(_MOST_TREES, parts[0][0], parts[1][0])
        stages = zip(*(fitted.stages(sample.points) for sample in judged), strict=True)
        return _EVERY * int(np.argmin([log_loss((p, q), judged) for p, q in stages]))


def _split(sample: Sample, random: np.random.Generator) -> tuple[Sample, Sample]:
    """Return rows to learn from and rows to judge by; groups are not split."""
    if sample.group is not None:
        half = (random.permutation(sample.group.max() + 1) % 2)[sample.group] == 0
        return sample.subset(half).thinned(_TRIAL_ROWS, random), sample.subset(~half).thinned(_TRIAL_ROWS, random)
    order = random.permutation(len(sample))
    most = min(_TRIAL_ROWS, len(sample) // 2)
    return sample.subset(order[:most]), sample.subset(order[most : 2 * most])
