"""How much information two sets of columns have about each other."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from vwkde._coordinates.normal_scores import fit_scores_in_blocks
from vwkde._data.copies import find_distinct
from vwkde._data.groups import check_groups, number_groups
from vwkde._data.pairs import Pairs
from vwkde._data.sample import make_unordered_sample, variance_of_mean
from vwkde._data.validation import Array, check_sample
from vwkde._fit.candidates import MOST_ROWS
from vwkde._fit.repeats import find_groups
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._models.neighbours import ByNeighbours, by_neighbours
from vwkde._runtime.warn import warn
from vwkde.divergences import make_ratio
from vwkde.exceptions import DegenerateDataWarning
from vwkde.results import Estimate

__all__ = ["mutual_information"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_COPIES = 10
"""Most rows of the product of the marginals for each row of the joint sample."""
_MOST_ROWS = 30_000
"""Size of the product sample from which more copies gain nothing."""

_BY_CHANCE = 2.5
"""Standard errors by which nearest neighbours may exceed the fit by chance; at twice as many they replace it."""


def mutual_information(
    X: Any, Y: Any, *, method: str | None = None, random_state: Any = 0, groups: Any = None, **parameters: Any
) -> Estimate:
    """Estimate the mutual information of X and Y, in nats: KL(joint ‖ product of the marginals).

    The ratio of the joint density to the product of the marginals is fitted as by `DensityRatio`, to the rows and to
    pairs of different rows; models of the product are products of models of X and of Y. Nearest neighbours are a second
    opinion if X and Y together have at most four columns and there are at least fifty rows: where they clearly see
    more, the value moves towards theirs, and half of the difference counts as systematic error.

    The standard error is that of the mean log ratio: to first order, the marginals add nothing to it.
    Rows that repeat others count as one group, unless the data are discrete.

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
        The mutual information with its errors and diagnostics. `diagnostics["by_neighbours"]` is the value by nearest
        neighbours, if there are few columns.

    Raises
    ------
    ValueError
        If X and Y differ in their number of rows or have too few rows or groups, or a parameter is invalid.

    Warns
    -----
    DegenerateDataWarning
        If X or Y is constant, or columns of X are linear combinations of columns of Y: the information of densities is
        then infinite, and the value is a lower limit.

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
    ratio = make_ratio(method, parameters | {"random_state": random_state})
    group = _groups(groups, x, y, random_state)
    if not (np.ptp(x, axis=0).any() and np.ptp(y, axis=0).any()):
        warn("X or Y has equal rows only, and a constant says nothing: the information is zero.", DegenerateDataWarning)
        return Estimate(0.0, _standard_error(np.zeros(len(x)), 1, None), "mutual-information")
    fold = check_random_state(random_state).permutation(np.arange(len(x) if group is None else group.max() + 1) % FOLDS)
    fold = fold if group is None else fold[group]
    first, second = _pairs(fold, random_state, group)
    rows = np.arange(len(x))
    joint, product = np.concatenate([x, y], axis=1), np.concatenate([x[first], y[second]], axis=1)
    pairs = Pairs(x.shape[1], rows, rows, group), Pairs(x.shape[1], first, second, group)
    ratio._fit(
        joint,
        product,
        groups=None if group is None else (group, None),
        copies=(1, max(1, len(first) // len(x))),
        folds=(fold, fold[first]),
        pairs=pairs,
    )
    log_ratio = ratio.numerator_log_ratio_
    estimate = replace(
        ratio.divergence("kl"),
        kind="mutual-information",
        standard_error=_standard_error(log_ratio, x.shape[1] * y.shape[1], group),
    )
    neighbours = _neighbours(joint, product, pairs) if group is None else None
    return estimate if neighbours is None else _reconciled(estimate, log_ratio, neighbours)


def _standard_error(log_ratio: Floats, correlations: int, group: Ints | None) -> float:
    """Return the standard error of the mean; at least that of a likelihood ratio test of so many correlations."""
    rows = len(log_ratio) if group is None else int(group.max()) + 1
    variance = variance_of_mean(log_ratio, np.ones(len(log_ratio)), group)
    return float(np.sqrt(variance + correlations / (2 * rows**2)))


def _neighbours(joint: Array, product: Array, pairs: tuple[Pairs, Pairs]) -> ByNeighbours | None:
    """Return what nearest neighbours in normal scores say, if there are few columns."""
    coordinates, split = fit_scores_in_blocks(joint, np.ones(len(joint)), pairs[0].split)
    p, q = (
        replace(make_unordered_sample(coordinates(values)), pairs=replace(each, split=split))
        for values, each in zip((joint, product), pairs, strict=True)
    )
    return by_neighbours((p, q.thinned(MOST_ROWS, np.random.default_rng(0))))


def _reconciled(estimate: Estimate, fitted: Floats, neighbours: ByNeighbours) -> Estimate:
    """Return the estimate moved towards nearest neighbours where these see more, with an error for what is in doubt.

    Whatever a fit misses makes its mean log ratio smaller, and so does whatever is finer than the neighbours'
    distances: if one of them is clearly larger, it is closer. In doubt are half of the difference and, unless the fit
    sees more, what still finer distances may show.
    """
    gap, clear = _in_errors(neighbours.log_ratio - fitted)
    rise, clear_rise = _in_errors(neighbours.rise)
    in_doubt = gap / 2 * np.clip(clear - 1, 0, 1), rise * np.clip(clear_rise - 1, 0, 1) * (clear > -_BY_CHANCE)
    return replace(
        estimate,
        value=estimate.value + gap * float(np.clip(clear / _BY_CHANCE - 1, 0, 1)),
        systematic_error=float(np.linalg.norm([estimate.systematic_error, *in_doubt])),
        diagnostics={**estimate.diagnostics, "by_neighbours": float(neighbours.log_ratio.mean())},
    )


def _in_errors(terms: Floats) -> tuple[float, float]:
    """Return the mean of some terms, and its size in standard errors."""
    mean, error = float(terms.mean()), float(np.std(terms, ddof=1) / np.sqrt(len(terms)))
    return mean, mean / max(error, np.finfo(np.float64).tiny)


def _groups(groups: Any, x: Array, y: Array, random_state: Any) -> Ints | None:
    """Return the number of each row's group: as given, or that of the row which it repeats; None without groups."""
    if groups is None:
        joint = np.concatenate([x, y], axis=1)
        order = check_random_state(random_state).permutation(find_distinct(joint).first)
        apart = np.concatenate([x[order], y[np.roll(order, 1)]], axis=1)  # pairs of different rows, none repeated
        group = find_groups(joint, apart)
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
    copies = _copies(len(fold))
    pairs = [
        (circle, np.roll(circle, shift)) for circle in circles for shift in range(1, min(copies, len(circle) - 1) + 1)
    ]
    first, second = (np.concatenate(each) for each in zip(*pairs, strict=True))
    apart = np.ones(len(first), dtype=bool) if group is None else group[first] != group[second]
    return first[apart], second[apart]


def _copies(rows: int) -> int:
    """Return how many pairs to make of each row: if possible, not so many that candidates see only a part of them."""
    most = MOST_ROWS if rows <= MOST_ROWS else _MOST_ROWS
    return max(1, min(_COPIES, most // rows))
