"""The joint test: whether anything changed, in any column or in how columns go together."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.contrasts import contrast_statistics, pooled_rows
from vwkde._answers.permutation import decide
from vwkde._answers.reassignments import Permuted, permuted_labels
from vwkde.monitoring._columns import Column, bins_of
from vwkde.monitoring._marginal import column_scores
from vwkde.monitoring._pairs import pair_scores
from vwkde.monitoring._scores import adjusted_p_values, own_p_values

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_WEIGHTS = {"means": 4.0, "energy": 4.0, "covariances": 1.0, "kernels": 1.0, "columns": 16.0, "pairs": 12.0}
"""Weights of the statistics in the joint test, by how often a drift is of the kind that they see best: mostly it is in
few columns, and a shift of many columns is seen by several of them."""
_FIRST = 499
"""Permutations that are always drawn."""
_PER_LEVEL = 2
"""The smallest possible p-value is the level divided by this, or less."""
_FAR = 5.0
"""Multiple of the level from which a p-value needs no more permutations."""


@dataclass(frozen=True)
class JointTest:
    """The p-values of the joint test, of its parts, of each column and of each pair of columns."""

    p_value: float
    parts: dict[str, float]
    n_permutations: int
    column_p_values: Floats
    column_adjusted: Floats
    pairs: dict[tuple[int, int], float]
    """Adjusted p-values."""


def joint_test(
    columns: list[Column], encoded: tuple[Floats, Floats], group: Ints, level: float, random: Any
) -> JointTest:
    """Test whether two tables come from one distribution; `encoded` are the same rows as numbers.

    A small level needs many permutations. They are drawn only if the first ones do not settle the question, which
    leaves the level exact: a test that stops early is not significant.
    """
    seed = random.integers(2**31)
    needed = max(_FIRST, int(np.ceil(_PER_LEVEL / level)) - 1)
    for count in sorted({_FIRST, needed}):
        test = _test(columns, encoded, group, count, np.random.default_rng(seed))
        if test.p_value > _FAR * level:
            break
    return test


def nothing_to_test(columns: int) -> JointTest:
    """Return the test of tables in which all rows are equal."""
    return JointTest(1.0, {}, 0, np.ones(columns), np.ones(columns), {})


def _test(
    columns: list[Column], encoded: tuple[Floats, Floats], group: Ints, count: int, random: np.random.Generator
) -> JointTest:
    reference, current = encoded
    z, order = pooled_rows(reference, current, random.spawn(1)[0])
    labels = permuted_labels(order < len(reference), group[order], count, random)
    in_place = np.empty_like(labels)
    in_place[order] = labels
    marginal = column_scores([bins_of(column) for column in columns], in_place)
    pairs = pair_scores(columns, in_place, random)
    statistics = contrast_statistics(z, Permuted(labels), random) | {"columns": marginal.max(axis=0)}
    adjusted: dict[tuple[int, int], float] = {}
    if pairs:
        together = np.stack(list(pairs.values()))
        statistics["pairs"] = together.max(axis=0)
        adjusted = dict(zip(pairs, adjusted_p_values(together).tolist(), strict=True))
    p_value, parts, *_ = decide(statistics, _WEIGHTS)
    return JointTest(p_value, parts, count, own_p_values(marginal), adjusted_p_values(marginal), adjusted)
