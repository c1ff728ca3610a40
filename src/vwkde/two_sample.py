"""Whether two samples come from one distribution: a permutation test.

Four statistics use the same permutations of the labels: the difference of means, the energy distance, the difference of
covariances, and the squared difference of kernel density estimates. The Cauchy rule combines their p-values, and the
combination is compared with itself under those permutations, so the level is exact for any statistics. Nothing else
depends on the labels: neither the coordinates nor the order of the rows. Statistics that differ only by rounding are
tied, as those of discrete data often are. If the groups of one sample are larger, the signs of their contributions are
random instead of their labels (see `_answers/reassignments.py`).
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from vwkde._answers.contrasts import WEIGHTS, contrast_statistics, pooled_rows
from vwkde._answers.independence import warn_of_repeats
from vwkde._answers.permutation import check_permutations, decide
from vwkde._answers.reassignments import are_alike, effective_groups, reassigned
from vwkde._data.groups import check_group_pair
from vwkde._data.intake import check_pair
from vwkde._data.ranks import mean_ranks
from vwkde._data.reading import Reading
from vwkde._display.p_values import PermutationResult
from vwkde._display.waiting import shown_while_waiting
from vwkde._runtime.random_states import random_state_of
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

__all__ = ["TwoSampleResult", "two_sample_test"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_FEW_GROUPS = 6
"""Groups with fewer of which random signs have at most 32 arrangements."""


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
        The number of random permutations of the labels, or of random signs of groups.
    statistics : dict of str to float
        The value of each statistic: the squared distance of the means, the energy distance, the squared distance of the
        covariances, and that of kernel density estimates (MMD²), all in coordinates in which the pooled sample is
        white; they are normal scores if the groups of one sample are larger. Of very many rows, some are drawn for all
        but the means.
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
    independent; if they are not, give the groups of rows that belong together, which must then be independent. If the
    groups of one sample are larger, the level is approximate; see the notes.

    Parameters
    ----------
    numerator : array-like of shape (n, d) or (n,)
        A sample of P: an array, table (see the guide's page on tables), CPU tensor, or the path of a file.
    denominator : array-like of shape (m, d) or (m,)
        A sample of Q, with the same columns.
    n_permutations : int, default=499
        The number of random permutations, at least 19. The smallest possible p-value is
        1 / (n_permutations + 1).
    random_state : int, RandomState or None, default=0
        Seeds the permutations.
    groups : pair of array-like of shapes (n,) and (m,), optional
        Which rows belong together, such as those of a patient or of a time block: the labels of the numerator's rows
        and those of the denominator's, at least 5 different ones each. None stands for a sample of independent rows.
        No label may occur in both samples. Whole groups are permuted; see the notes for groups that differ in size.
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
        If columns label rows and were left out, many rows repeat others, although the data are not discrete, or groups
        differ in size and those of one sample are few.

    Notes
    -----
    Groups change places only if the mean size of those of one sample is at most 1.25 times that of the other, or within
    one standard deviation of it under random labels. If not, as for groups beside independent rows, a permuted sample
    of few large and many small groups would vary otherwise than either sample does: such a test finds next to nothing,
    or far too much. Then each group stays where it is, and what it adds to the difference gets a random sign, as in the
    wild bootstrap of Cameron, Gelbach and Miller [1]_. With fewer than six groups, or a few that have most rows, such a
    test hardly ever finds anything; a warning says so.

    References
    ----------
    .. [1] A. C. Cameron, J. B. Gelbach and D. L. Miller, "Bootstrap-Based Improvements for Inference with Clustered
       Errors", Review of Economics and Statistics 90, 2008.

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
    p, q, *_ = check_pair(numerator, denominator, Reading(missing, dates, grouped=groups is not None))
    group = _check_groups(groups, (len(p), len(q)))
    if groups is None:
        warn_of_repeats({"numerator": p, "denominator": q})
    random = np.random.default_rng(random_state_of(random_state).randint(2**31))
    rows = np.asarray(p, dtype=np.float64), np.asarray(q, dtype=np.float64)
    if not are_alike(np.arange(len(group)) < len(p), group):
        _warn_of_few_groups({"numerator": group[: len(p)], "denominator": group[len(p) :]})
        rows = _normal_scores(*rows)
    z, order = pooled_rows(*rows, random.spawn(1)[0])
    samples = reassigned(order < len(p), group[order], n_permutations, random)
    return TwoSampleResult(*decide(contrast_statistics(z, samples, random), WEIGHTS), sizes=(len(p), len(q)))


def _warn_of_few_groups(groups: dict[str, Ints]) -> None:
    for name, group in groups.items():
        if (count := effective_groups(group)) < _FEW_GROUPS:
            warn(
                f"The rows of the {name} are worth only {count:.1f} groups of equal size, and its groups are not like "
                f"those of the other sample: the test finds large differences only. Give more groups, or groups of "
                f"similar sizes in both samples.",
                DegenerateDataWarning,
            )


def _normal_scores(p: Floats, q: Floats) -> tuple[Floats, Floats]:
    """Return the normal scores of the pooled columns: random signs need contributions without heavy tails."""
    pooled = np.concatenate([p, q])
    scores = ndtri(mean_ranks(pooled) / (len(pooled) + 1))
    return scores[: len(p)], scores[len(p) :]


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
