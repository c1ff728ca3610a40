"""An estimator of scikit-learn that is trained, and scored, for another population."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from vwkde._data.validation import is_number, to_floats
from vwkde._runtime.warn import warn
from vwkde.importance import ImportanceWeights
from vwkde.weighting._function import importance_weights

Floats = NDArray[np.float64]

_WHICH_IS_WHICH = (
    "In ReweightedEstimator the numerator is the target sample, and the denominator are the training rows X, whose "
    "weights are sample_weight."
)
_NO_TARGET = (
    "ReweightedEstimator has no target sample and fits its estimator without importance weights. Give the target's "
    "rows: fit(X, y, X_target), or in a search the parameter 'target'."
)


def _has(name: str) -> Callable[[Any], bool]:
    """Return a check whether the estimator inside has a method, so that the one outside has it too."""

    def check(outer: Any) -> bool:
        getattr(getattr(outer, "estimator_", outer.estimator), name)
        return True

    return check


class ReweightedEstimator(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Train an estimator on rows weighted so that they look like a target sample (covariate shift).

    The relation of y to X must be the same in both populations, while X is distributed differently. Target rows need no
    labels. `score` is weighted in the same way, so that a search for parameters finds those that are best for the
    target.

    Parameters
    ----------
    estimator : estimator
        Any estimator whose `fit` takes `sample_weight`, or a pipeline whose last step does. Put scalers and encoders in
        it: the weights are found in the columns that come here.
    target : array-like of shape (m, d), optional
        The target sample, for use in searches and cross-validation. It may be given to `fit` instead, as `X_target`.
    ratio : str or DensityRatio, default="auto"
        What estimates the ratio: the `estimator` of `importance_weights`. A search fits it once for each fold and
        candidate; "logistic" is quick.
    truncate : "auto", None or float, default="auto"
        The largest ratio; see `DensityRatio.weights`.
    relative : float or "auto", default=0.0
        The α of relative ratios; see `DensityRatio.weights`.
    balance : {"auto", "means", "moments", "none"}, default="auto"
        Which weighted means agree with the target's; see `DensityRatio.weights`.
    missing : {"refuse", "indicator"}, default="refuse"
        What missing values do to the ratio, as in `DensityRatio`; a `DensityRatio` as `ratio` has its own parameter.
    dates : {"refuse", "number", "drop"}, default="refuse"
        What columns of dates or times do to the ratio, likewise.
    random_state : int, RandomState or None, default=0
        Seeds the random choices of the ratio.

    Attributes
    ----------
    estimator_ : estimator
        The fitted estimator.
    weights_ : ImportanceWeights or None
        The weights of the training rows; None if there was no target.

    See Also
    --------
    weighted_scorer : any metric of scikit-learn with these weights.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X, X_target = rng.normal(0, 1, (400, 1)), rng.normal(1, 0.5, (300, 1))
    >>> y = np.sin(2 * X[:, 0])
    >>> model = vwkde.ReweightedEstimator(LinearRegression(), ratio="gaussian").fit(X, y, X_target)
    >>> plain = LinearRegression().fit(X, y)
    >>> errors = [np.mean((m.predict(X_target) - np.sin(2 * X_target[:, 0])) ** 2) for m in (model, plain)]
    >>> bool(errors[0] < errors[1])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"estimator": [HasMethods(["fit"])]}

    def __init__(
        self,
        estimator: Any,
        *,
        target: Any = None,
        ratio: Any = "auto",
        truncate: float | str | None = "auto",
        relative: float | str = 0.0,
        balance: str = "auto",
        missing: Literal["refuse", "indicator"] = "refuse",
        dates: Literal["refuse", "number", "drop"] = "refuse",
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.target = target
        self.ratio = ratio
        self.truncate = truncate
        self.relative = relative
        self.balance = balance
        self.missing = missing
        self.dates = dates
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, X_target: Any = None, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Find the weights and fit the estimator with them.

        Parameters
        ----------
        X : array-like of shape (n, d)
            Training rows.
        y : array-like of shape (n,), optional
            Their labels.
        X_target : array-like of shape (m, d), optional
            Rows of the target population, without labels. By default, the parameter `target`. In a search or a
            cross-validation use that parameter: they would cut an `X_target` with as many rows as X into folds.
        sample_weight : array-like of shape (n,), optional
            The training rows' own weights.
        **fit_params : dict
            Passed on to the estimator's `fit`.

        Returns
        -------
        ReweightedEstimator
            The estimator itself.

        Raises
        ------
        ValueError
            If a parameter is invalid, the estimator takes no weights, or the samples cannot be used.

        Warns
        -----
        OverlapWarning
            If the weights cannot be trusted.
        UserWarning
            If there is no target: the estimator is then fitted without importance weights.
        """
        self._validate_params()
        name = _weight_name(self.estimator)
        target = self.target if X_target is None else X_target
        if target is None:
            warn(_NO_TARGET, UserWarning)
        self.weights_ = None if target is None else self._weigh(X, target, sample_weight)
        weight = sample_weight if self.weights_ is None else np.maximum(self.weights_.values, 0.0)
        given = {} if weight is None else {name: weight}
        with config_context(enable_metadata_routing=False):  # the weights of a pipeline's last step go by name
            self.estimator_ = clone(self.estimator).fit(X, y, **given, **fit_params)
        for attribute in ("n_features_in_", "feature_names_in_", "classes_"):
            self.__dict__.pop(attribute, None)
            if hasattr(self.estimator_, attribute):
                setattr(self, attribute, getattr(self.estimator_, attribute))
        return self

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Return the estimator's predictions.

        Parameters
        ----------
        X : array-like of shape (k, d)
            Rows.

        Returns
        -------
        array
            What the estimator returns.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict(X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Return the estimator's class probabilities.

        Parameters
        ----------
        X : array-like of shape (k, d)
            Rows.

        Returns
        -------
        array
            What the estimator returns.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.predict_proba(X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Return the estimator's decision function.

        Parameters
        ----------
        X : array-like of shape (k, d)
            Rows.

        Returns
        -------
        array
            What the estimator returns.
        """
        check_is_fitted(self, "estimator_")
        return self.estimator_.decision_function(X)

    @available_if(_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the estimator's score on rows of the training population, weighted as for the target.

        Parameters
        ----------
        X : array-like of shape (k, d)
            Rows of the training population.
        y : array-like of shape (k,), optional
            Their labels.
        sample_weight : array-like of shape (k,), optional
            The rows' own weights.

        Returns
        -------
        float
            The estimator's own score (accuracy or R²) with importance weights.
        """
        check_is_fitted(self, "estimator_")
        weight = self._weight_of(X, sample_weight)
        return float(self.estimator_.score(X, y, **({} if weight is None else {"sample_weight": weight})))

    @available_if(_has("predict"))  # type: ignore[untyped-decorator]
    def predict_interval(self, X: Any, X_calibration: Any, y_calibration: Any, level: float = 0.9) -> Floats:
        """Return intervals that contain the numbers y of rows of the target population (weighted conformal prediction).

        The errors of the predictions at calibration rows, weighted so that these look like the target, give the width.
        If the weights were exact, the intervals of the target's rows would cover y with at least the given probability,
        whatever the estimator and the distribution (Tibshirani, Foygel Barber, Candès and Ramdas, 2019).

        Parameters
        ----------
        X : array-like of shape (k, d)
            Rows of the target population.
        X_calibration : array-like of shape (c, d)
            Rows of the training population that the estimator was not fitted to.
        y_calibration : array-like of shape (c,)
            Their numbers y.
        level : float, default=0.9
            The probability of covering y, between 0 and 1.

        Returns
        -------
        array of shape (k, 2)
            The lower and the upper end for each row. They are infinite where a row weighs so much that the calibration
            rows do not show how large errors may be.

        Raises
        ------
        ValueError
            If the level is not between 0 and 1, or the calibration rows cannot be used.

        Examples
        --------
        >>> import numpy as np, vwkde
        >>> from sklearn.linear_model import LinearRegression
        >>> rng = np.random.default_rng(0)
        >>> X, target = rng.normal(0, 1, (800, 1)), rng.normal(1, 0.5, (400, 1))
        >>> y = X[:, 0] + (1 + np.abs(X[:, 0])) * rng.normal(size=800)
        >>> model = vwkde.ReweightedEstimator(LinearRegression(), ratio="gaussian").fit(X[:400], y[:400], target)
        >>> model.predict_interval(target, X[400:], y[400:]).shape
        (400, 2)
        """
        check_is_fitted(self, "estimator_")
        if not is_number(level) or not 0 < level < 1:
            raise ValueError(
                f"The 'level' parameter of predict_interval must be a number between 0 and 1. Got {level!r} instead."
            )
        predicted, at_calibration = (np.asarray(self.predict(rows), dtype=np.float64) for rows in (X, X_calibration))
        y = to_floats(y_calibration, "y_calibration", None)
        if y.shape != at_calibration.shape or not len(y) or not np.isfinite(y).all():
            raise ValueError(
                f"y_calibration must have one finite number for each of the {len(at_calibration)} calibration rows, of "
                f"which there must be at least one. Got shape {y.shape} instead."
            )
        errors = np.abs(y - at_calibration)
        width = _weighted_quantiles(errors, self._importance(X_calibration), self._importance(X), float(level))
        return np.column_stack([predicted - width, predicted + width])

    def __sklearn_tags__(self) -> Any:
        """Return the tags of the estimator inside."""
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.target_tags = inner.estimator_type, inner.target_tags
        tags.input_tags.sparse = inner.input_tags.sparse  # without a target, rows go straight to the estimator
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether `fit` has been called."""
        return hasattr(self, "estimator_")

    def _weigh(self, X: Any, target: Any, own: Any) -> ImportanceWeights:
        asked = {"missing": self.missing, "dates": self.dates}
        try:
            return importance_weights(
                target,
                X,
                estimator=self.ratio,
                truncate=self.truncate,
                relative=self.relative,
                balance=self.balance,
                denominator_weight=own,
                random_state=self.random_state,
                **{name: value for name, value in asked.items() if value != "refuse"},
            )
        except (TypeError, ValueError) as error:
            error.add_note(_WHICH_IS_WHICH)
            raise

    def _importance(self, X: Any) -> Floats:
        """Return the importance weights of rows."""
        return np.ones(len(X)) if self.weights_ is None else np.asarray(self.weights_.at(X))

    def _weight_of(self, X: Any, own: Any) -> Any:
        return own if self.weights_ is None else self.weights_.at(X, own)


def _weighted_quantiles(errors: Floats, weight: Floats, new_weight: Floats, level: float) -> Floats:
    """Return the error that a row with each new weight has with a probability `level` at most.

    The row itself counts with its weight, as if its error were infinite.
    """
    order = np.argsort(errors, kind="stable")
    reached = np.cumsum(weight[order])
    at = np.searchsorted(reached, level * (reached[-1] + new_weight) * (1 - 1e-12))
    return np.append(errors[order], np.inf)[at]


def _weight_name(estimator: Any) -> str:
    """Return the name under which an estimator's `fit` takes weights."""
    steps = getattr(estimator, "steps", None)
    prefix, last = (f"{steps[-1][0]}__", steps[-1][1]) if steps else ("", estimator)
    if not has_fit_parameter(last, "sample_weight"):
        raise ValueError(
            f"The 'estimator' parameter of ReweightedEstimator must take sample_weight in fit. Got "
            f"{type(last).__name__}, which does not; use one that does."
        )
    return f"{prefix}sample_weight"
