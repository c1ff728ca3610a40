"""How much information two sets of columns have about each other."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from vwkde._data.groups import check_groups, number_groups
from vwkde._data.sample import variance_of_mean
from vwkde._data.validation import Array, check_sample
from vwkde._fit.repeats import find_groups
from vwkde._models.guides.cross_fit import FOLDS
from vwkde.divergences import make_ratio
from vwkde.results import Estimate

__all__ = ["mutual_information"]

Ints = NDArray[np.intp]

_COPIES = 10
"""Rows of the product of the marginals for each row of the joint sample."""
_MOST_ROWS = 30_000
"""Size of the product sample from which more copies gain nothing."""


def mutual_information(
    X: Any, Y: Any, *, method: str | None = None, random_state: Any = 0, groups: Any = None, **parameters: Any
) -> Estimate:
    """Estimate the mutual information of X and Y, in nats: KL(joint ‖ product of the marginals).

    Rows of X are paired with other rows of Y to give a sample of the product. The standard error is that of the mean
    log ratio: to first order, the marginals add nothing to it. Rows that repeat others count as one group, unless the
    data are discrete.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        An array, DataFrame or CPU tensor.
    Y : array-like of shape (n, e) or (n,)
        The same number of rows: row i of Y belongs to row i of X.
    method : {"vwkde-mb", "vwkde-mf", "kde"}, optional
        The form of `DensityRatio` to use. By default, `DensityRatio` with all its defaults.
    random_state : int, RandomState or None, default=0
        Seeds the pairing and every other random choice.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of a patient or of a time block: the label of each row, of any
        hashable type, at least 5 different ones. Rows of a group are held out together and never paired with each
        other, and the standard error counts them as dependent.
    **parameters : dict
        Parameters of `DensityRatio`.

    Returns
    -------
    Estimate
        The mutual information with its errors and diagnostics.

    Raises
    ------
    ValueError
        If X and Y differ in their number of rows or have too few rows or groups, or a parameter is invalid.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=500)
    >>> y = x + rng.normal(size=500)  # the mutual information is log(2) / 2 = 0.347
    >>> low, high = vwkde.mutual_information(x, y).interval
    >>> low < 0.347 < high
    True
    """
    x, y = check_sample(X, "X")[0], check_sample(Y, "Y")[0]
    if len(x) != len(y):
        raise ValueError(
            f"X and Y must have the same number of rows. Got {len(x)} and {len(y)} instead; drop unpaired rows."
        )
    if len(x) < 2 * FOLDS:
        raise ValueError(f"X and Y have {len(x)} rows; at least {2 * FOLDS} are needed. Give more rows.")
    group = _groups(groups, x, y, random_state)
    random = check_random_state(random_state)
    fold = random.permutation(np.arange(len(x) if group is None else group.max() + 1) % FOLDS)
    fold = fold if group is None else fold[group]
    first, second = _pairs(fold, random_state, group)
    ratio = make_ratio(method, parameters | {"random_state": random_state})
    ratio._fit(
        np.concatenate([x, y], axis=1),
        np.concatenate([x[first], y[second]], axis=1),
        groups=None if group is None else (group, group[first] * (group.max() + 1) + group[second]),
        copies=(1, max(1, len(first) // len(x))),
        folds=(fold, fold[first]),
    )
    error = float(np.sqrt(variance_of_mean(ratio.numerator_log_ratio_, np.ones(len(x)), group)))
    return replace(ratio.divergence("kl"), kind="mutual-information", standard_error=error)


def _groups(groups: Any, x: Array, y: Array, random_state: Any) -> Ints | None:
    """Return the number of each row's group: as given, or that of the row which it repeats; None without groups."""
    if groups is None:
        mixed = y[check_random_state(random_state).permutation(len(y))]
        group = find_groups(np.concatenate([x, y], axis=1), np.concatenate([x, mixed], axis=1))
        return None if group is None or group.max() + 1 < 2 * FOLDS else group
    group = number_groups(check_groups(groups, len(x), "mutual_information"), None)[0]
    if group is not None and group.max() + 1 < 2 * FOLDS:
        raise ValueError(
            f"The 'groups' parameter of mutual_information must have at least {2 * FOLDS} different labels. Got "
            f"{group.max() + 1} instead; use smaller groups, or omit the parameter."
        )
    return group


def _pairs(fold: Ints, random_state: Any, group: Ints | None = None) -> tuple[Ints, Ints]:
    """Return rows of X and of Y that make a sample of the product of the marginals.

    The rows of each fold are put in a random circle, and each x is paired with the y of its next neighbours. A model
    that has not seen a fold has then seen neither the pairs of its rows nor these rows in other pairs. Rows of a group
    are not paired with each other.
    """
    random = check_random_state(random_state)
    circles = [random.permutation(np.flatnonzero(fold == k)) for k in range(FOLDS)]
    copies = max(1, min(_COPIES, _MOST_ROWS // len(fold)))
    pairs = [
        (circle, np.roll(circle, shift)) for circle in circles for shift in range(1, min(copies, len(circle) - 1) + 1)
    ]
    first, second = (np.concatenate(each) for each in zip(*pairs, strict=True))
    apart = np.ones(len(first), dtype=bool) if group is None else group[first] != group[second]
    return first[apart], second[apart]
