"""Coarse log ratios that enter the weights, cross-fitted.

A guide u₀ is a quick estimate of log p₁/p₂ by a model or a classifier. The two samples get the weights exp(∓u₀/2),
and u₀ is added back to the log ratio of the kernel sums. Where the guide is right both sums estimate one and the same
function, and their bias cancels to all orders in the bandwidth; where it is only close, the bias is of first order in
what the guide misses.

The value at a point of the samples comes from a model that did not see it: each guide is fitted as many times as there
are folds, each time without one of them. At new points the guide is the mean of those models.
"""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer
from sklearn.utils.validation import has_fit_parameter

from vwkde._answers.functionals import log_loss
from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.derivatives.mixture import MixtureDerivatives, fit_mixture, refit_mixture
from vwkde._runtime.quiet import without_convergence_warnings

Floats = NDArray[np.float64]

FOLDS = 5
_LARGEST = 40.0
"""Log ratios that a guide may claim: e⁴⁰ is past anything that samples can tell."""
_THINNEST = 1e-6
"""Variance of whitened data below which a direction counts as that thin."""
_MOST_FEATURES = 2_000
"""With more quadratic features than this the logistic guide is linear."""
_WORTH_THREADS = 100_000
"""Numbers in the samples from which several threads gain more than waiting for the interpreter costs."""
_KNOTS = 8
_INVERSE_RIDGES = (0.001, 0.01, 0.1, 1.0)
"""Of the logistic guide: scikit-learn's C."""


class Guide(Protocol):
    """A coarse log ratio."""

    def __call__(self, x: Floats) -> Floats:
        """Return u₀, of shape (n,)."""


Fit = Callable[[Sample, Sample], Guide]


@dataclass(frozen=True)
class LogDensityDifference:
    """The guide that two fitted densities make."""

    numerator: Callable[[Floats], Floats]
    denominator: Callable[[Floats], Floats]

    def __call__(self, x: Floats) -> Floats:
        """Return log p₁ − log p₂ of the models."""
        return self.numerator(x) - self.denominator(x)


@dataclass(frozen=True)
class QuadraticLogDensity:
    """offset − ½ (x − mean)ᵀ precision (x − mean)."""

    mean: Floats
    precision: Floats
    offset: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log density."""
        centred = x - self.mean
        return self.offset - 0.5 * np.einsum("ij,ij->i", centred @ self.precision, centred)


@dataclass(frozen=True)
class LogOdds:
    """The guide that a classifier makes: its log odds, less those of the classes it was trained on."""

    classifier: Any
    prior_log_odds: float
    least: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds; probabilities of zero and one count as the least and most that the rows can tell."""
        with parallel.single_threaded() if x.size < _WORTH_THREADS else nullcontext():
            probability = np.clip(self.classifier.predict_proba(x)[:, 1], self.least, 1 - self.least)
        return np.log(probability) - np.log1p(-probability) - self.prior_log_odds


def unbiased_gaussian(sample: Sample) -> QuadraticLogDensity:
    """Return the log density of a Gaussian whose expectation is the true one at every point, if that is Gaussian.

    The inverse of a sample covariance is too large and its log determinant too small, by factors known from the Wishart
    distribution (as in the unbiased discriminant of Moran and Murphy, 1979).
    """
    n, d = sample.effective_rows, sample.points.shape[1]
    if n < d + 4:
        return shrunk_gaussian(sample)
    mean, covariance = sample.mean_and_covariance()
    freedom = n - 1
    precision, log_volume = _inverse(covariance)
    log_volume -= np.sum(digamma((freedom - np.arange(d)) / 2) - np.log(freedom / 2))
    precision *= (freedom - d - 1) / freedom
    return QuadraticLogDensity(mean, precision, float(0.5 * (d / n - log_volume - d * np.log(2 * np.pi))))


def shrunk_gaussian(sample: Sample) -> QuadraticLogDensity:
    """Return the log density of a Gaussian whose covariance is shrunk towards a round one (Ledoit and Wolf, 2004)."""
    d = sample.points.shape[1]
    mean, covariance = sample.mean_and_covariance()
    centred = (sample.points - mean) * np.sqrt(sample.weight)[:, None]
    shrinkage = ledoit_wolf_shrinkage(centred, assume_centered=True) * len(sample) / sample.total
    covariance = (1 - shrinkage) * covariance + shrinkage * np.eye(d) * np.trace(covariance) / d
    precision, log_volume = _inverse(covariance)
    return QuadraticLogDensity(mean, precision, float(-0.5 * (log_volume + d * np.log(2 * np.pi))))


def _inverse(covariance: Floats) -> tuple[Floats, float]:
    """Return the inverse and the log determinant; directions that do not vary count as very thin ones."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, _THINNEST)
    return (vectors / values) @ vectors.T, float(np.log(values).sum())


def fit_densities(
    fit: Callable[[Sample], Callable[[Floats], Floats]], numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    """Return the guide that one kind of density model makes."""
    return LogDensityDifference(fit(numerator), fit(denominator))


def _mixture_forms(numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    """Find the number and shape of the components once, on all rows; each fold fits them anew from there."""
    p_model, q_model = parallel.run(lambda sample: fit_mixture(sample.points, sample.weight), (numerator, denominator))
    return (partial(_fit_mixtures, p_model, q_model),)


def _fit_mixtures(
    p_model: MixtureDerivatives, q_model: MixtureDerivatives, numerator: Sample, denominator: Sample
) -> LogDensityDifference:
    densities = [
        unbiased_gaussian(sample)
        if len(model.weights) == 1
        else refit_mixture(model, sample.points, sample.weight).log_density
        for model, sample in ((p_model, numerator), (q_model, denominator))
    ]
    return LogDensityDifference(*densities)


def fit_classifier(classifier: Any, numerator: Sample, denominator: Sample) -> LogOdds:
    """Return the guide that a classifier makes; classes count alike where it takes weights."""
    x = np.concatenate([numerator.points, denominator.points])
    y = np.repeat([1, 0], [len(numerator), len(denominator)])
    fitted = clone(classifier)
    name = _weight_parameter(fitted)
    weight = np.concatenate([s.weight * len(x) / (2 * len(s)) for s in (numerator, denominator)])
    needed = np.ptp(weight) > 1e-9  # equal weights change nothing, but some classifiers are slower with them
    with without_convergence_warnings():
        fitted.fit(x, y, **({name: weight} if name and needed else {}))
    prior = 0.0 if name else float(np.log(len(numerator) / len(denominator)))
    return LogOdds(fitted, prior, 1 / (2 * len(x)))


def _weight_parameter(classifier: Any) -> str | None:
    """Return the name under which `fit` takes row weights, if it does."""
    if not hasattr(classifier, "steps"):
        return "sample_weight" if has_fit_parameter(classifier, "sample_weight") else None
    name, last = classifier.steps[-1]
    return f"{name}__sample_weight" if has_fit_parameter(last, "sample_weight") else None


@dataclass(frozen=True)
class QuadraticLogistic:
    """A guide that is linear in the columns and their products."""

    intercept: float
    coefficients: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        return self.intercept + quadratic_features(x) @ self.coefficients


def fit_logistic(inverse_ridge: float, numerator: Sample, denominator: Sample) -> QuadraticLogistic:
    """Fit logistic regression on quadratic features, with a ridge."""
    quadratic = [replace(s, points=quadratic_features(s.points)) for s in (numerator, denominator)]
    model = fit_classifier(LogisticRegression(C=inverse_ridge, tol=1e-8, max_iter=1_000), *quadratic).classifier
    return QuadraticLogistic(float(model.intercept_[0]), model.coef_[0])


def quadratic_features(x: Floats) -> Floats:
    """Return the columns and their products, scaled so that a ridge on the coefficients does not see the axes."""
    i, j = np.triu_indices(x.shape[1])
    if x.shape[1] + len(i) > _MOST_FEATURES:
        return x
    return np.concatenate([x, x[:, i] * x[:, j] * np.where(i == j, 0.5, np.sqrt(0.5))], axis=1)


class AdditiveSplines(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cubic splines of single columns, with knots at quantiles; columns of few values stay as they are."""

    def fit(self, x: Floats, y: Any = None) -> Self:
        """Place the knots."""
        del y
        levels = np.linspace(0, 1, _KNOTS)
        knots = [np.unique(np.quantile(column, levels)) for column in x.T]
        self.splines_ = [
            SplineTransformer(knots=k[:, None], extrapolation="linear", include_bias=False).fit(column[:, None])
            if len(k) > 2
            else None
            for k, column in zip(knots, x.T, strict=True)
        ]
        return self

    def transform(self, x: Floats) -> Floats:
        """Return the splines' values, side by side."""
        columns = [column[:, None] for column in x.T]
        parts = [s.transform(column) if s else column for s, column in zip(self.splines_, columns, strict=True)]
        return np.concatenate(parts, axis=1)


_ADDITIVE = make_pipeline(AdditiveSplines(), LogisticRegression(max_iter=1_000))
_BOOSTING = HistGradientBoostingClassifier(
    max_iter=60, max_leaf_nodes=8, max_bins=63, l2_regularization=1.0, early_stopping=False, random_state=0
)
_GUIDES: dict[str, tuple[Fit, ...]] = {
    "gaussian": (partial(fit_densities, unbiased_gaussian),),
    "shrunk-gaussian": (partial(fit_densities, shrunk_gaussian),),
    "logistic": tuple(partial(fit_logistic, inverse) for inverse in _INVERSE_RIDGES),
    "additive": (partial(fit_classifier, _ADDITIVE),),
    "boosting": (partial(fit_classifier, _BOOSTING),),
}
"""Guides by name, beside the mixture, which looks at all rows first. Of several forms the one with the smallest
cross-fitted log loss counts."""

NAMES = ("gaussian", "shrunk-gaussian", "logistic", "mixture", "additive", "boosting")
AFFINE = ("none", "gaussian", "shrunk-gaussian", "logistic", "mixture")
"""Guides that do not depend on the choice of axes."""
BY_MOMENTS = (None, "gaussian", "shrunk-gaussian")
"""Guides that know all rows of a sample, held or not; the others are fitted to those held."""
_FEWEST_ROWS = {"gaussian": 20, "shrunk-gaussian": 20, "logistic": 20, "mixture": 100, "additive": 100, "boosting": 100}
"""Rows of the smaller sample from which a guide is worth trying."""


FEWEST_ROWS = min(_FEWEST_ROWS.values())


def worth_trying(rows: float) -> tuple[str, ...]:
    """Return the guides that so many rows of the smaller sample can support."""
    return tuple(name for name in NAMES if rows >= _FEWEST_ROWS[name])


@dataclass(frozen=True)
class CrossFitted:
    """A guide with its values at the two samples, each by a model that did not see the point.

    `form` is what was asked for: a name, a classifier or None. `noise` is how much the models disagree at the two
    samples: the jackknife's variance of the guide.
    """

    form: Any
    models: tuple[Guide, ...]
    at_numerator: Floats
    at_denominator: Floats
    noise: tuple[Floats, Floats]

    @property
    def name(self) -> str:
        """The guide's name, or its class."""
        if self.form is None:
            return "none"
        return self.form if isinstance(self.form, str) else type(self.form).__name__

    def __call__(self, x: Floats) -> Floats:
        """Return the mean of the models."""
        if not self.models:
            return np.zeros(len(x))
        return np.clip(np.mean([model(x) for model in self.models], axis=0), -_LARGEST, _LARGEST)


def no_guide(numerator: Sample, denominator: Sample) -> CrossFitted:
    """Return u₀ = 0, which leaves the kernel estimates to themselves."""
    zeros = np.zeros(len(numerator)), np.zeros(len(denominator))
    return CrossFitted(None, (), *zeros, zeros)


def cross_fit(guide: str | ClassifierMixin, numerator: Sample, denominator: Sample, seed: int) -> CrossFitted:
    """Fit a guide once per fold and keep what each model says of the points it did not see."""
    with parallel.at_most(1 if numerator.points.size + denominator.points.size < _WORTH_THREADS else None):
        return _cross_fit(guide, numerator, denominator, seed)


def _cross_fit(guide: str | ClassifierMixin, numerator: Sample, denominator: Sample, seed: int) -> CrossFitted:
    samples = numerator, denominator
    forms = _forms(guide, numerator, denominator)
    folds = [_folds(sample, seed) for sample in samples]
    by_moments = isinstance(guide, str) and guide in BY_MOMENTS
    for rest in [sample.rest for sample in samples if sample.rest is not None and by_moments]:
        rest.gather()

    def work(job: tuple[Fit, int]) -> Guide:
        form, fold = job
        with parallel.single_threaded():
            return form(*(s.subset(f != fold, by_moments) for s, f in zip(samples, folds, strict=True)))

    fitted = parallel.run(work, [(form, fold) for form in forms for fold in range(FOLDS)], "guides")
    choices = [_collect(guide, tuple(fitted[form]), samples, folds) for form in parallel.split(len(fitted), FOLDS)]
    return min(choices, key=lambda c: log_loss(c.at_numerator, c.at_denominator, numerator.weight, denominator.weight))


def _forms(guide: Any, numerator: Sample, denominator: Sample) -> tuple[Fit, ...]:
    if not isinstance(guide, str):
        return (partial(fit_classifier, guide),)
    return _mixture_forms(numerator, denominator) if guide == "mixture" else _GUIDES[guide]


def _folds(sample: Sample, seed: int) -> NDArray[np.intp]:
    """Return the fold of each row: the one it came with, or one at random."""
    if sample.fold is not None:
        return sample.fold
    return np.random.default_rng(seed).permutation(np.arange(len(sample)) % FOLDS)


def _collect(
    form: Any, models: tuple[Guide, ...], samples: tuple[Sample, Sample], folds: list[NDArray[np.intp]]
) -> CrossFitted:
    held_out, noise = [], []
    for sample, fold in zip(samples, folds, strict=True):
        values = np.clip([model(sample.points) for model in models], -_LARGEST, _LARGEST)
        held_out.append(values[fold, np.arange(len(sample))])
        noise.append((FOLDS - 1) * values.var(axis=0))
    return CrossFitted(form, models, held_out[0], held_out[1], (noise[0], noise[1]))
