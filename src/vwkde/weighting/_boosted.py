"""The ratio of many rows in seconds: a smooth model and boosted trees, cross-fitted.

`DensityRatio` compares many candidates, which takes most of the time. With tens of thousands of rows, trees and what is
smooth in pairs of columns are among the best for nearly all tables. So here a smooth model comes first, since trees
need many rows to follow what is smooth, and boosted trees correct what it leaves. The number of trees is the one with
the smallest loss on held-out rows, and the weight of a row comes from models that have not seen it.
"""

from collections.abc import Iterator
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
from vwkde._fit.fitted import Fitted, Problem
from vwkde._fit.guided_ratio import GuideAlone
from vwkde._fit.spaces import as_given
from vwkde._models.folds import known_folds, known_rows_of_folds
from vwkde._models.guides.boosting import OnSteps, fit_on_steps
from vwkde._models.guides.classifiers import fit_classifier
from vwkde._models.guides.cross_fit import FOLDS, CrossFitted, collect
from vwkde._models.guides.kind import WORTH_THREADS
from vwkde._models.log_loss import log_loss
from vwkde.ratio import DensityRatio
from vwkde.weighting._smooth import Samples, SmoothLogRatio
from vwkde.weighting._smooth_folds import Folds, fit_smooth_without_folds

Floats = NDArray[np.float64]

FEWEST_ROWS = 1_000
"""Rows of the smaller sample from which trees are worth trying alone."""
_MOST_TREES = 60, 300
"""Trees that are tried first, and that are tried at most."""
_EVERY = 20
"""Trees between two numbers of them that are compared."""
_STEP, _LEAVES, _LEAST_ROWS = 0.05, 10, 200
"""Small steps of small trees with many rows in each leaf: there is little left to correct."""
_LEARNT_ROWS, _JUDGED_ROWS = 50_000, 10_000
"""Rows of each sample that trees learn from and are judged by at most, to choose their number."""


class BoostedRatio(DensityRatio):
    """A `DensityRatio` of a smooth model and boosted trees; parameters of other guides and kernels have no effect."""

    def _fit_problem(self, problem: Problem) -> Fitted:
        space = as_given(problem, ("boosting",))
        few = sum(sample.points.size for sample in space.samples) < WORTH_THREADS
        with parallel.at_most(1 if few else None):
            guide = _cross_fitted(space.samples, problem.numerics.seed)
        member = Member(space.coordinates, space.name, GuideAlone(guide, space.samples))
        return Fitted(problem.samples, Average((member,)), problem.gaussians, problem.numerics)


def _cross_fitted(samples: Samples, seed: int) -> CrossFitted:
    """Return smooth models without each fold, corrected by trees."""
    p, q = (known_folds(sample, FOLDS, seed) for sample in samples)
    folds = Folds(samples, (p, q), FOLDS)
    smooth = fit_smooth_without_folds(folds)
    trees = _count_trees(folds, smooth)

    def corrected(fold: int) -> TreesBeyondSmooth:
        with parallel.single_threaded():
            return _with_trees(trees, smooth[fold], folds.without(fold))

    models = tuple(parallel.run(corrected, range(FOLDS), "guides"))
    return collect("boosting", models, samples, tuple(known_rows_of_folds(sample, FOLDS, seed) for sample in samples))


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


def _with_trees(trees: int, smooth: SmoothLogRatio, samples: Samples) -> TreesBeyondSmooth:
    """Return a smooth model with that many trees on top.

    The trees compare the samples with weights by which these would be equal, were the smooth model right. If both get
    the same share of the correction, no weight becomes large.
    """
    if not trees:
        return TreesBeyondSmooth(smooth, None, 0.0)
    (p, p_level), (q, q_level) = (
        _corrected(sample, sign * smooth(sample.points) / 2) for sample, sign in zip(samples, (-1, 1), strict=True)
    )
    classifier = _trees(trees)
    on_steps = fit_on_steps(partial(fit_classifier, classifier), classifier.max_bins, p, q)
    return TreesBeyondSmooth(smooth, on_steps, p_level - q_level)


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


def _count_trees(folds: Folds, smooth: list[SmoothLogRatio]) -> int:
    """Return how many trees have the smallest loss on rows that they have not seen.

    Many trees are tried only if a few leave something to correct. As many folds are judged as there are rows to use.
    """
    judged = int(np.ceil(folds.count * _JUDGED_ROWS / min(map(len, folds.samples))))
    trials = range(min(folds.count, judged))
    for most in _MOST_TREES:
        losses = np.sum(parallel.run(partial(_losses, folds, smooth, most), trials), axis=0)
        best = int(np.argmin(losses))
        if _EVERY * best < most:
            break
    return _EVERY * best


def _losses(folds: Folds, smooth: list[SmoothLogRatio], most: int, fold: int) -> list[float]:
    """Return the loss at the rows of a fold, without trees and after some and more of them by the other folds."""
    random = np.random.default_rng(fold)
    learnt, judged = (
        (p.thinned(most_rows, random), q.thinned(most_rows, random))
        for (p, q), most_rows in ((folds.without(fold), _LEARNT_ROWS), (folds.alone(fold), _JUDGED_ROWS))
    )
    with parallel.single_threaded():
        stages = _with_trees(most, smooth[fold], learnt)
        return [log_loss((p, q), judged) for p, q in zip(*(stages.stages(x.points) for x in judged), strict=True)]
