"""Importance weights in one call."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from vwkde._answers.reweighting.weighing import check_options
from vwkde._data.intake import Pair as Samples
from vwkde._data.intake import check_pair
from vwkde._data.reading import Reading
from vwkde._data.validation import to_floats
from vwkde._display.waiting import shown_while_waiting
from vwkde._models.guides import GUIDES
from vwkde._runtime.keywords import refuse_unknown
from vwkde.importance import ImportanceWeights
from vwkde.ratio import DensityRatio
from vwkde.weighting._boosted import FEWEST_ROWS, BoostedRatio
from vwkde.weighting._signed import is_signed, local_weights

Floats = NDArray[np.float64]
Pair = tuple[Floats | None, Floats | None]

MANY_ROWS = 20_000
"""Rows of the smaller sample from which "auto" means "boosting"."""


@shown_while_waiting
def importance_weights(
    numerator: Any,
    denominator: Any,
    *,
    estimator: Any = "auto",
    truncate: float | str | None = "auto",
    relative: float | str = 0.0,
    balance: str = "auto",
    numerator_weight: Any = None,
    denominator_weight: Any = None,
    groups: Any = None,
    random_state: Any = 0,
    **parameters: Any,
) -> ImportanceWeights:
    """Return weights on the denominator's rows with which they look like the numerator's.

    There is one weight for each row of the denominator, and none for the numerator's rows. For covariate shift, the
    numerator is the target sample and the denominator the training sample. For reweighting in physics, the numerator is
    the data and the denominator the simulation. Of a ratio that is fitted already, `DensityRatio.weights` gives the
    same, and `DensityRatio.importance_weights` the bounded ratios as an array, without balancing.

    Parameters
    ----------
    numerator : array-like of shape (n, d) or (n,), or path
        A sample of the population that is to be represented: an array, DataFrame, tensor or the path of a CSV, Parquet
        or NPY file.
    denominator : array-like of shape (m, d) or (m,), or path
        The rows that get weights, with the same columns.
    estimator : {"auto", "ratio", "boosting"}, name of a guide, or DensityRatio, default="auto"
        What estimates the ratio. "ratio" is the default `DensityRatio`. "boosting" is a smooth model of pairs of
        columns, corrected by boosted trees, as many as held-out rows ask for: seconds for 100,000 rows. "auto" is
        "boosting" with at least 20,000 rows of each sample, otherwise "ratio". A guide, such as "logistic", is
        `DensityRatio(guide="logistic")`.
    truncate : "auto", None or float, default="auto"
        The largest ratio; see `DensityRatio.weights`.
    relative : float or "auto", default=0.0
        The α of relative ratios, which bound ratios in another way; see `DensityRatio.weights`.
    balance : {"auto", "means", "moments", "none"}, default="auto"
        Which weighted means agree with the numerator's; see `DensityRatio.weights`.
    numerator_weight : array-like of shape (n,), optional
        Weights of the numerator's rows. Some may be negative, as long as their local sums are positive.
    denominator_weight : array-like of shape (m,), optional
        The denominator rows' own weights, which may be negative too. The weights that come back include them.
    groups : pair of array-like of shapes (n,) and (m,), optional
        Which rows belong together; see `DensityRatio.fit`.
    random_state : int, RandomState or None, default=0
        Seeds every random choice.
    **parameters : dict
        Other parameters of `DensityRatio`, for example `missing="indicator"`.

    Returns
    -------
    ImportanceWeights
        The weights and what can be asked of them. Their sum is that of the denominator's own weights; without own
        weights, their mean is one.

    Raises
    ------
    ValueError
        If a parameter is invalid or the samples cannot be used.
    DisjointSupportError
        If the samples do not meet.

    Warns
    -----
    OverlapWarning
        If the weights cannot be trusted: numerator rows lie where the denominator has none, the weighted rows are worth
        fewer than ten, or negative weights cancel the positive ones.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> from vwkde.datasets import mean_difference
    >>> target, training = mean_difference(2, 1.0).sample(400)
    >>> weights = vwkde.importance_weights(target, training)
    >>> moved = np.average(training, axis=0, weights=weights)
    >>> bool(np.abs(moved - target.mean(axis=0)).max() < 0.05)
    True
    """
    check_options(truncate, relative, balance, "importance_weights")
    refuse_unknown(parameters, DensityRatio._get_param_names(), importance_weights)
    numerator, denominator = _read(numerator), _read(denominator)
    samples = check_pair(numerator, denominator, _reading(estimator, parameters))
    rows = len(samples.numerator), len(samples.denominator)
    own: Pair = (
        _as_weight(numerator_weight, rows[0], "numerator_weight"),
        _as_weight(denominator_weight, rows[1], "denominator_weight"),
    )
    ratio = _make_ratio(estimator, min(rows), {"random_state": random_state, **parameters})
    seed = random_state if isinstance(random_state, int) else 0
    positive = _made_positive(samples, own, seed)
    fitted = ratio.fit(
        numerator, denominator, numerator_weight=positive[0], denominator_weight=positive[1], groups=groups
    )
    weights = fitted.weights(truncate=truncate, relative=relative, balance=balance)
    return weights if own[1] is None else weights._with_own(own[1])


def _read(data: Any) -> Any:
    """Return the content of a file as a whole, since every row gets a weight, and anything else as it is."""
    if not isinstance(data, str | Path):
        return data
    from vwkde._data.tables import read_table  # with Arrow, which arrays do not need

    return read_table(Path(data))


def _as_weight(weight: Any, rows: int, name: str) -> Floats | None:
    """Return weights of either sign."""
    if weight is None:
        return None
    array = to_floats(weight, name, None).astype(np.float64)
    if array.shape != (rows,) or not np.isfinite(array).all():
        raise ValueError(
            f"The {name} must have one finite number for each of the {rows} rows. Got shape {array.shape}"
            f"{'' if np.isfinite(array).all() else ' with missing or infinite values'} instead."
        )
    return array


def _make_ratio(estimator: Any, rows: int, parameters: dict[str, Any]) -> DensityRatio:
    """Return the estimator of the ratio that was asked for."""
    if isinstance(estimator, DensityRatio):
        if set(parameters) - {"random_state"}:
            raise ValueError(
                f"Parameters of DensityRatio belong to the estimator that was given. Got {sorted(parameters)} besides "
                f"it; set them there."
            )
        return clone(estimator)
    if estimator == "auto":
        estimator = "boosting" if rows >= MANY_ROWS else "ratio"
    if estimator == "boosting" and rows >= FEWEST_ROWS:
        return BoostedRatio(**parameters)
    if estimator == "ratio":
        return DensityRatio(**parameters)
    if isinstance(estimator, str) and estimator in GUIDES:
        return DensityRatio(guide=estimator, **parameters)
    raise ValueError(
        f"The 'estimator' parameter of importance_weights must be 'auto', 'ratio', 'boosting', a guide out of "
        f"{', '.join(GUIDES)}, or a DensityRatio. Got {estimator!r} instead."
    )


def _reading(estimator: Any, parameters: dict[str, Any]) -> Reading:
    """Return how tables are read by the ratio that will be fitted."""
    given = estimator.get_params() if isinstance(estimator, DensityRatio) else parameters
    return Reading(given.get("missing", "refuse"), given.get("dates", "refuse"))


def _made_positive(samples: Samples, own: Pair, seed: int) -> Pair:
    """Return non-negative weights that give the samples the same densities."""
    names = "numerator_weight", "denominator_weight"
    p, q = (
        local_weights(x.astype(np.float64), weight, name, seed) if weight is not None and is_signed(weight) else weight
        for x, weight, name in zip(samples[:2], own, names, strict=True)
    )
    return p, q
