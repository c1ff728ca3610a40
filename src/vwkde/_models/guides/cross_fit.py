"""Cross-fitted guides: their values at the samples come from models that did not see the point.

Each guide is fitted once for each fold, without its rows. At new points the guide is the mean of those models.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.folds import known_folds, known_rows_of_folds
from vwkde._models.guides import GUIDES
from vwkde._models.guides.classifiers import fit_classifier
from vwkde._models.guides.kind import WORTH_THREADS, Fit, Guide, GuideKind, NoisyGuide, Refinement
from vwkde._models.held_out import moments_suffice, without_each_fold
from vwkde._models.log_loss import AtBoth, log_loss
from vwkde._runtime.lazy import lazy

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Samples = tuple[Sample, Sample]
RowsOfFolds = tuple[list[Ints], ...]
"""The rows of each fold, for each sample."""

FOLDS = 5
_FIRST_FOLDS = 2
"""Folds that show, if there are many rows, whether a more flexible form of a guide that grows is worth its time."""
_MANY_ROWS = 2_000
"""Rows of the smaller sample from which they do."""
_MANY_POINTS = 10_000
"""Points above which the noise of a guide is computed at some of them only."""
_MOST_OF_MEDIAN = 10.0
"""Noise by theory at a point, in units of the median, above which it is not believed."""
_LARGEST = 40.0
"""Largest log ratio of a guide: no sample can show a ratio above e⁴⁰."""


@dataclass(frozen=True)
class CrossFitted:
    """A guide with its values at the two samples, each by a model that did not see the point.

    `form` is what was requested: a name, a classifier or None. `points` are those of the samples. `fit` is how the
    models were fitted, if there was a choice. `unseen_by` has the number of the model that did not see each point.
    """

    form: Any
    models: tuple[Guide, ...]
    at_samples: AtBoth
    points: AtBoth
    fit: Fit | None = None
    unseen_by: tuple[Ints, Ints] | None = None

    @lazy
    def noise(self) -> AtBoth:
        """The jackknife variance of the guide at the two samples, from the differences between the models."""
        p, q = (self._jackknife(points) for points in self.points)
        return p, q

    def _jackknife(self, points: Floats) -> Floats:
        if len(self.models) < 2:
            return np.zeros(len(points))

        def variance(x: Floats) -> Floats:
            values = np.clip([model(x) for model in self.models], -_LARGEST, _LARGEST)
            return np.asarray((len(values) - 1) * values.var(axis=0))

        return _or_mean(variance, points)

    @property
    def noise_by_theory(self) -> AtBoth | None:
        """The variance of the models at the points that they did not see, or None if there is no theory of it.

        The points that a model has seen are closer to its centre, and would have less noise. A point far out, where no
        theory holds, has no more than so many times that of most.
        """
        known = [model for model in self.models if isinstance(model, NoisyGuide)]
        if self.unseen_by is None or not known or len(known) < len(self.models):
            return None

        def noise(points: Floats, unseen_by: Ints) -> Floats:
            values = np.zeros(len(points))  # a point that every model has seen counts as without noise
            for number, model in enumerate(known):
                rows = unseen_by == number
                values[rows] = model.noise(points[rows])
            return np.minimum(values, _MOST_OF_MEDIAN * np.median(values))

        p, q = (_or_mean(noise, *side) for side in zip(self.points, self.unseen_by, strict=True))
        return p, q

    @lazy
    def sure_noise(self) -> AtBoth:
        """The smaller of both, in the mean over a sample: if the rows are few, the jackknife's is too large.

        Theory is, where tails are light; no noise varies more than the values that it is part of.
        """
        known = [each for each in (self.noise, self.noise_by_theory) if each is not None]
        smaller = [min(each, key=np.mean) for each in zip(*known, strict=True)]
        p, q = (
            noise * (np.var(u) / noise.mean()) if noise.mean() > np.var(u) else noise
            for noise, u in zip(smaller, self.at_samples, strict=True)
        )
        return p, q

    @property
    def name(self) -> str:
        """The guide's name, or its class."""
        if self.form is None:
            return "none"
        return self.form if isinstance(self.form, str) else type(self.form).__name__

    @property
    def affine(self) -> bool:
        """Whether the guide does not depend on the choice of axes."""
        return is_affine(self.form)

    @property
    def by_moments(self) -> bool:
        """Whether the guide uses all rows of the samples, in memory or not."""
        return self.form is None or bool(self._kind and self._kind.by_moments)

    @property
    def unbiased(self) -> bool:
        """Whether the guide's error averages out over points."""
        return bool(self._kind and self._kind.unbiased)

    @property
    def most_rows(self) -> float:
        """The rows of each sample that a model learns from at most."""
        return self._kind.most_rows if self._kind else np.inf

    @property
    def grows(self) -> bool:
        """Whether the guide may win with more rows than these; mixtures of one component do not."""
        gaussian = not self.unbiased and any(isinstance(model, NoisyGuide) for model in self.models)
        return bool(self._kind and self._kind.grows(self.points[0].shape[1])) and not gaussian

    def of_rows(self, chosen: Ints, side: int) -> "CrossFitted":
        """Return the guide with its values at some rows of one sample, and at all of the other."""

        def some(at_both: Any) -> Any:
            part = at_both[side][chosen]
            return (at_both[0], part) if side else (part, at_both[1])

        unseen_by = self.unseen_by and some(self.unseen_by)
        return replace(self, at_samples=some(self.at_samples), points=some(self.points), unseen_by=unseen_by)

    def __call__(self, x: Floats) -> Floats:
        """Return the mean of the models."""
        if not self.models:
            return np.zeros(len(x))
        return np.clip(np.mean([model(x) for model in self.models], axis=0), -_LARGEST, _LARGEST)

    @property
    def _kind(self) -> GuideKind | None:
        return GUIDES.get(self.form) if isinstance(self.form, str) else None


def _or_mean(noise: Callable[..., Floats], points: Floats, *of_points: Ints) -> Floats:
    """Return the noise at points, or its mean over some of them if they are many: it is then small."""
    if len(points) <= _MANY_POINTS:
        return noise(points, *of_points)
    step = len(points) // _MANY_POINTS
    return np.broadcast_to(noise(points[::step], *(each[::step] for each in of_points)).mean(), len(points))


def is_affine(guide: Any) -> bool:
    """Return whether a guide does not depend on the choice of axes; a classifier may."""
    return guide is None or (isinstance(guide, str) and GUIDES[guide].affine)


def has_own_units(guide: Any) -> bool:
    """Return whether a guide needs the columns in their own units."""
    return isinstance(guide, str) and GUIDES[guide].own_units


def suits(guide: Any, samples: Samples) -> bool:
    """Return whether a guide is worth trying on these samples, among others."""
    return not isinstance(guide, str) or GUIDES[guide].suits(*samples)


def shows(guide: Any, samples: Samples) -> bool:
    """Return whether all rows of the samples show what a guide is for."""
    return not isinstance(guide, str) or GUIDES[guide].shows(*samples)


def no_guide(samples: Samples) -> CrossFitted:
    """Return u₀ = 0, which leaves the kernel estimates unchanged."""
    zeros = np.zeros(len(samples[0])), np.zeros(len(samples[1]))
    return CrossFitted(None, (), zeros, (samples[0].points, samples[1].points))


def cross_fit(guide: Any, samples: Samples, seed: int, fit: Fit | None = None) -> CrossFitted:
    """Fit a guide, given by its name, as a classifier or None, and keep the values at points each model did not see.

    If `fit` is given, only this way is tried, grown by as much as the rows allow.
    """
    if guide is None:
        return no_guide(samples)
    kind = GUIDES[guide] if isinstance(guide, str) else None
    enough = kind.threads_from if kind else WORTH_THREADS
    few = sum(sample.points.size for sample in samples) < enough
    with parallel.at_most(1 if few else None):
        return _best_form(guide, kind, samples, seed, fit)


def _best_form(guide: Any, kind: GuideKind | None, samples: Samples, seed: int, only: Fit | None) -> CrossFitted:
    forms = _forms(kind, samples, seed, only) if kind else (partial(fit_classifier, guide),)
    folds = tuple(known_rows_of_folds(sample, FOLDS, seed) for sample in samples)
    learnt_from = [_learnt_from(sample, kind, seed) for sample in samples]
    hasty = kind is not None and kind.grows(samples[0].points.shape[1]) and min(map(len, samples)) >= _MANY_ROWS
    first_folds = _FIRST_FOLDS if hasty else FOLDS

    def models_of(form: Fit, numbers: range, before: CrossFitted | None = None) -> list[Guide]:
        def without(fold: int) -> Guide:
            numerator, denominator = (rows_without(fold) for rows_without in learnt_from)
            with parallel.single_threaded():
                if before and isinstance(form, Refinement) and form.base is before.fit:
                    return form.refine(before.models[fold], numerator, denominator)
                return form(numerator, denominator)

        return parallel.run(without, numbers, "guides")

    def collected(form: Fit, models: list[Guide]) -> CrossFitted:
        return replace(collect(guide, tuple(models), samples, folds), fit=form)

    best = collected(forms[0], models_of(forms[0], range(FOLDS)))
    for form in forms[1:]:
        models = models_of(form, range(first_folds), best)
        if not _is_better(collected(form, models), best, samples, folds):
            break
        models += models_of(form, range(first_folds, FOLDS), best)
        more_flexible = collected(form, models)
        if not _is_better(more_flexible, best, samples, folds):
            break
        best = more_flexible
    return best


def _forms(kind: GuideKind, samples: Samples, seed: int, only: Fit | None) -> tuple[Fit, ...]:
    """Return the ways to fit a guide that are tried: all, or only one, grown by as much as the rows allow."""
    p, q = (
        sample if len(sample) <= kind.most_rows else sample.thinned(int(kind.most_rows), np.random.default_rng(seed))
        for sample in samples
    )
    return (kind.grown(only, p, q),) if only else kind.forms(p, q)


def _is_better(guide: CrossFitted, other: CrossFitted, samples: Samples, folds: RowsOfFolds) -> bool:
    """Return whether a guide has a smaller log loss than another at the rows of those folds that it has models for."""
    rows = [np.sort(np.concatenate(of_sample[: len(guide.models)])) for of_sample in folds]
    p, q = (sample.subset(here) for sample, here in zip(samples, rows, strict=True))

    def loss(each: CrossFitted) -> float:
        return log_loss((each.at_samples[0][rows[0]], each.at_samples[1][rows[1]]), (p, q))

    return loss(guide) < loss(other)


def _learnt_from(sample: Sample, kind: GuideKind | None, seed: int) -> Callable[[int], Sample]:
    """Return a function that takes a fold and returns the rows of a sample that a model without it learns from."""
    folds = known_folds(sample, FOLDS, seed)
    if kind is None or not kind.by_moments:
        most = kind.most_rows if kind else np.inf
        return lambda fold: sample.thinned_to(np.flatnonzero(folds != fold), most, np.random.default_rng(seed))
    if moments_suffice(sample):
        return without_each_fold(sample, FOLDS, seed).__getitem__
    if sample.rest is not None:
        sample.rest.gather()
    return lambda fold: sample.subset(folds != fold, keep_rest=True)


def collect(form: Any, models: tuple[Guide, ...], samples: Samples, folds: RowsOfFolds) -> CrossFitted:
    """Return models without each fold as a guide, with the values of each at the rows of the fold that it lacks."""
    held_out = np.empty(len(samples[0])), np.empty(len(samples[1]))
    unseen_by = np.full(len(samples[0]), -1), np.full(len(samples[1]), -1)

    def fill(part: tuple[int, int, Ints]) -> None:
        side, number, rows = part
        unseen_by[side][rows] = number
        with parallel.single_threaded():
            held_out[side][rows] = np.clip(models[number](samples[side].points[rows]), -_LARGEST, _LARGEST)

    size = parallel.rows_at_a_time(samples[0].points.shape[1])
    parts = [
        (side, number, folds[side][number][rows])
        for side, number in product((0, 1), range(len(models)))
        for rows in parallel.split(len(folds[side][number]), size)
    ]
    parallel.run(fill, parts)
    return CrossFitted(form, models, held_out, (samples[0].points, samples[1].points), unseen_by=unseen_by)
