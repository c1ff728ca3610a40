"""Class posteriors for any number of classes, from the density ratio of every pair."""

from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, log_expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from vwkde._answers.at_samples import at_samples
from vwkde._answers.functionals import kl, reverse_kl
from vwkde._compute.engines import home
from vwkde._data.validation import like_input, on_host
from vwkde._display import html
from vwkde.exceptions import DisjointSupportError
from vwkde.ratio import DensityRatio

Floats = NDArray[np.float64]

_SMALLEST = np.finfo(np.float64).tiny
_LARGEST = 40.0
_MOST_SHOWN = 12
"""Classes of which a notebook shows how far they are from one another."""
_FAR = 10.0
"""Divergence in nats from which classes are shown as far apart as can be."""


class RatioClassifier(html.ShownWhenFitted, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities come from density ratios.

    Every pair of classes gets a `DensityRatio`, and with the classes' priors a probability of the one against the
    other. The probabilities of all classes are those that fit the pairs best (Wu, Lin and Weng, 2004).

    Parameters
    ----------
    ratio : DensityRatio or None
        The estimator of the pairs, with its parameters; by default `DensityRatio()`.
    priors : array of shape (n_classes,) or None
        The classes' prior probabilities, in the order of `classes_`. By default their shares in the training rows.

    Attributes
    ----------
    classes_ : ndarray
        The labels seen in `fit`.
    priors_ : ndarray
        The prior probabilities in use.
    ratios_ : dict
        The fitted ratio of each pair of classes (i, j), by their places in `classes_`. Classes whose supports do not
        meet are told apart by the nearer mean.
    n_features_in_, feature_names_in_
        The columns seen in `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import vwkde
    >>> X, y = load_iris(return_X_y=True)
    >>> vwkde.RatioClassifier().fit(X, y).predict_proba(X[:2]).shape
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ratio": [DensityRatio, None],
        "priors": ["array-like", None],
    }

    def __init__(self, *, ratio: DensityRatio | None = None, priors: ArrayLike | None = None) -> None:
        self.ratio = ratio
        self.priors = priors

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the density ratio of every pair of classes."""
        self._validate_params()
        ratio = clone(self.ratio or DensityRatio())
        ratio.set_params(device=ratio.device or home(X))
        X, y, sample_weight = (on_host(data) for data in (X, y, sample_weight))
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        X, y, weight = X[weight > 0], np.asarray(y)[weight > 0], weight[weight > 0]
        classes, place = np.unique(y, return_inverse=True)
        _check_classes(classes, np.bincount(place))
        priors = self._find_priors(classes, np.bincount(place, weights=weight).astype(np.float64))
        members = [place == k for k in range(len(classes))]
        self.ratios_ = {
            (i, j): _fit_pair(ratio, X[members[i]], X[members[j]], weight[members[i]], weight[members[j]])
            for i, j in combinations(range(len(classes)), 2)
        }
        self.classes_, self.priors_ = classes, priors
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second of two classes, or the log probabilities of more."""
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return like_input(-self._log_odds(X)[0, 1], X)
        return self.predict_log_proba(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of each class's probability, of shape (n, n_classes)."""
        return like_input(self._log_probabilities(X), X)

    def predict_proba(self, X: Any) -> Floats:
        """Return each class's probability, of shape (n, n_classes)."""
        probability = np.exp(self._log_probabilities(X))
        return like_input(probability / probability.sum(axis=1, keepdims=True), X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        best = np.argmax(self._log_probabilities(X), axis=1)
        return self.classes_[best]

    def _log_probabilities(self, X: Any) -> Floats:
        log_odds = self._log_odds(X)
        if len(self.classes_) == 2:
            return np.column_stack([log_expit(log_odds[0, 1]), log_expit(-log_odds[0, 1])])
        return np.log(np.maximum(_couple(log_odds, len(self.classes_)), _SMALLEST))

    def _card(self) -> str:
        """Return what a notebook shows once there is something to tell: how far the classes are from one another."""
        if not hasattr(self, "ratios_"):
            return ""
        names = [str(label) for label in self.classes_]
        apart = _kl_between(self.ratios_)
        return html.card(
            f"{len(names)} classes, {self.n_features_in_} columns",
            "KL divergence of the row's class from the column's, in nats",
            html.matrix(
                names[:_MOST_SHOWN],
                {pair: f"{value:.2f}" for pair, value in apart.items()},
                {pair: float(np.clip(value / _FAR, 0, 1)) for pair, value in apart.items()},
            ),
            f"and {len(names) - _MOST_SHOWN} classes more" if len(names) > _MOST_SHOWN else None,
            details={f"prior of {name}": f"{prior:.3g}" for name, prior in zip(names, self.priors_, strict=True)},
        )

    def _log_odds(self, X: Any) -> dict[tuple[int, int], Floats]:
        """Return the log odds of class i against class j for every pair."""
        check_is_fitted(self)
        X = validate_data(self, on_host(X), dtype=[np.float64, np.float32], reset=False)
        log_prior = np.log(np.maximum(self.priors_, _SMALLEST))
        return {(i, j): r.log_ratio(X) + log_prior[i] - log_prior[j] for (i, j), r in self.ratios_.items()}

    def _find_priors(self, classes: NDArray[Any], mass: Floats) -> Floats:
        priors = mass if self.priors is None else np.asarray(self.priors, dtype=np.float64)
        if priors.shape != mass.shape or (priors < 0).any() or not 0 < priors.sum() < np.inf:
            raise ValueError(
                f"The 'priors' parameter of RatioClassifier must hold one non-negative number for each of the "
                f"{len(mass)} classes {list(classes)}. Got {self.priors!r} instead."
            )
        return priors / priors.sum()


@dataclass(frozen=True)
class NearestMean:
    """The ratio of classes that do not meet: as large as a ratio gets, in favour of the nearer mean."""

    means: Floats
    scale: Floats

    @classmethod
    def fit(cls, numerator: Floats, denominator: Floats) -> "NearestMean":
        """Measure distances in units of the columns' spread within the classes."""
        spread = np.sqrt((numerator.var(axis=0) + denominator.var(axis=0)) / 2)
        means = np.stack([numerator.mean(axis=0), denominator.mean(axis=0)])
        smallest = np.maximum(1e-6 * np.ptp(means, axis=0), _SMALLEST)
        return cls(means, np.maximum(spread, smallest))

    def log_ratio(self, x: Floats) -> Floats:
        """Return half the difference of the squared distances, within ±40."""
        near, far = (((x - mean) / self.scale) ** 2 for mean in self.means)
        return np.clip(0.5 * (far - near).sum(axis=1), -_LARGEST, _LARGEST)


def _check_classes(classes: NDArray[Any], counts: NDArray[np.intp]) -> None:
    if len(counts) < 2:
        raise ValueError(f"The classifier needs rows of at least 2 classes; the data have 1 class: {classes[0]!r}.")
    if counts.min() < 2:
        label = classes[counts.argmin()]
        raise ValueError(f"Class {label!r} has 1 row; at least 2 are needed to estimate a density. Give more rows.")


def _fit_pair(
    ratio: DensityRatio, p: Floats, q: Floats, p_weight: Floats, q_weight: Floats
) -> DensityRatio | NearestMean:
    try:
        return clone(ratio).fit(p, q, numerator_weight=p_weight, denominator_weight=q_weight)
    except DisjointSupportError:
        return NearestMean.fit(p, q)


def _kl_between(ratios: dict[tuple[int, int], DensityRatio | NearestMean]) -> dict[tuple[int, int], float]:
    """Return the KL divergence of class i from class j; infinite for classes that do not meet."""
    found = {}
    for (i, j), ratio in ratios.items():
        if isinstance(ratio, NearestMean):
            found[i, j] = found[j, i] = np.inf
        else:
            log_ratios = at_samples(ratio._fitted)
            found[i, j], found[j, i] = kl(*log_ratios)[0], reverse_kl(*log_ratios)[0]
    return found


def _couple(log_odds: dict[tuple[int, int], Floats], classes: int) -> Floats:
    """Return the probabilities p that minimise Σ (p_j·r_ij − p_i·r_ji)², r_ij being that of i against j.

    At the minimum p solves a linear system, one for each row: the gradient is a multiple of the ones, whose sum with p
    is held at one.
    """
    n = len(next(iter(log_odds.values())))
    pairs = np.zeros((n, classes, classes))
    for (i, j), value in log_odds.items():
        pairs[:, i, j], pairs[:, j, i] = expit(value), expit(-value)
    system = np.zeros((n, classes + 1, classes + 1))
    system[:, :classes, :classes] = -pairs * pairs.transpose(0, 2, 1)
    diagonal = np.arange(classes)
    system[:, diagonal, diagonal] = (pairs.transpose(0, 2, 1) ** 2).sum(axis=2)
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    target = np.zeros((n, classes + 1, 1))
    target[:, classes] = 1.0
    probability = np.linalg.solve(system, target)[:, :classes, 0]
    probability = np.maximum(probability, 0.0)
    return probability / probability.sum(axis=1, keepdims=True)
