"""Which columns carry the difference: Shapley values over the fitted ratio.

What tells the tables apart is t(x) = tanh(u(x)/2), where u is the fitted log ratio: the probability that row x is of
the current table, less that it is of the reference. Its mean square is the triangular discrimination of the two tables,
which is between 1/log 2 and 2 times the Jensen–Shannon divergence. Of some columns S alone, E[t | x_S] takes the place
of t, whichever columns the fit happened to use. So a regression of t on the columns of S tells how much S knows, and
the Shapley value of a column is its share, averaged over the orders in which columns may be learnt.

Columns that say the same, such as copies, are one player: each of them has the share of all, and none hides another.
"""

from collections.abc import Callable
from itertools import combinations
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from vwkde.monitoring._columns import Column, features_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_REDUNDANT = 0.8
"""Share of the variation of a column's basis that another one explains, from which both say the same."""
_MOST_PLAYERS = 10
"""Groups of columns that share: the subsets of more would take too long, and more hardly ever matter."""
_RIDGE = 1e-6
"""Relative to the mean variance of a basis."""
_MOST_KNOTS = 6
_ROWS_PER_FUNCTION = 100
"""Rows from which another function in the basis of a column can be learnt."""
_NOTHING = 1e-6
"""Mean square of t below which the fitted ratio is one everywhere."""


class Shares(NamedTuple):
    """Columns that say the same, the share of each such group, and how much of t pairs of columns explain."""

    groups: list[list[int]]
    share: Floats
    explained: float


def shares_of(columns: list[Column], at_reference: Floats, at_current: Floats) -> Shares | None:
    """Return the shares from the log ratios at both tables' rows; None if the fitted ratio is one everywhere."""
    half = [np.full(len(side), 0.5 / len(side)) for side in (at_reference, at_current)]
    root = np.sqrt(np.concatenate(half))[:, None]
    t = np.tanh(np.concatenate([at_reference, at_current]) / 2)[:, None]
    if float((root**2 * t**2).sum()) < _NOTHING:
        return None
    t = _weighted(t, root)
    bases = [_weighted(_basis(column, len(t)), root) for column in columns]
    groups = _groups(bases)
    features = [_weighted(_curved(features_of(columns[group[0]])), root) / root for group in groups]
    mains = [np.concatenate([bases[column] for column in group], axis=1) for group in groups]
    players = _players(mains, features, t, root)
    known = _Known([mains[p] for p in players], [features[p] for p in players], t, root)
    value = np.zeros(len(groups))
    value[players] = np.maximum(_shapley(known.explained, len(players)), 0.0)
    total = value.sum()
    share = value / total if total > 0 else value
    return Shares(groups, share, known.explained(tuple(range(len(players)))))


def _weighted(x: Floats, root: Floats) -> Floats:
    """Return functions centred under the weights, times the roots of the weights."""
    return np.asarray((x - (root**2 * x).sum(axis=0)) * root)


def _curved(features: Floats) -> Floats:
    """Return features and, of numbers, their squares: a pair may go together in its sizes, without signs."""
    return features if features.shape[1] != 1 else np.concatenate([features, features**2], axis=1)


def _basis(column: Column, rows: int) -> Floats:
    """Return functions of one column: linear between a few quantiles, or one for each common category."""
    values = column.pooled
    missing = np.isnan(values)
    count = int(np.clip(rows // _ROWS_PER_FUNCTION, 2, _MOST_KNOTS))
    if column.is_category or missing.all():
        basis = features_of(column)[:, :count]
    else:
        knots = np.unique(np.quantile(values[~missing], np.linspace(0, 1, count)))
        filled = np.where(missing, knots[0], values)
        hats = [np.interp(filled, knots, row) for row in np.eye(len(knots))[1:]]
        basis = np.stack(hats, axis=1) if hats else np.zeros((rows, 0))
    return np.concatenate([basis, missing[:, None].astype(np.float64)], axis=1) if missing.any() else basis


def _groups(bases: list[Floats]) -> list[list[int]]:
    """Return the columns in groups of those that say the same, by links between two of them."""
    whitened = [_white(basis) for basis in bases]
    group = list(range(len(bases)))
    for i, j in combinations(range(len(bases)), 2):
        smaller = min(whitened[i].shape[1], whitened[j].shape[1])
        if smaller and ((whitened[i].T @ whitened[j]) ** 2).sum() > _REDUNDANT * smaller:
            group = [group[i] if each == group[j] else each for each in group]
    return [[column for column, each in enumerate(group) if each == one] for one in dict.fromkeys(group)]


def _white(basis: Floats) -> Floats:
    left, values, _ = np.linalg.svd(basis, full_matrices=False)
    return np.asarray(left[:, values > 1e-6 * max(values.max(initial=0.0), 1e-12)])


def _players(mains: list[Floats], features: list[Floats], t: Floats, root: Floats) -> list[int]:
    """Return the groups that matter most: by what they explain alone, or by their best product with another."""
    alone = np.array([_explained(basis.T @ basis, basis.T @ t, t) for basis in mains])
    joined = np.concatenate(features, axis=1)
    owner = np.repeat(np.arange(len(features)), [each.shape[1] for each in features])
    products = (joined.T @ (joined * (t * root))) ** 2
    together = np.zeros((len(mains), len(mains)))
    np.add.at(together, (owner[:, None], owner[None, :]), products)
    np.fill_diagonal(together, 0.0)
    score = alone * float((t**2).sum()) + together.max(axis=1, initial=0.0)
    return [int(player) for player in np.argsort(-score, kind="stable")[:_MOST_PLAYERS]]


class _Known:
    """How much of t some players know: by functions of each, and products of two."""

    def __init__(self, mains: list[Floats], features: list[Floats], t: Floats, root: Floats) -> None:
        blocks = list(mains)
        self._owners: list[tuple[int, ...]] = [(player,) for player in range(len(mains))]
        for i, j in combinations(range(len(mains)), 2):
            products = features[i][:, :, None] * features[j][:, None, :]
            blocks.append(_weighted(products.reshape(len(t), -1), root))
            self._owners.append((i, j))
        self._sizes = [block.shape[1] for block in blocks]
        everything = np.concatenate(blocks, axis=1)
        self._gram, self._right, self._t = everything.T @ everything, everything.T @ t, t

    def explained(self, players: tuple[int, ...]) -> float:
        """Return the share of the mean square of t that functions of these players explain."""
        inside = np.repeat([set(owner) <= set(players) for owner in self._owners], self._sizes)
        return _explained(self._gram[np.ix_(inside, inside)], self._right[inside], self._t)


def _explained(gram: Floats, right: Floats, t: Floats) -> float:
    """Return the adjusted R² of a regression, at least zero."""
    functions, rows = len(gram), len(t)
    if not functions or not np.trace(gram) > 0 or rows <= functions + 1:
        return 0.0
    ridge = _RIDGE * np.trace(gram) / functions
    fitted = float(right[:, 0] @ solve(gram + ridge * np.eye(functions), right, assume_a="pos")[:, 0])
    unexplained = max(0.0, 1 - fitted / float((t**2).sum()))
    return max(0.0, 1 - unexplained * (rows - 1) / (rows - functions - 1))


def _shapley(value: Callable[[tuple[int, ...]], float], count: int) -> Floats:
    """Return the Shapley values of a few players, over all subsets."""
    subsets = [each for size in range(count + 1) for each in combinations(range(count), size)]
    values = {each: value(each) for each in subsets}
    result = np.zeros(count)
    for subset in subsets:
        for player in set(range(count)) - set(subset):
            weight = 1 / (count * comb(count - 1, len(subset)))
            result[player] += weight * (values[tuple(sorted((*subset, player)))] - values[subset])
    return result
