"""Questions about two samples, answered in one call."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.kinds import check_divergence, check_interval, check_unit
from vwkde._data.reading import Reading
from vwkde._display.waiting import shown_while_waiting
from vwkde._runtime.keywords import keywords_of, refuse_unknown
from vwkde.catalogue import is_baseline, parameters_with
from vwkde.ratio._plain import DEFAULTS, PlainRatio, make_plain_ratio
from vwkde.results import Estimate

if TYPE_CHECKING:
    from vwkde.baselines.ratio import BaselineRatio
    from vwkde.ratio import DensityRatio

__all__ = ["divergence", "kl_divergence", "log_density_ratio", "make_estimator", "make_ratio"]

_READING = "missing", "dates"
"""Parameters that say how tables are read, for every method."""


@shown_while_waiting
def kl_divergence(
    numerator: Any,
    denominator: Any,
    *,
    method: str | None = None,
    interval: Literal["influence", "quick", "subsample"] = "influence",
    confidence_level: float = 0.95,
    numerator_weight: Any = None,
    denominator_weight: Any = None,
    groups: Any = None,
    unit: str = "nats",
    **parameters: Any,
) -> Estimate:
    """Estimate the Kullback–Leibler divergence KL(numerator ‖ denominator).

    Parameters
    ----------
    numerator : array-like of shape (n, d) or (n,), path, or Dask array or DataFrame
        A sample of P: an array, tensor, table (pandas, Polars, Arrow) or the path of a CSV, NPY or Parquet file. Data
        that do not fit in memory can be a `numpy.memmap`, the path of an NPY or Parquet file, or a Dask array or
        DataFrame. Tables may have categories; for dates and missing values give `dates=` and `missing=`, see
        `DensityRatio`.
    denominator : array-like of shape (m, d) or (m,), path, or Dask array or DataFrame
        A sample of Q, with the same columns. The number of rows may differ.
    method : str, optional
        One of `vwkde.methods()`. By default, this project's best estimator, which is chosen from the data.
    interval : {"influence", "quick", "subsample"}, default="influence"
        Where the standard error comes from: influence functions (for which "quick" is another name), or fits to random
        halves of the rows. Baselines without a log ratio always use the latter.
    confidence_level : float, default=0.95
        The level of the estimate's interval, between 0 and 1.
    numerator_weight : array-like of shape (n,), optional
        Non-negative weights of the numerator's rows.
    denominator_weight : array-like of shape (m,), optional
        Non-negative weights of the denominator's rows.
    groups : pair of array-like of shapes (n,) and (m,), optional
        Which rows belong together, such as those of a patient or of a time block: the labels of the numerator's rows
        and those of the denominator's. None stands for a sample of independent rows. See `DensityRatio.fit`.
    unit : {"nats", "bits"}, default="nats"
        The unit of the value and its errors.
    **parameters : dict
        Parameters of `DensityRatio`, for example `bandwidth=0.5`, or settings of the method, for example `k=10` of
        "nn". What a method's name stands for cannot be changed: "kde" has no guide.

    Returns
    -------
    Estimate
        The value with its errors and diagnostics. `float(estimate)` is the value.

    Raises
    ------
    ValueError
        If a parameter is invalid or contradicts the method, or the samples cannot be used.
    DisjointSupportError
        If the samples do not meet, so that the divergence is infinite.

    Warns
    -----
    OverlapWarning
        If most of the numerator's rows are where the denominator has almost none.
    BiasWarning
        If the fitted ratio cannot be right: this or another divergence is clearly negative.
    DegenerateDataWarning
        If columns carry no variation or label rows, the rows are too few for the columns, or rows nearly repeat others.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import isotropic
    >>> P, Q = isotropic(3).sample(500)  # KL = 1
    >>> estimate = vwkde.kl_divergence(P, Q)
    >>> low, high = estimate.interval
    >>> low < 1 < high
    True

    A parameter of `DensityRatio`, and a baseline with one of its settings:

    >>> guided = vwkde.kl_divergence(P, Q, guide="gaussian")
    >>> neighbours = vwkde.kl_divergence(P, Q, method="nn", k=10)
    >>> neighbours.unit
    'nats'
    """
    check_interval(interval, confidence_level)
    ratio = _plain_estimator(method, parameters, kl_divergence)
    unit = check_unit(unit, "kl")
    ratio.fit(
        numerator,
        denominator,
        numerator_weight=numerator_weight,
        denominator_weight=denominator_weight,
        groups=groups,
    )
    return ratio.divergence("kl", interval=interval, confidence_level=confidence_level, unit=unit)


@shown_while_waiting
def divergence(
    numerator: Any,
    denominator: Any,
    kind: str = "kl",
    *,
    order: float | None = None,
    method: str | None = None,
    interval: Literal["influence", "quick", "subsample"] = "influence",
    confidence_level: float = 0.95,
    numerator_weight: Any = None,
    denominator_weight: Any = None,
    groups: Any = None,
    unit: str | None = None,
    **parameters: Any,
) -> Estimate:
    """Estimate a divergence between the densities behind two samples.

    Parameters
    ----------
    numerator : array-like of shape (n, d) or (n,), path, or Dask array or DataFrame
        A sample of P, as in `kl_divergence`.
    denominator : array-like of shape (m, d) or (m,), path, or Dask array or DataFrame
        A sample of Q, with the same columns.
    kind : str, default="kl"
        "kl", "reverse-kl", "jensen-shannon", "renyi", "hellinger" (the distance, between 0 and 1), "chi2" or
        "total-variation". Short names such as "js", "tv" and "chi-squared" are known too.
    order : float, optional
        The order of "renyi": positive and not 1. No other kind has one.
    method : str, optional
        One of `vwkde.methods()`, as in `kl_divergence`.
    interval : {"influence", "quick", "subsample"}, default="influence"
        Where the standard error comes from, as in `kl_divergence`.
    confidence_level : float, default=0.95
        The level of the estimate's interval, between 0 and 1.
    numerator_weight : array-like of shape (n,), optional
        Non-negative weights of the numerator's rows.
    denominator_weight : array-like of shape (m,), optional
        Non-negative weights of the denominator's rows.
    groups : pair of array-like of shapes (n,) and (m,), optional
        Which rows belong together, such as those of a patient or of a time block: the labels of the numerator's rows
        and those of the denominator's. None stands for a sample of independent rows. See `DensityRatio.fit`.
    unit : {"nats", "bits"}, optional
        The unit of the value and its errors: nats by default. "hellinger", "chi2" and "total-variation" have none.
    **parameters : dict
        Parameters of `DensityRatio` or settings of the method, as in `kl_divergence`.

    Returns
    -------
    Estimate
        The value with its errors and diagnostics.

    Raises
    ------
    ValueError
        If a parameter is invalid, the samples cannot be used, or the method does not estimate this kind.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import isotropic
    >>> P, Q = isotropic(2).sample(300)
    >>> vwkde.divergence(P, Q, "total-variation", guide="gaussian").kind
    'total-variation'
    >>> vwkde.divergence(P, Q, "renyi", order=0.5, guide="gaussian").unit
    'nats'
    """
    unit = check_unit(unit, check_divergence(kind, order)[0])
    check_interval(interval, confidence_level)
    ratio = _plain_estimator(method, parameters, divergence)
    ratio.fit(
        numerator,
        denominator,
        numerator_weight=numerator_weight,
        denominator_weight=denominator_weight,
        groups=groups,
    )
    return ratio.divergence(kind, order, interval=interval, confidence_level=confidence_level, unit=unit)


@shown_while_waiting
def log_density_ratio(
    numerator: Any,
    denominator: Any,
    *,
    at: Any,
    method: str | None = None,
    numerator_weight: Any = None,
    denominator_weight: Any = None,
    groups: Any = None,
    **parameters: Any,
) -> NDArray[np.float64]:
    """Estimate log p/q at points, from samples of P (numerator) and Q (denominator).

    Parameters
    ----------
    numerator : array-like of shape (n, d) or (n,), path, or Dask array or DataFrame
        A sample of P, as in `kl_divergence`.
    denominator : array-like of shape (m, d) or (m,), path, or Dask array or DataFrame
        A sample of Q, with the same columns.
    at : array-like of shape (k, d)
        The points.
    method : str, optional
        One of `vwkde.methods()`, as in `kl_divergence`. It must be a method that estimates a ratio.
    numerator_weight : array-like of shape (n,), optional
        Non-negative weights of the numerator's rows.
    denominator_weight : array-like of shape (m,), optional
        Non-negative weights of the denominator's rows.
    groups : pair of array-like of shapes (n,) and (m,), optional
        Which rows belong together, such as those of a patient or of a time block: the labels of the numerator's rows
        and those of the denominator's. None stands for a sample of independent rows. See `DensityRatio.fit`.
    **parameters : dict
        Parameters of `DensityRatio` or settings of the method, as in `kl_divergence`.

    Returns
    -------
    array of shape (k,)
        The log ratio at each point, in nats. A tensor for a tensor.

    Raises
    ------
    ValueError
        If a parameter is invalid, the samples cannot be used, or the method estimates a divergence only.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import mean_difference
    >>> P, Q = mean_difference(2, 1.0).sample(300)
    >>> near_p, near_q = vwkde.log_density_ratio(P, Q, at=[[-1.0, 0.0], [2.0, 0.0]], guide="gaussian")
    >>> bool(near_p > 0 > near_q)
    True
    """
    ratio = _plain_estimator(method, parameters, log_density_ratio)
    ratio.fit(
        numerator,
        denominator,
        numerator_weight=numerator_weight,
        denominator_weight=denominator_weight,
        groups=groups,
    )
    return ratio.log_ratio(at)


def make_estimator(
    method: str | None, parameters: dict[str, Any], owner: Callable[..., Any] | None = None
) -> "DensityRatio | BaselineRatio":
    """Return the unfitted estimator that a method names.

    Parameters
    ----------
    method : str or None
        One of `vwkde.methods()`, or None for the default.
    parameters : dict
        Parameters of `DensityRatio` or settings of the method, which replace its own.
    owner : callable, optional
        The function that was called with them, which errors name. By default, `DensityRatio`.

    Returns
    -------
    DensityRatio or BaselineRatio
        An object with the methods `fit`, `log_ratio` and `divergence`.

    Raises
    ------
    TypeError
        If there is no such parameter.

    Examples
    --------
    >>> from vwkde.divergences import make_estimator
    >>> make_estimator("nn", {"k": 10}).name
    'nn'
    """
    if is_baseline(method):
        return _make_baseline(str(method), parameters, owner or _estimator_class())
    return make_ratio(method, parameters, owner)


def make_ratio(
    method: str | None, parameters: dict[str, Any], owner: Callable[..., Any] | None = None
) -> "DensityRatio":
    """Return the form of `DensityRatio` that a method names.

    Parameters
    ----------
    method : str or None
        "vwkde-mb", "vwkde-mf" or "kde", or None for the default.
    parameters : dict
        Parameters of `DensityRatio`, which replace those of the method, but not what its name stands for.
    owner : callable, optional
        The function that was called with them, which errors name. By default, `DensityRatio`.

    Returns
    -------
    DensityRatio
        The unfitted estimator.

    Raises
    ------
    TypeError
        If there is no such parameter.
    ValueError
        If the method is unknown, or a baseline, or a parameter would make it another method.

    Examples
    --------
    >>> from vwkde.divergences import make_ratio
    >>> make_ratio("vwkde-mb", {"bandwidth": 0.5})
    DensityRatio(bandwidth=0.5, derivatives='gaussian', guide=None)
    """
    estimator = _estimator_class()
    owner = owner or estimator
    refuse_unknown(parameters, DEFAULTS, owner)
    return estimator(**parameters_with(method, parameters, owner.__name__))


def _estimator_class() -> "type[DensityRatio]":
    from vwkde.ratio import DensityRatio  # only now: it needs scikit-learn, for which no function waits

    return DensityRatio


def _plain_estimator(
    method: str | None, parameters: dict[str, Any], owner: Callable[..., Any]
) -> "PlainRatio | BaselineRatio":
    """Return what `make_estimator` does, with the ratio as functions need it."""
    if is_baseline(method):
        return _make_baseline(str(method), parameters, owner)
    return make_plain_ratio(method, parameters, owner)


def _make_baseline(method: str, parameters: dict[str, Any], owner: Callable[..., Any]) -> "BaselineRatio":
    from vwkde.baselines import BASELINES  # only now: no other estimate waits for them
    from vwkde.baselines.ratio import BaselineRatio

    settings = dict(parameters)
    known = [*keywords_of(BASELINES[method]), "random_state", *_READING]
    refuse_unknown(settings, known, owner, f"method={method!r}")
    reading = Reading(**{name: settings.pop(name) for name in _READING if name in settings})
    return BaselineRatio(method, BASELINES[method], settings, settings.pop("random_state", 0), reading)
