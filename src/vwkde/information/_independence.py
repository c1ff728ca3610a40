"""Whether X and Y are independent: a permutation test.

Each statistic is the squared size of the covariances between features of X and features of Y:

- the columns themselves, in normal scores, for relations that rise or fall;
- the columns and their squares and products, for spreads and tails that go together;
- the leading components of a kernel: the negative distance, which gives the distance covariance, and a Gaussian, which
  is narrower and sees waves and rings.

The rows of Y are permuted. Features depend on X alone or on Y alone, so the level is exact for any of them, with any
number of rows and columns, and also with ties.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from vwkde._answers.permutation import check_permutations, decide
from vwkde._coordinates.axes import white
from vwkde._coordinates.normal_scores import fit_normal_scores
from vwkde._data.groups import FEWEST_GROUPS, check_groups
from vwkde._data.reading import Reading
from vwkde._data.validation import Array
from vwkde._display.p_values import PermutationResult
from vwkde._display.waiting import shown_while_waiting
from vwkde._models.distances import median_distance
from vwkde._runtime.random_states import random_state_of
from vwkde.information._mutual import check_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_WEIGHTS = {"correlations": 6.0, "distances": 6.0, "moments": 1.0, "kernels": 1.0}
"""Weights of the statistics. Relations that rise or fall are the most common, so what sees them best counts most."""
_MOST_ROWS = 4_000
_MOST_COLUMNS = 20
"""Columns up to which products of two columns are features, in addition to squares."""
_LANDMARKS, _COMPONENTS = 400, 50
"""Rows whose kernel gives components, and how many of these are used."""
_THINNEST = 1e-10
"""Variance, relative to the largest, below which a component of a kernel does not vary."""


@dataclass(frozen=True)
class IndependenceResult(PermutationResult):
    """The result of a test of independence.

    Parameters
    ----------
    p_value : float
        The p-value of all statistics combined: the one to decide by.
    p_values : dict of str to float
        The p-value of each statistic on its own: "correlations", "moments", "distances" and "kernels".
    n_permutations : int
        The number of random permutations of the rows of Y.
    statistics : dict of str to float
        The value of each statistic: the squared size of the covariances between features of X and features of Y.
    sizes : tuple of int
        The number of rows, as the only entry.

    Examples
    --------
    >>> from vwkde import IndependenceResult
    >>> print(IndependenceResult(0.01, {"correlations": 0.3, "distances": 0.004}, 499))
    test of independence: p = 0.01 (499 permutations)
      on their own: correlations 0.3, distances 0.004
    """

    _name = "test of independence"


@shown_while_waiting
def independence_test(
    X: Any,
    Y: Any,
    *,
    n_permutations: int = 499,
    random_state: Any = 0,
    groups: Any = None,
    missing: Literal["refuse", "indicator"] = "refuse",
    dates: Literal["refuse", "number", "drop"] = "refuse",
) -> IndependenceResult:
    """Test whether X and Y are independent.

    If they are, the p-value is at most α with probability at most α, for any number of rows and columns. Rows must be
    independent of each other; if they are not, give the groups of rows that belong together. Of more than 4,000 rows,
    as many are drawn at random.

    Parameters
    ----------
    X : array-like of shape (n, d) or (n,)
        An array, table, CPU tensor or path, as in `mutual_information`.
    Y : array-like of shape (n, e) or (n,)
        The same number of rows: row i of Y belongs to row i of X.
    n_permutations : int, default=499
        The number of random permutations of the rows of Y, at least 19. The smallest possible p-value is
        1 / (n_permutations + 1).
    random_state : int, RandomState or None, default=0
        Seeds the permutations.
    groups : array-like of shape (n,), optional
        Which rows belong together, such as those of a patient or of a time block: the label of each row. The rows of
        Y of a whole group are exchanged with those of another group of the same size, in their order. At least 5 groups
        must have the same size as another one.
    missing : {"refuse", "indicator"}, default="refuse"
        What missing values do, as in `DensityRatio`.
    dates : {"refuse", "number", "drop"}, default="refuse"
        What columns of dates or times do, as in `DensityRatio`.

    Returns
    -------
    IndependenceResult
        The p-value of all statistics combined, that of each statistic, the statistics and the number of rows.

    Raises
    ------
    ValueError
        If `n_permutations` is too small, X and Y cannot be used or differ in their number of rows, or too few groups
        can be exchanged.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=200)
    >>> y = x**2 + rng.normal(size=200)
    >>> vwkde.independence_test(x, y).p_value <= 0.01
    True
    """
    count = check_permutations(n_permutations, "independence_test")
    x, y = check_rows(Reading(missing, dates), X=X, Y=Y)
    rows = len(x)
    random = np.random.default_rng(random_state_of(random_state).randint(2**31))
    group = check_groups(groups, len(x), "independence_test")
    if group is not None:
        _refuse_if_fixed(group)
    elif len(x) > _MOST_ROWS:
        kept = np.sort(random.permutation(len(x))[:_MOST_ROWS])
        x, y = x[kept], y[kept]
    orders = np.array([np.arange(len(x)), *(_permuted(len(x), group, random) for _ in range(count))])
    of_x, of_y = (_features(values, each) for values, each in zip((x, y), random.spawn(2), strict=True))
    statistics = {name: _statistic(of_x[name], of_y[name], orders) for name in _WEIGHTS}
    return IndependenceResult(*decide(statistics, _WEIGHTS), sizes=(rows,))


def _refuse_if_fixed(group: Ints) -> None:
    sizes, number = np.unique(np.bincount(group), return_counts=True)
    movable = int(number[(number > 1) & (sizes > 0)].sum())
    if movable < FEWEST_GROUPS:
        raise ValueError(
            f"The 'groups' parameter of independence_test must have at least {FEWEST_GROUPS} groups with the same "
            f"number of rows as another one, since whole groups are exchanged. Got {movable} instead; drop rows, or "
            f"use groups of equal size."
        )


def _permuted(rows: int, group: Ints | None, random: np.random.Generator) -> Ints:
    """Return an order of the rows in which whole groups of equal sizes are exchanged."""
    if group is None:
        return random.permutation(rows)
    order, members = np.arange(rows), [np.flatnonzero(group == each) for each in np.unique(group)]
    sizes = np.array([len(each) for each in members])
    for size in np.unique(sizes):
        alike = np.flatnonzero(sizes == size)
        for here, there in zip(alike, random.permutation(alike), strict=True):
            order[members[here]] = members[there]
    return order


def _statistic(x: Floats, y: Floats, orders: Ints) -> Floats:
    """Return the squared size of the covariances between features, for each order of the rows of Y."""
    return np.array([((x.T @ y[order] / len(x)) ** 2).sum() for order in orders])


def _features(values: Array, random: np.random.Generator) -> dict[str, Floats]:
    """Return the features of X, or of Y, by statistic; all have mean zero."""
    z = _white_scores(values)
    near = median_distance(z[:: max(1, len(z) // 1_000)]) or 1.0
    landmarks = z[np.sort(random.permutation(len(z))[:_LANDMARKS])]
    return {
        "correlations": z,
        "moments": _moments(z),
        "distances": _components(z, landmarks, lambda d: -d),
        "kernels": _components(z, landmarks, lambda d: np.exp(-2 * (d / near) ** 2)),
    }


def _white_scores(values: Array) -> Floats:
    """Return normal scores of the columns, white as far as the rows determine their correlations."""
    ones = np.ones(len(values))
    z = white(fit_normal_scores(values, values, (ones, ones))(values))
    return z if z.shape[1] else np.zeros((len(values), 1))


def _moments(z: Floats) -> Floats:
    """Return the columns, their squares and, unless there are many, their products, all with variance one."""
    i, j = np.triu_indices(z.shape[1]) if z.shape[1] <= _MOST_COLUMNS else (np.arange(z.shape[1]),) * 2
    features = np.concatenate([z, z[:, i] * z[:, j]], axis=1)
    features = features - features.mean(axis=0)
    spread = features.std(axis=0)
    return np.asarray(features / np.where(spread > 0, spread, 1.0))


def _components(z: Floats, landmarks: Floats, kernel: Callable[[Floats], Floats]) -> Floats:
    """Return the leading components of a centred kernel, as far as the landmarks show them."""
    among = kernel(cdist(landmarks, landmarks))
    level = among.mean(axis=0)
    values, vectors = np.linalg.eigh(among - level - level[:, None] + level.mean())
    leading = np.argsort(values)[::-1][:_COMPONENTS]
    leading = leading[values[leading] > _THINNEST * max(values[-1], np.finfo(np.float64).tiny)]
    at = kernel(cdist(z, landmarks)) - level
    features = at @ (vectors[:, leading] / np.sqrt(values[leading]))
    return np.asarray(features - features.mean(axis=0))
