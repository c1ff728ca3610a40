"""How much X and Y say about each other when Z is known."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.validation import Array
from vwkde._display.waiting import shown_while_waiting
from vwkde._models.guides.cross_fit import FOLDS
from vwkde.information._forms import Asked, information
from vwkde.information._mutual import check_report, check_rows, warn_if_open
from vwkde.information._opinions import Opinion
from vwkde.information._pairing import Paired, find_units, in_canonical_order, pair_rows
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
    unit: str = "nats",
    **parameters: Any,
) -> Estimate:
    """Estimate the conditional mutual information of X and Y given Z.

    It is zero if X and Y are independent once Z is known. If Z is discrete, it is the mean of the mutual information
    of X and Y over the values of Z. Otherwise it is I(X; Y, Z) − I(X; Z), both estimated as by `mutual_information`
    with the same pairs of rows. The standard error is that of the difference row by row, in which much of the noise
    cancels; the systematic errors of both count.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        An array, DataFrame or CPU tensor.
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
    unit : {"nats", "bits"}, default="nats"
        The unit of the value and its errors.
    **parameters : dict
        Parameters of `DensityRatio`.

    Returns
    -------
    Estimate
        The conditional mutual information with its errors. `diagnostics["terms"]` are I(X; Y, Z) and I(X; Z), or the
        mutual information for each value of a discrete Z.

    Raises
    ------
    ValueError
        If X, Y and Z differ in their number of rows or have too few rows or groups, or a parameter is invalid.

    Warns
    -----
    DegenerateDataWarning
        If a column of one of X and (Y, Z) is a function of the other, as far as the rows show: the information may be
        infinite.

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
    x, y, z = check_rows(X=X, Y=Y, Z=Z)
    x, y = in_canonical_order(x, y)
    asked = Asked(conditional_mutual_information, method, random_state, parameters)
    asked.ratio()._check_parameters(x, y)
    group = find_units(np.concatenate([x, z], axis=1), y, groups, random_state, "conditional_mutual_information")
    repeated = groups is None and group is not None
    estimate_of = partial(_estimate, asked, not repeated)
    codes = None if repeated else codes_of(z)
    if codes is not None and _are_enough(codes, group):
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


def _by_difference(x: Array, y: Array, z: Array, group: Ints | None, estimate_of: _EstimateOf) -> Estimate:
    """Return I(X; Y, Z) − I(X; Z).

    The first is the larger one in truth. If it is not, its fit in more columns misses at least as much as that.
    """
    (whole, paired), (part, _) = (estimate_of(x, other, group) for other in (np.concatenate([y, z], axis=1), z))
    value = whole.estimate.value - part.estimate.value
    least = x.shape[1] * y.shape[1] / (2 * paired.rows**2)
    doubts = whole.estimate.systematic_error, part.estimate.systematic_error
    return replace(
        whole.estimate,
        value=value,
        kind=_KIND,
        standard_error=float(np.sqrt(paired.variance_of_mean(whole.log_ratio - part.log_ratio) + least)),
        systematic_error=float(np.linalg.norm([*doubts, min(value, 0.0)])),
        open_above=whole.estimate.open_above or part.estimate.open_above,
        diagnostics={"rows": len(x), "terms": [whole.estimate.value, part.estimate.value]},
    )


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
