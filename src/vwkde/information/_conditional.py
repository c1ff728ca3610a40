"""How much X and Y say about each other when Z is known."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._data.reading import Reading
from vwkde._data.validation import Array
from vwkde._display.waiting import shown_while_waiting
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._direct import direct_information
from vwkde.information._exact import beyond, linear_information
from vwkde.information._forms import Asked, information
from vwkde.information._mutual import check_report, check_rows, warn_if_open
from vwkde.information._opinions import Opinion, is_continuous
from vwkde.information._pairing import Paired, find_units, in_canonical_order, pair_rows
from vwkde.information._series import in_time
from vwkde.information._tables import codes_of
from vwkde.results import Estimate

Ints = NDArray[np.intp]
_EstimateOf = Callable[[Array, Array, Ints | None], tuple[Opinion, Paired]]

_KIND = "conditional-mutual-information"
_FEWEST_ROWS = 4 * FOLDS
"""Rows, or groups, of a value of Z for which the information can be estimated by itself."""


@shown_while_waiting
def conditional_mutual_information(
    X: Any,
    Y: Any,
    Z: Any,
    *,
    method: str | None = None,
    confidence_level: float = 0.95,
    random_state: Any = 0,
    groups: Any = None,
    missing: Literal["refuse", "indicator"] = "refuse",
    dates: Literal["refuse", "number", "drop"] = "refuse",
    lag: int = 0,
    z_lag: int = 0,
    blocks: int | Literal["auto"] | None = None,
    unit: str = "nats",
    **parameters: Any,
) -> Estimate:
    """Estimate the conditional mutual information of X and Y given Z.

    It is zero if X and Y are independent once Z is known. If Z is discrete, it is the mean of the mutual information
    of X and Y over the values of Z. Otherwise it is I(X; Y, Z) − I(X; Z), both estimated as by `mutual_information`
    with the same pairs of rows. The standard error is that of the difference row by row, in which much of the noise
    cancels; the systematic errors of both count. Where no model fits and the terms are in doubt, the value moves
    towards that of nearest neighbours in X, Y and Z together (Frenzel and Pompe), if there are at most six columns.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        An array, table, CPU tensor or path, as in `mutual_information`.
    Y : array-like of shape (n, e) or (n,)
        The same number of rows: row i of Y belongs to row i of X.
    Z : array-like of shape (n, f) or (n,)
        What is known, again with the same rows. Values that at least ten rows share on average, each by at least
        twenty, are taken for discrete.
    method : {"vwkde-mb", "vwkde-mf", "kde"}, optional
        The form of `DensityRatio` to use, as in `mutual_information`.
    confidence_level : float, default=0.95
        The level of the estimate's interval, between 0 and 1.
    random_state : int, RandomState or None, default=0
        Seeds the pairing and every other random choice.
    groups : array-like of shape (n,), optional
        Which rows belong together, as in `mutual_information`.
    missing : {"refuse", "indicator"}, default="refuse"
        What missing values do, as in `DensityRatio`.
    dates : {"refuse", "number", "drop"}, default="refuse"
        What columns of dates or times do, as in `DensityRatio`.
    lag : int, default=0
        For time series, whose rows are in the order of time: X is taken this many rows before Y. Negative lags take it
        after Y. With `groups`, no lag reaches from one group into another.
    z_lag : int, default=0
        The same for Z: with `Z=Y, lag=1, z_lag=1` the result is the transfer entropy from X to Y.
    blocks : int or "auto", optional
        For time series: the number of consecutive rows that count as a group, since they remember each other. "auto"
        takes four times as many as a column remembers, by its autocorrelation. It is the default if there is a lag and
        there are no groups.
    unit : {"nats", "bits"}, default="nats"
        The unit of the value and its errors.
    **parameters : dict
        Parameters of `DensityRatio`.

    Returns
    -------
    Estimate
        The conditional mutual information with its errors. `diagnostics["terms"]` are I(X; Y, Z) and I(X; Z), or the
        mutual information for each value of a discrete Z, and `diagnostics["by_neighbours"]` is the value by nearest
        neighbours.

    Raises
    ------
    ValueError
        If X, Y and Z differ in their number of rows or have too few rows or groups, or a parameter is invalid.

    Warns
    -----
    DegenerateDataWarning
        If X or Y is a function of Z: the information is zero. If a column of one of X and (Y, Z) is a function of the
        other, as far as the rows show: the information may be infinite.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=500)
    >>> x, y = z + rng.normal(size=(2, 500))  # independent, once z is known
    >>> low, high = vwkde.conditional_mutual_information(x, y, z).interval
    >>> low < 0 < high
    True
    >>> vwkde.mutual_information(x, y).interval[0] > 0
    True
    """
    check_report(confidence_level, unit)
    given = check_rows(Reading(missing, dates), X=X, Y=Y, Z=Z)
    lags = {"lag": lag, "": 0, "z_lag": z_lag}
    (x, y, z), groups = in_time(given, lags, groups, blocks, "conditional_mutual_information")
    asked = Asked(conditional_mutual_information, method, random_state, parameters)
    asked.ratio()._check_parameters(x, y)
    x, y = in_canonical_order(beyond(z, x), beyond(z, y))
    group = find_units(np.concatenate([x, z], axis=1), y, groups, random_state, "conditional_mutual_information")
    repeated = groups is None and group is not None
    estimate_of = partial(_estimate, asked, not repeated)
    codes = None if repeated else codes_of(z)
    if not (x.shape[1] and y.shape[1]):
        estimate = _nothing_left(len(x))
    elif codes is not None and _are_enough(codes, group):
        estimate = _by_values(x, y, codes, group, estimate_of)
    else:
        estimate = _by_difference(x, y, z, group, estimate_of)
    warn_if_open(estimate)
    return replace(estimate, confidence_level=confidence_level).in_unit(unit)


def _estimate(asked: Asked, may_be_discrete: bool, x: Array, y: Array, group: Ints | None) -> tuple[Opinion, Paired]:
    paired = pair_rows(x, y, group, asked.random_state)
    return information(paired, asked, may_be_discrete), paired


def _are_enough(codes: Ints, group: Ints | None) -> bool:
    """Return whether every value of Z has enough rows or groups."""
    rows = codes if group is None else np.unique(np.column_stack([codes, group]), axis=0)[:, 0]
    return bool(np.bincount(rows).min() >= _FEWEST_ROWS)


def _nothing_left(rows: int) -> Estimate:
    """Return zero: what is known already cannot be told."""
    warn("X or Y is a function of Z: given Z it is known, and the information is zero.", DegenerateDataWarning)
    return Estimate(0.0, 1 / rows, _KIND, diagnostics={"rows": rows})


def _in_order(x: Array, y: Array, z: Array) -> tuple[Array, Array]:
    """Return a discrete one first, so that its classes are compared; else the one about which Z says less.

    The difference of two large terms is as uncertain as they are.
    """
    discrete = [codes_of(each) is not None for each in (x, y)]
    if discrete[0] != discrete[1]:
        return (x, y) if discrete[0] else (y, x)
    return (x, y) if linear_information(x, z) <= linear_information(y, z) else (y, x)


def _by_difference(x: Array, y: Array, z: Array, group: Ints | None, estimate_of: _EstimateOf) -> Estimate:
    """Return I(X; Y, Z) − I(X; Z), or the same with X and Y exchanged.

    If X is a function of Z, both are infinite, and those with Y first are used. The first term is the larger one in
    truth. If it is not, its fit in more columns misses at least as much as that.
    """
    x, y = _in_order(x, y, z)
    part, _ = estimate_of(x, z, group)
    if part.estimate.open_above:
        other, _ = estimate_of(y, z, group)
        if not other.estimate.open_above:
            x, y, part = y, x, other
    whole, paired = estimate_of(x, np.concatenate([y, z], axis=1), group)
    open_above = whole.estimate.open_above or part.estimate.open_above
    difference = whole.estimate.value - part.estimate.value
    least = x.shape[1] * y.shape[1] / (2 * paired.rows**2)
    doubts = whole.estimate.systematic_error, part.estimate.systematic_error
    doubt = float(np.linalg.norm([*doubts, min(difference, 0.0)]))
    diagnostics = {"rows": len(x), "terms": [whole.estimate.value, part.estimate.value]}
    suits = group is None and not open_above and all(map(is_continuous, (x, y, z)))
    direct = direct_information(x, y, z) if suits else None
    if direct is not None:
        diagnostics["by_neighbours"] = direct
        difference += _towards(direct - difference, doubt, min(whole.by_model, part.by_model))
    return replace(
        whole.estimate,
        value=max(difference, 0.0) if open_above else difference,
        kind=_KIND,
        standard_error=float(np.sqrt(paired.variance_of_mean(whole.log_ratio - part.log_ratio) + least)),
        systematic_error=doubt,
        open_above=open_above,
        diagnostics=diagnostics,
    )


def _towards(gap: float, doubt: float, by_model: float) -> float:
    """Return how far a difference of two terms moves towards what neighbours see directly: as far as it is in doubt.

    The errors of two terms do not cancel if no model fits. A model of the whole dependence stays as it is.
    """
    return float(np.clip((1 - by_model) * gap, -doubt, doubt))


def _by_values(x: Array, y: Array, codes: Ints, group: Ints | None, estimate_of: _EstimateOf) -> Estimate:
    """Return the mean over the values of Z of the information of X and Y; systematic errors may have the same sign."""
    terms, parts, shares = np.empty(len(x)), [], np.bincount(codes) / len(codes)
    for value in range(len(shares)):
        rows = np.flatnonzero(codes == value)
        own = None if group is None else np.unique(group[rows], return_inverse=True)[1]
        opinion, _ = estimate_of(x[rows], y[rows], own)
        terms[rows] = opinion.log_ratio
        parts.append(opinion)
    whole = pair_rows(x, y, group, 0)
    least = sum(share**2 * part.least for share, part in zip(shares, parts, strict=True))
    estimates = [part.estimate for part in parts]
    return Estimate(
        float(shares @ [each.value for each in estimates]),
        float(np.sqrt(whole.variance_of_mean(terms) + least)),
        _KIND,
        systematic_error=float(shares @ [each.systematic_error for each in estimates]),
        degrees_of_freedom=whole.rows - 1,
        open_above=any(each.open_above for each in estimates),
        diagnostics={"rows": len(x), "terms": [each.value for each in estimates]},
    )
