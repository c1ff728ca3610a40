"""The ratio of many rows in seconds: boosted trees alone, cross-fitted.

`DensityRatio` compares many candidates. With tens of thousands of rows, trees are among the best of them for nearly all
tables, and the comparison takes most of the time. So here there is nothing but trees. Besides the columns, they see the
log odds of two smooth models, quadratic and additive: steps need many rows to follow what is smooth. The number of
trees is the one with the smallest loss on held-out rows, and the weight of a row comes from models that have not seen
it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingClassifier

from vwkde._data.sample import Sample
from vwkde._fit.averaging import Average, Member
from vwkde._fit.candidates import Space
from vwkde._fit.fitted import Fitted, Problem
from vwkde._fit.guided_ratio import GuideAlone
from vwkde._fit.spaces import as_given
from vwkde._models.guides.boosting import OnSteps, fit_boosting
from vwkde._models.guides.classifiers import ADDITIVE, fit_classifier
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.kind import Guide
from vwkde._models.guides.logistic import fit_logistic
from vwkde._models.log_loss import log_loss
from vwkde.ratio import DensityRatio

Floats = NDArray[np.float64]

FEWEST_ROWS = 1_000
"""Rows of the smaller sample from which trees are worth trying alone."""
_MOST_TREES = 300
_EVERY = 10
"""Trees between two numbers of them that are compared."""
_LEAVES = 10
_TRIAL_ROWS = 20_000
"""Rows of each sample that the number of trees is chosen with, and judged by."""
_SMOOTH_ROWS = 10_000
"""Rows of each sample that a smooth model, with its few parameters, learns from."""


class BoostedRatio(DensityRatio):
    """A `DensityRatio` that is made of boosted trees alone; parameters of other guides and kernels have no effect."""

    def _fit_problem(self, problem: Problem) -> Fitted:
        space = as_given(problem, ("boosting",))
        trees = _trees(_count_trees(space, problem.numerics.seed))
        guide = cross_fit("boosting", space.samples, problem.numerics.seed, partial(_fit, trees))
        member = Member(space.coordinates, space.name, GuideAlone(guide, space.samples))
        return Fitted(problem.samples, Average((member,)), problem.gaussians, problem.numerics)


@dataclass(frozen=True)
class TreesOnSmooth:
    """A guide from trees that see the columns and the log odds of smooth models."""

    smooth: tuple[Guide, ...]
    trees: OnSteps

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return self.trees(self.place(x))

    def place(self, x: Floats) -> Floats:
        """Return what the trees see."""
        return _beside(x, self.smooth)


def _beside(x: Floats, smooth: tuple[Guide, ...]) -> Floats:
    return np.column_stack([x, *(model(x) for model in smooth)])


def _fit(trees: HistGradientBoostingClassifier, numerator: Sample, denominator: Sample) -> TreesOnSmooth:
    random = np.random.default_rng(0)
    few = [sample.thinned(_SMOOTH_ROWS, random) for sample in (numerator, denominator)]
    smooth = fit_logistic(1.0, few[0], few[1]), fit_classifier(ADDITIVE, few[0], few[1])
    p, q = (replace(sample, points=_beside(sample.points, smooth)) for sample in (numerator, denominator))
    return TreesOnSmooth(smooth, fit_boosting(trees, p, q))


def _trees(count: int) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(
        max_iter=count, max_leaf_nodes=_LEAVES, l2_regularization=1.0, early_stopping=False, random_state=0
    )


def _count_trees(space: Space, seed: int) -> int:
    """Return how many trees have the smallest loss on rows that they have not seen."""
    random = np.random.default_rng(seed)
    parts = [_split(sample, random) for sample in space.samples]
    fitted = _fit(_trees(_MOST_TREES), parts[0][0], parts[1][0])
    judged = parts[0][1], parts[1][1]
    stages = islice(zip(*(_stages(fitted, sample.points) for sample in judged), strict=True), _EVERY - 1, None, _EVERY)
    losses = [log_loss((p, q), judged) for p, q in stages]
    return _EVERY * (int(np.argmin(losses)) + 1)


def _split(sample: Sample, random: np.random.Generator) -> tuple[Sample, Sample]:
    """Return rows to learn from and rows to judge by; groups are not split."""
    if sample.group is not None:
        half = (random.permutation(sample.group.max() + 1) % 2)[sample.group] == 0
        return sample.subset(half).thinned(_TRIAL_ROWS, random), sample.subset(~half).thinned(_TRIAL_ROWS, random)
    order = random.permutation(len(sample))
    most = min(_TRIAL_ROWS, len(sample) // 2)
    return sample.subset(order[:most]), sample.subset(order[most : 2 * most])


def _stages(fitted: "TreesOnSmooth", x: Floats) -> Iterator[Floats]:
    """Return the log odds after each tree."""
    guide = fitted.trees.guide
    for odds in guide.classifier.staged_decision_function(fitted.trees.place(fitted.place(x))):
        yield np.asarray(odds) - guide.prior_log_odds
