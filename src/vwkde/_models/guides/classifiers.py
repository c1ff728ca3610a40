"""Guides made of a classifier: the log odds that a row comes from the numerator."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.guides.kind import WORTH_THREADS

Floats = NDArray[np.float64]

_ROUNDING = 1e-6
"""How far beyond zero and one rounding takes probabilities, in single precision too."""


@dataclass(frozen=True)
class LogOdds:
    """The guide from a classifier: its log odds, minus those of the class sizes it was trained on."""

    classifier: Any
    prior_log_odds: float
    least: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds; probabilities are kept `least` away from zero and one."""
        with parallel.single_threaded() if x.size < WORTH_THREADS else parallel.openmp():
            given = np.asarray(self.classifier.predict_proba(x))
        _check_probabilities(given, len(x), self.classifier)
        probability = np.clip(given[:, 1], self.least, 1 - self.least)
        return np.asarray(np.log(probability) - np.log1p(-probability) - self.prior_log_odds)


def fit_classifier(classifier: Any, numerator: Sample, denominator: Sample) -> LogOdds:
    """Return the guide from a classifier; both classes have equal weight if it takes row weights."""
    from sklearn import config_context  # only now: most estimates of few rows need no classifier
    from sklearn.base import clone

    from vwkde._runtime.quiet import without_convergence_warnings

    x = np.concatenate([numerator.points, denominator.points])
    y = np.repeat([1, 0], [len(numerator), len(denominator)])
    fitted = clone(classifier)
    name = _weight_parameter(fitted)
    weight = np.concatenate([s.weight * len(x) / (2 * len(s)) for s in (numerator, denominator)])
    needed = np.ptp(weight) > 1e-9  # equal weights change nothing and slow some classifiers down
    # a pipeline takes the weights of its last step by name only as long as metadata are not routed
    # one thread, here again: what scikit-learn has loaded just now is not limited yet
    with without_convergence_warnings(), config_context(enable_metadata_routing=False), parallel.single_threaded():
        fitted.fit(x, y, **({name: weight} if name and needed else {}))
    prior = 0.0 if name else float(np.log(len(numerator) / len(denominator)))
    return LogOdds(fitted, prior, 1 / (2 * len(x)))


def _check_probabilities(given: NDArray[Any], rows: int, classifier: Any) -> None:
    """Refuse what a classifier of the user may return instead of the probabilities of two classes."""
    if given.shape != (rows, 2) or given.dtype.kind != "f":
        fault = f"Got {given.dtype} of shape {given.shape}"
    else:
        wrong = given[~(np.abs(given - 0.5) <= 0.5 + _ROUNDING)]
        if not len(wrong):
            return
        fault = f"Got values such as {wrong[0]}"
    raise ValueError(
        f"The 'guide' parameter of DensityRatio must be a classifier whose predict_proba returns two probabilities for "
        f"each row, here an array of shape ({rows}, 2). {fault} from {type(classifier).__name__} instead; check its "
        f"predict_proba."
    )


def _weight_parameter(classifier: Any) -> str | None:
    """Return the name under which `fit` takes row weights, if it does."""
    from sklearn.utils.validation import has_fit_parameter

    if not hasattr(classifier, "steps"):
        return "sample_weight" if has_fit_parameter(classifier, "sample_weight") else None
    name, last = classifier.steps[-1]
    return f"{name}__sample_weight" if has_fit_parameter(last, "sample_weight") else None
