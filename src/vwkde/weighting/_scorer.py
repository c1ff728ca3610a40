"""Any metric of scikit-learn, with the weights of a reweighted estimator."""

from collections.abc import Callable
from typing import Any

from sklearn import config_context
from sklearn.metrics import check_scoring

from vwkde.weighting._estimator import ReweightedEstimator


def weighted_scorer(scoring: str | Callable[..., float]) -> Callable[[Any, Any, Any], float]:
    """Return a scorer that weights rows as a `ReweightedEstimator` does: for searches with any metric.

    Parameters
    ----------
    scoring : str or scorer
        A metric's name in scikit-learn, for example "neg_mean_squared_error", or a scorer that takes `sample_weight`.

    Returns
    -------
    callable
        A function of a fitted `ReweightedEstimator`, rows of the training population and their labels, as `scoring` of
        `GridSearchCV` and `cross_val_score`.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.model_selection import GridSearchCV
    >>> rng = np.random.default_rng(0)
    >>> X, target = rng.normal(0, 1, (200, 2)), rng.normal(0.5, 0.7, (150, 2))
    >>> y = X[:, 0] ** 2 + rng.normal(0, 0.1, 200)
    >>> model = vwkde.ReweightedEstimator(Ridge(), target=target, ratio="gaussian")
    >>> search = GridSearchCV(
    ...     model, {"estimator__alpha": [0.1, 100.0]}, scoring=vwkde.weighted_scorer("neg_mean_squared_error"), cv=3
    ... )
    >>> search.fit(X, y).best_params_
    {'estimator__alpha': 0.1}
    """

    def score(model: Any, X: Any, y: Any) -> float:
        if not isinstance(model, ReweightedEstimator):
            raise TypeError(
                f"weighted_scorer scores a ReweightedEstimator, which knows the weights. Got {type(model).__name__} "
                f"instead; put it into one."
            )
        scorer = check_scoring(model.estimator_, scoring)
        weight = model._weight_of(X, None)
        with config_context(enable_metadata_routing=False):
            return float(scorer(model.estimator_, X, y, **({} if weight is None else {"sample_weight": weight})))

    return score
