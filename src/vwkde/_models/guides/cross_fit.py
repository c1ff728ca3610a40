"""Cross-fitted guides: their values at the samples come from models that did not see the point.

Each guide is fitted once for each fold, without its rows. At new points the guide is the mean of those models.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.folds import deal_folds
from vwkde._models.guides import GUIDES
from vwkde._models.guides.classifiers import WORTH_THREADS, fit_classifier
from vwkde._models.guides.kind import Fit, Guide, GuideKind, NoisyGuide
from vwkde._models.log_loss import AtBoth, log_loss

Floats = NDArray[np.float64]
Samples = tuple[Sample, Sample]

FOLDS = 5
_LARGEST = 40.0
"""Largest log ratio of a guide: no sample can show a ratio above e⁴⁰."""


@dataclass(frozen=True)
class CrossFitted:
    """A guide with its values at the two samples, each by a model that did not see the point.

    `form` is what was requested: a name, a classifier or None. `noise` is the jackknife variance of the guide at the
    two samples, from the differences between the models; `noise_by_theory` is the variance that theory gives, for
    guides that have one.
    """

    form: Any
    models: tuple[Guide, ...]
    at_samples: AtBoth
    noise: AtBoth
    noise_by_theory: AtBoth | None = None

    @property
    def sure_noise(self) -> AtBoth:
        """The smaller of both, in the mean over a sample: if the rows are few, the jackknife's is too large."""
        if self.noise_by_theory is None:
            return self.noise
        p, q = (min(each, key=np.mean) for each in zip(self.noise, self.noise_by_theory, strict=True))
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

    def __call__(self, x: Floats) -> Floats:
        """Return the mean of the models."""
        if not self.models:
            return np.zeros(len(x))
        return np.clip(np.mean([model(x) for model in self.models], axis=0), -_LARGEST, _LARGEST)

    @property
    def _kind(self) -> GuideKind | None:
        return GUIDES.get(self.form) if isinstance(self.form, str) else None


def is_affine(guide: Any) -> bool:
    """Return whether a guide does not depend on the choice of axes; a classifier may."""
    return guide is None or (isinstance(guide, str) and GUIDES[guide].affine)


def no_guide(samples: Samples) -> CrossFitted:
    """Return u₀ = 0, which leaves the kernel estimates unchanged."""
    zeros = np.zeros(len(samples[0])), np.zeros(len(samples[1]))
    return CrossFitted(None, (), zeros, zeros)


def cross_fit(guide: Any, samples: Samples, seed: int) -> CrossFitted:
    """Fit a guide, given by its name, as a classifier or None, and keep the values at points each model did not see."""
    if guide is None:
        return no_guide(samples)
    few = sum(sample.points.size for sample in samples) < WORTH_THREADS
    with parallel.at_most(1 if few else None):
        return _best_form(guide, samples, seed)


def _best_form(guide: Any, samples: Samples, seed: int) -> CrossFitted:
    kind = GUIDES[guide] if isinstance(guide, str) else None
    forms: tuple[Fit, ...] = kind.forms(*samples) if kind else (partial(fit_classifier, guide),)
    folds = tuple(deal_folds(sample, FOLDS, np.random.default_rng(seed)) for sample in samples)
    by_moments = bool(kind and kind.by_moments)
    for sample in samples:
        if by_moments and sample.rest is not None:
            sample.rest.gather()

    def fit(job: tuple[Fit, int]) -> Guide:
        form, fold = job
        with parallel.single_threaded():
            return form(*(s.subset(f != fold, by_moments) for s, f in zip(samples, folds, strict=True)))

    models = parallel.run(fit, [(form, fold) for form in forms for fold in range(FOLDS)], "guides")
    by_form = [tuple(models[start : start + FOLDS]) for start in range(0, len(models), FOLDS)]
    fits = [_collect(guide, each, samples, folds) for each in by_form]
    return min(fits, key=lambda fitted: log_loss(fitted.at_samples, samples))


def _collect(
    form: Any, models: tuple[Guide, ...], samples: Samples, folds: tuple[NDArray[np.intp], ...]
) -> CrossFitted:
    held_out, noise = [], []
    for sample, fold in zip(samples, folds, strict=True):
        values = np.clip([model(sample.points) for model in models], -_LARGEST, _LARGEST)
        held_out.append(values[fold, np.arange(len(sample))])
        noise.append((FOLDS - 1) * values.var(axis=0))
    by_theory = _noise_by_theory(models, samples)
    return CrossFitted(form, models, (held_out[0], held_out[1]), (noise[0], noise[1]), by_theory)


def _noise_by_theory(models: tuple[Guide, ...], samples: Samples) -> AtBoth | None:
    """Return the mean variance of the models at both samples, or None if there is no theory of it."""
    known = [model for model in models if isinstance(model, NoisyGuide)]
    if not known:
        return None
    p, q = (np.asarray(np.mean([model.noise(sample.points) for model in known], axis=0)) for sample in samples)
    return p, q
