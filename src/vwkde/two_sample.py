"""Whether two samples come from one distribution: a permutation test.

Four statistics use the same permutations of the labels: the difference of means, the energy distance, the difference of
covariances, and the squared difference of kernel density estimates. The Cauchy rule combines their p-values, and the
combination is compared with itself under those permutations, so the level is exact for any statistics. Nothing else
depends on the labels: neither the coordinates nor the order of the rows. Statistics that differ only by rounding are
tied, as those of discrete data often are.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.utils import check_random_state

from vwkde._answers.permutation import check_permutations, decide
from vwkde._compute.parallel import split
from vwkde._coordinates.axes import white
from vwkde._data.copies import find_distinct, merge_repeats
from vwkde._data.groups import check_group_pair
from vwkde._data.intake import check_pair
from vwkde._data.order import canonical_order
from vwkde._data.reading import Reading
from vwkde._data.validation import Array
from vwkde._display.p_values import PermutationResult
from vwkde._display.waiting import shown_while_waiting
from vwkde._models.distances import median_distance
from vwkde._runtime.progress import track
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

__all__ = ["TwoSampleResult", "two_sample_test"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_WEIGHTS = {"means": 6.0, "energy": 6.0, "covariances": 1.0, "kernels": 1.0}
"""Weights of the statistics. A shift is the most common difference, so those that see it best count most."""
_MOST_ROWS = 4_000
"""Maximum number of pooled rows for distances; means and covariances use more."""
_MOST_PRODUCTS = 30_000_000
"""Maximum number of products of columns, over all rows, for which covariances use every row."""
_PERMUTATIONS_AT_ONCE = 64
_MANY_REPEATS = 0.04
"""Share of repeated rows from which there is a warning: the p-value changes little with fewer."""


@dataclass(frozen=True)
class TwoSampleResult(PermutationResult):
    """The result of a two-sample test.

    Parameters
    ----------
    p_value : float
        The p-value of all statistics combined: the one to decide by.
    p_values : dict of str to float
        The p-value of each statistic on its own: "means", "energy", "covariances" and "kernels".
    n_permutations : int
        The number of random permutations of the labels.
    statistics : dict of str to float
        The value of each statistic: the squared distance of the means, the energy distance, the squared distance of the
        covariances, and that of kernel density estimates (MMD²), all in coordinates in which the pooled sample is
        white. Of very many rows, some are drawn for all but the means.
    sizes : tuple of int
        The number of rows of the numerator and of the denominator.

    Examples
    --------
    >>> from vwkde import TwoSampleResult
    >>> print(TwoSampleResult(0.01, {"means": 0.004, "energy": 0.02}, 499))
    two-sample test: p = 0.01 (499 permutations)
      on their own: means 0.004, energy 0.02
    """

    _name = "two-sample test"


@shown_while_waiting
def two_sample_test(
    numerator: Any,
    denominator: Any,
    *,
    n_permutations: int = 499,
    random_state: Any = 0,
    groups: Any = None,
    missing: Literal["refuse", "indicator"] = "refuse",
    dates: Literal["refuse", "number", "drop"] = "refuse",
) -> TwoSampleResult:
    """Test whether two samples come from one distribution.

    If they do, the p-value is at most α with probability at most α, for any number of rows and columns. Rows must be
    independent; if they are not, give the groups of rows that belong together, which must then be independent.

    Parameters
    ----------
    numerator : array-like of shape (n, d) or (n,)
        A sample of P: an array, table (see the guide's page on tables), CPU tensor, or the path of a file.
    denominator : array-like of shape (m, d) or (m,)
        A sample of Q, with the same columns.
    n_permutations : int, default=499
        The number of random permutations of the labels, at least 19. The smallest possible p-value is
        1 / (n_permutations + 1).
    random_state : int, RandomState or None, default=0
        Seeds the permutations.
    groups : pair of array-like of shapes (n,) and (m,), optional
        Which rows belong together, such as those of a patient or of a time block: the labels of the numerator's rows
        and those of the denominator's, at least 5 different ones each. None stands for a sample of independent rows.
        Whole groups are permuted, whatever their sizes. No label may occur in both samples.
    missing : {"refuse", "indicator"}, default="refuse"
        What missing values do, as in `DensityRatio`.
    dates : {"refuse", "number", "drop"}, default="refuse"
        What columns of dates or times do, as in `DensityRatio`.

    Returns
    -------
    TwoSampleResult
        The p-value of all statistics combined, that of each statistic, the statistics and the numbers of rows.

    Raises
    ------
    ValueError
        If `n_permutations` is too small, the samples cannot be used, no column varies, or a group has rows in both
        samples.

    Warns
    -----
    DegenerateDataWarning
        If columns label rows and were left out, or many rows repeat others, although the data are not discrete.

    Examples
    --------
    >>> import vwkde
    >>> from vwkde.datasets import mean_difference
    >>> P, Q = mean_difference(3, 1.0).sample(200)
    >>> result = vwkde.two_sample_test(P, Q)
    >>> result.p_value, result.sizes
    (0.002, (200, 200))
    >>> list(result.to_frame().columns)
    ['test', 'part', 'statistic', 'p_value']
    """
    n_permutations = check_permutations(n_permutations, "two_sample_test")
    p, q, *_ = check_pair(numerator, denominator, Reading(missing, dates))
    group = _check_groups(groups, (len(p), len(q)))
    if groups is None:
        _warn_of_repeats(p, q)
    random = np.random.default_rng(check_random_state(random_state).randint(2**31))
    z, order = _pooled(np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64), random.spawn(1)[0])
    labels = _permuted(order < len(p), group[order], n_permutations, random)
    return TwoSampleResult(*decide(_statistics(z, labels, random), _WEIGHTS), sizes=(len(p), len(q)))


def _warn_of_repeats(p: Array, q: Array) -> None:
    distinct = find_distinct(p), find_distinct(q)
    sides = zip(("numerator", "denominator"), distinct, distinct[::-1], strict=True)
    for name, own, other in sides:
        merging = merge_repeats(own, other)
        repeats = 0 if merging is None else len(own.behind) - len(merging.kept)
        if repeats > _MANY_REPEATS * len(own.behind):
            warn(
                f"{repeats} rows of the {name} repeat others, although the data are not discrete: the test takes them "
                f"for independent, and its p-value is too small. Drop the copies, or pass groups=.",
                DegenerateDataWarning,
            )


def _check_groups(groups: Any, rows: tuple[int, int]) -> Ints:
    """Return the number of each row's group in the pooled sample; a row without one is a group of its own."""
    p, q = check_group_pair(groups, (np.ones(rows[0]), np.ones(rows[1])), "two_sample_test")
    if p is not None and q is not None and np.isin(p, q).any():
        raise ValueError(
            "The 'groups' parameter of two_sample_test must have different labels in the two samples, since a whole "
            "group is assigned to one of them. Got a label that occurs in both instead; test the differences within "
            "groups, or give the rows of each sample their own labels."
        )
    start = max((int(each.max()) + 1 for each in (p, q) if each is not None), default=0)
    own = start + np.arange(sum(rows))
    return np.concatenate([own[: rows[0]] if p is None else p, own[rows[0] :] if q is None else q])


def _permuted(first: NDArray[np.bool_], group: Ints, count: int, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which rows are in the first sample: in fact, and in random permutations of the groups, as columns."""
    _, start, place = np.unique(group, return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(start))[place.ravel()]  # numbered by their first rows, not by labels
    of_groups = first[np.sort(start)]
    return np.column_stack([of_groups, *(random.permutation(of_groups) for _ in range(count))])[place]


def _pooled(p: Floats, q: Floats, random: np.random.Generator) -> tuple[Floats, Ints]:
    """Return the pooled sample, whitened and in its canonical order, and that order.

    Correlations that the rows do not determine well are shrunk (Ledoit and Wolf): whitening by noise costs power. Rows
    are shuffled first: equal rows would otherwise keep those of P in front, and some rows are left out by position.
    """
    shuffled = random.permutation(len(p) + len(q))
    z = np.concatenate([p, q])[shuffled]
    z = z / np.maximum(np.abs(z).max(axis=0), np.finfo(np.float64).tiny)
    z = white(z)
    if not z.shape[1]:
        raise ValueError("No column varies: all rows of both samples are equal, so there is nothing to test.")
    order = canonical_order(z)
    return z[order], shuffled[order]


def _statistics(z: Floats, labels: NDArray[np.bool_], random: np.random.Generator) -> dict[str, Floats]:
    """Return the statistics of each column of labels.

    Each is a quadratic form in the contrast of the two samples: 1/n for the rows of P, −1/m for the rows of Q.
    """
    some = np.sort(random.permutation(len(z))[:_MOST_ROWS])
    i, j = np.triu_indices(z.shape[1])
    few = np.arange(len(z)) if len(z) * len(i) <= _MOST_PRODUCTS else some
    distance = median_distance(z[some[:: max(1, len(some) // 1_000)]])
    return {
        "means": _squares(z, labels),
        "energy": _forms(z[some], labels[some], lambda d: -d),
        "covariances": _squares(z[few][:, i] * z[few][:, j], labels[few]),
        "kernels": _forms(z[some], labels[some], lambda d: np.exp(-2 * (d / distance) ** 2)),
    }


def _contrast(labels: NDArray[np.bool_]) -> Floats:
    """Return the contrasts; thinned rows may leave one sample empty, which then counts as zero."""
    n = labels.sum(axis=0)
    return np.where(labels, 1 / np.maximum(n, 1), -1 / np.maximum(len(labels) - n, 1))


def _squares(features: Floats, labels: NDArray[np.bool_]) -> Floats:
    parts = split(labels.shape[1], _PERMUTATIONS_AT_ONCE)
    return np.concatenate([((features.T @ _contrast(labels[:, part])) ** 2).sum(axis=0) for part in parts])


def _forms(x: Floats, labels: NDArray[np.bool_], kernel: Callable[[Floats], Floats]) -> Floats:
    """Return cᵀKc for every contrast c, in blocks of rows of K."""
    contrast = _contrast(labels)
    result = np.zeros(labels.shape[1])
    blocks = split(len(x), 512)
    for rows in track(blocks, "two-sample test", len(blocks)):
        result += np.einsum("ij,ij->j", contrast[rows], kernel(cdist(x[rows], x)) @ contrast)
    return result
