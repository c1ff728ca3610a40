"""Questions about two samples, answered in one call."""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.functionals import check_divergence, check_interval
from vwkde.baselines import BASELINES
from vwkde.baselines.ratio import BaselineRatio
from vwkde.catalogue import is_baseline, parameters_of
from vwkde.ratio import DensityRatio
from vwkde.results import Estimate

__all__ = ["divergence", "kl_divergence", "log_density_ratio", "make_estimator", "make_ratio"]


def kl_divergence(
    numerator: Any,
    denominator: Any,
    *,
    method: str | None = None,
    interval: Literal["influence", "subsample"] = "influence",
    confidence_level: float = 0.95,
    numerator_weight: Any = None,
    denominator_weight: Any = None,
    **parameters: Any,
) -> Estimate:
    """Estimate the Kullback–Leibler divergence KL(numerator ‖ denominator), in nats.

    Parameters
    ----------
    numerator, denominator
        Samples of P and Q: arrays (n, d) or (n,), DataFrames, tensors. The numbers of rows may differ. Where they do
        not fit into memory: a `numpy.memmap`, the path of an NPY or Parquet file, a Dask array.
    method
        One of `vwkde.methods()`. By default this project's best estimator.
    interval, confidence_level
        How the standard error is found, by influence functions or by subsamples, and the level of the interval.
    numerator_weight, denominator_weight
        Non-negative weights of the rows.
    **parameters
        Any parameter of `DensityRatio`, for example `bandwidth=0.5`, or the settings of the method, for example `k=10`
        of "nn".

    Returns
    -------
    Estimate
        `float(estimate)` is the value; it also has `standard_error`, `interval` and `diagnostics`.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> estimate = vwkde.kl_divergence(rng.normal(0, 1, (500, 2)), rng.normal(1, 1, (500, 2)))
    >>> estimate.unit
    'nats'
    """
    return divergence(
        numerator,
        denominator,
        "kl",
        method=method,
        interval=interval,
        confidence_level=confidence_level,
        numerator_weight=numerator_weight,
        denominator_weight=denominator_weight,
        **parameters,
    )


def divergence(
    numerator: Any,
    denominator: Any,
    kind: str = "kl",
    *,
    order: float | None = None,
    method: str | None = None,
    interval: Literal["influence", "subsample"] = "influence",
    confidence_level: float = 0.95,
    numerator_weight: Any = None,
    denominator_weight: Any = None,
    **parameters: Any,
) -> Estimate:
    """Estimate a divergence between the densities behind two samples.

    `kind` and `order` are those of `DensityRatio.divergence`, everything else is as in `kl_divergence`.
    """
    check_divergence(kind, order)
    check_interval(interval, confidence_level)
    ratio = make_estimator(method, parameters)
    ratio.fit(numerator, denominator, numerator_weight=numerator_weight, denominator_weight=denominator_weight)
    return ratio.divergence(kind, order, interval=interval, confidence_level=confidence_level)


def log_density_ratio(
    numerator: Any,
    denominator: Any,
    *,
    at: Any,
    method: str | None = None,
    numerator_weight: Any = None,
    denominator_weight: Any = None,
    **parameters: Any,
) -> NDArray[np.float64]:
    """Estimate log p/q at the points `at`, from samples of P (numerator) and Q (denominator).

    Everything else is as in `kl_divergence`.
    """
    ratio = make_estimator(method, parameters)
    ratio.fit(numerator, denominator, numerator_weight=numerator_weight, denominator_weight=denominator_weight)
    return ratio.log_ratio(at)


def make_estimator(method: str | None, parameters: dict[str, Any]) -> DensityRatio | BaselineRatio:
    """Return the unfitted estimator that a method names, with some of its parameters set."""
    if not is_baseline(method):
        return make_ratio(method, parameters)
    settings = dict(parameters)
    return BaselineRatio(str(method), BASELINES[str(method)], settings, settings.pop("random_state", 0))


def make_ratio(method: str | None, parameters: dict[str, Any]) -> DensityRatio:
    """Return the form of `DensityRatio` that a method names, with some of its parameters set."""
    return DensityRatio(**(parameters_of(method) | parameters))
