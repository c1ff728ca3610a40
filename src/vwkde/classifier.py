"""Class posteriors for any number of classes, from the density ratio of every pair."""

from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from vwkde._answers.at_samples import at_samples
from vwkde._answers.functionals import kl, reverse_kl
from vwkde._answers.posterior import couple
from vwkde._compute.devices import home
from vwkde._data.estimator_rows import new_rows, rows_to_fit
from vwkde._data.groups import FEWEST_GROUPS, check_groups
from vwkde._data.reading import Reading
from vwkde._data.validation import like_input, on_host
from vwkde._display import html
from vwkde._display.waiting import shown_while_waiting
from vwkde._models.nearest_mean import NearestMean
from vwkde.exceptions import DisjointSupportError
from vwkde.ratio import DensityRatio

__all__ = ["RatioClassifier"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_SMALLEST = np.finfo(np.float64).tiny
_MOST_SHOWN = 12
"""Maximum number of classes in the table that a notebook shows."""
_FAR = 10.0
"""Divergence in nats from which a cell of that table has the full colour."""


class RatioClassifier(html.ShownWhenFitted, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose probabilities come from density ratios.

    Each pair of classes gets a `DensityRatio`. With the class priors it gives the probability of one class against the
    other. The probabilities of all classes are those that fit the pairs best [1]_.

    Parameters
    ----------
    ratio : DensityRatio, optional
        The unfitted estimator of the pairs, with its parameters. By default, `DensityRatio()`.
    priors : dict or array-like of shape (n_classes,), optional
        The prior probabilities of the classes: a dict by label, or numbers in the order of `classes_`. They are scaled
        to sum to one. By default, the classes' shares of the training rows, or of their weights.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels seen in `fit`.
    priors_ : array of shape (n_classes,)
        The prior probabilities in use.
    ratios_ : dict
        The fitted ratio of each pair of classes (i, j), where i and j are positions in `classes_`. Two classes whose
        supports are disjoint get a `NearestMean` instead.
    n_features_in_ : int
        The number of columns seen in `fit`, without those that were left out because they label rows.
    feature_names_in_ : array of str
        Their names. Set only if the columns have names.

    References
    ----------
    .. [1] T.-F. Wu, C.-J. Lin and R. C. Weng, "Probability Estimates for Multi-class Classification by Pairwise
       Coupling", JMLR 5, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import vwkde
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian")).fit(X, y)
    >>> classifier.predict_proba(X[:2]).shape
    (2, 3)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "ratio": [DensityRatio, None],
        "priors": ["array-like", dict, None],
    }

    def __init__(
        self, *, ratio: DensityRatio | None = None, priors: ArrayLike | dict[Any, float] | None = None
    ) -> None:
        self.ratio, self.priors = ratio, priors

    @shown_while_waiting
    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit the density ratio of every pair of classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The training rows: an array, table or tensor. Missing values and dates are treated as `ratio` says.
        y : array-like of shape (n,)
            The class label of each row.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights of the rows. Rows of weight zero are left out.
        groups : array-like of shape (n,), optional
            Which rows belong together, such as those of a patient: the label of each row, of any hashable type, at
            least 5 different ones in each class. See `DensityRatio.fit`.

        Returns
        -------
        RatioClassifier
            The classifier itself.

        Raises
        ------
        ValueError
            If there are fewer than two classes, a class has fewer than two rows or too few groups, or `priors` do not
            fit the classes.

        Warns
        -----
        DegenerateDataWarning
            If columns label rows: those of a DataFrame are left out. See `DensityRatio.fit` for the others.

        Examples
        --------
        >>> import vwkde
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian")).fit(X, y)
        >>> classifier.priors_.round(2).tolist()
        [0.33, 0.33, 0.33]
        """
        self._validate_params()
        ratio = clone(self.ratio or DensityRatio())
        ratio.set_params(device=ratio.device or home(X))
        given, y, sample_weight = (on_host(data) for data in (X, y, sample_weight))
        X, y, layout = rows_to_fit(self, given, y, Reading(ratio.missing, ratio.dates))
        check_classification_targets(y)
        weight = _check_sample_weight(sample_weight, X, ensure_non_negative=True)
        group = check_groups(groups, len(X), "RatioClassifier.fit")
        counted = weight > 0
        group = None if group is None else group[counted]
        X, y, weight = X[counted], np.asarray(y)[counted], weight[counted]
        classes, place = np.unique(y, return_inverse=True)
        _check_classes(classes, np.bincount(place))
        priors = self._find_priors(classes, np.bincount(place, weights=weight).astype(np.float64))
        members = [np.flatnonzero(place == k) for k in range(len(classes))]
        _check_groups_of_classes(classes, members, group)
        self.ratios_ = {
            (i, j): _fit_pair(ratio, X, weight, group, members[i], members[j])
            for i, j in combinations(range(len(classes)), 2)
        }
        self.classes_, self.priors_, self._layout = classes, priors, layout
        return self

    def decision_function(self, X: Any) -> Floats:
        """Return the log odds of the second class, or with more than two classes the log probabilities.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows with the columns seen in `fit`.

        Returns
        -------
        array of shape (n,) or (n, n_classes)
            For two classes, the log odds of `classes_[1]`, positive where it is the more probable one. For more, the
            same as `predict_log_proba`.

        Examples
        --------
        >>> import vwkde
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian")).fit(X, y)
        >>> classifier.decision_function(X[:2]).shape
        (2, 3)
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return like_input(-self._log_odds(X)[0, 1], X)
        return self.predict_log_proba(X)

    def predict_log_proba(self, X: Any) -> Floats:
        """Return the logarithm of each class's probability.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows with the columns seen in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            The log probabilities, in the order of `classes_`.

        Examples
        --------
        >>> import vwkde
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian")).fit(X, y)
        >>> bool((classifier.predict_log_proba(X) <= 0).all())
        True
        """
        return like_input(self._log_probabilities(X), X)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows with the columns seen in `fit`.

        Returns
        -------
        array of shape (n, n_classes)
            The probabilities, in the order of `classes_`. Each row sums to one.

        Examples
        --------
        >>> import vwkde
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian")).fit(X, y)
        >>> classifier.predict_proba(X[:1]).round(2).tolist()
        [[1.0, 0.0, 0.0]]
        """
        probability = np.exp(self._log_probabilities(X))
        return like_input(probability / probability.sum(axis=1, keepdims=True), X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Rows with the columns seen in `fit`.

        Returns
        -------
        array of shape (n,)
            The labels.

        Examples
        --------
        >>> import vwkde
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> classifier = vwkde.RatioClassifier(ratio=vwkde.DensityRatio(guide="gaussian")).fit(X, y)
        >>> classifier.predict(X[:2]).tolist()
        [0, 0]
        """
        best = np.argmax(self._log_probabilities(X), axis=1)
        return self.classes_[best]

    def _log_probabilities(self, X: Any) -> Floats:
        log_odds = self._log_odds(X)
        if len(self.classes_) == 2:
            return np.column_stack([log_expit(log_odds[0, 1]), log_expit(-log_odds[0, 1])])
        return np.log(np.maximum(couple(log_odds, len(self.classes_)), _SMALLEST))

    def _card(self) -> str:
        """Return what a notebook shows, once fitted: the KL divergences between the classes."""
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
            f"and {len(names) - _MOST_SHOWN} more classes" if len(names) > _MOST_SHOWN else None,
            details={f"prior of {name}": f"{prior:.3g}" for name, prior in zip(names, self.priors_, strict=True)},
        )

    def _log_odds(self, X: Any) -> dict[tuple[int, int], Floats]:
        """Return the log odds of class i against class j for every pair."""
        check_is_fitted(self)
        X = new_rows(self, on_host(X), self._layout)
        log_prior = np.log(np.maximum(self.priors_, _SMALLEST))
        return {(i, j): r.log_ratio(X) + log_prior[i] - log_prior[j] for (i, j), r in self.ratios_.items()}

    def _find_priors(self, classes: NDArray[Any], mass: Floats) -> Floats:
        given = mass if self.priors is None else self.priors
        labels = classes.tolist()
        priors = _as_numbers(_in_order(given, labels) if isinstance(given, dict) else given)
        if priors.shape != mass.shape or not (priors >= 0).all() or not 0 < priors.sum() < np.inf:
            raise ValueError(
                f"The 'priors' parameter of RatioClassifier must hold one non-negative number for each of the "
                f"{len(mass)} classes {labels}, by label in a dict or in this order, and not only zeros. Got {given!r} "
                f"instead."
            )
        return priors / priors.sum()


def _in_order(priors: dict[Any, Any], labels: list[Any]) -> list[Any]:
    """Return priors that were given by label in the order of the labels."""
    given = [each.item() if isinstance(each, np.generic) else each for each in priors]
    unknown, missing = [each for each in given if each not in labels], [each for each in labels if each not in priors]
    if unknown or missing:
        advice = [f"add {missing}"] * bool(missing) + [f"take out {unknown}"] * bool(unknown)
        raise ValueError(
            f"The 'priors' parameter of RatioClassifier, if a dict, must have exactly the labels of the classes, "
            f"{labels}. Got {given} instead; {' and '.join(advice)}."
        )
    return [priors[label] for label in labels]


def _as_numbers(given: Any) -> Floats:
    """Return numbers as an array, an empty one if they are none."""
    try:
        return np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def _check_classes(classes: NDArray[Any], counts: NDArray[np.intp]) -> None:
    if len(counts) < 2:
        raise ValueError(
            f"The classifier needs rows of at least 2 classes; the data have 1 class: {classes.tolist()[0]!r}."
        )
    if counts.min() < 2:
        label = classes.tolist()[counts.argmin()]
        raise ValueError(f"Class {label!r} has 1 row; at least 2 are needed to estimate a density. Give more rows.")


def _check_groups_of_classes(classes: NDArray[Any], members: list[Ints], group: Ints | None) -> None:
    for label, rows in zip(classes.tolist(), members, strict=True):
        if group is not None and (count := len(np.unique(group[rows]))) < FEWEST_GROUPS:
            raise ValueError(
                f"Class {label!r} has rows of {count} groups; at least {FEWEST_GROUPS} are needed, in rows of positive "
                f"weight. Use smaller groups, or omit the 'groups' parameter."
            )


def _fit_pair(
    ratio: DensityRatio, x: Floats, weight: Floats, group: Ints | None, p: Ints, q: Ints
) -> DensityRatio | NearestMean:
    """Fit the rows p and q of the training data."""
    groups = None if group is None else (group[p], group[q])
    try:
        return clone(ratio).fit(x[p], x[q], numerator_weight=weight[p], denominator_weight=weight[q], groups=groups)
    except DisjointSupportError:
        return NearestMean.fit(x[p], x[q])


def _kl_between(ratios: dict[tuple[int, int], DensityRatio | NearestMean]) -> dict[tuple[int, int], float]:
    """Return the KL divergence of class i from class j; infinite for classes with disjoint supports."""
    divergences = {}
    for (i, j), ratio in ratios.items():
        if isinstance(ratio, NearestMean):
            divergences[i, j] = divergences[j, i] = np.inf
        else:
            log_ratios = at_samples(ratio._fitted)
            divergences[i, j], divergences[j, i] = kl(*log_ratios)[0], reverse_kl(*log_ratios)[0]
    return divergences
