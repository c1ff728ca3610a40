"""Boosted trees of few rows, without scikit-learn, which takes longer to load than all the models of few rows to fit.

They are the trees that scikit-learn's HistGradientBoostingClassifier grows, leaf by leaf, on columns of whole numbers:
the leaf whose split lowers the loss most is split next. In each leaf, slopes, curvatures and numbers of rows are summed
by column and value; the sums of the larger of two new leaves are what the smaller one leaves.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.guides.regression import rows_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_RATE, _RIDGE, _FEWEST = 0.1, 1.0, 20
"""How much of each tree counts, the ridge on the values of its leaves, and the fewest rows in a leaf."""
_AT_A_TIME = 2**12
"""Rows whose leaves in all trees are found at once."""


class Plan(NamedTuple):
    """How many trees of how many leaves are grown, and how many values a column has at most, counted from zero."""

    rounds: int
    leaves: int
    steps: int


@dataclass(frozen=True)
class FewTrees:
    """A guide from trees, by number of the tree and of the split: `values` are those of the leaves.

    All rows start in leaf 0. Split k takes those rows out of leaf `parents` that have more than `steps` in column
    `columns`, and puts them into leaf k + 1. The log odds are kept within `most` of zero.
    """

    start: float
    parents: Ints
    columns: Ints
    steps: Ints
    values: Floats
    most: float

    def __call__(self, x: Floats) -> Floats:
        """Return the log odds."""
        parts = [self._log_odds(x[rows]) for rows in parallel.split(len(x), _AT_A_TIME)]
        return np.clip(np.concatenate([np.zeros(0), *parts]), -self.most, self.most)

    def _log_odds(self, x: Floats) -> Floats:
        by_column = np.ascontiguousarray(x.T)
        leaf = np.zeros((len(self.values), len(x)), dtype=np.intp)
        for split, (parent, column, step) in enumerate(zip(self.parents.T, self.columns.T, self.steps.T, strict=True)):
            np.putmask(leaf, (leaf == parent[:, None]) & (by_column[column] > step[:, None]), split + 1)
        return np.asarray(self.start + np.take_along_axis(self.values, leaf, axis=1).sum(axis=0))


def fit_few_trees(plan: Plan, numerator: Sample, denominator: Sample) -> FewTrees:
    """Fit trees to two samples of whole numbers; both have equal weight."""
    sign, weight = rows_of(numerator, denominator)
    table = _Table(np.concatenate([numerator.points, denominator.points]).astype(np.intp), plan)
    is_numerator = sign > 0
    share = weight[is_numerator].sum() / weight.sum()
    start = float(np.log(share / (1 - share)))
    log_odds, trees = np.full(len(sign), start), []
    for _ in range(plan.rounds):
        chance = expit(log_odds)
        slope, curvature = weight * (chance - is_numerator), weight * chance * (1 - chance)
        # in single precision, as scikit-learn has them: splits that are equally good are then equal there and here
        tree = table.grow(np.stack([slope, curvature, np.ones(len(sign))]).astype(np.float32))
        log_odds += tree.at_rows
        trees.append(tree)
    parents, columns, steps = np.array([tree.splits for tree in trees], dtype=np.intp).transpose(2, 0, 1)
    values = np.array([tree.values for tree in trees])
    return FewTrees(start, parents, columns, steps, values, float(np.log(2 * len(sign) - 1)))


class _Tree(NamedTuple):
    """The splits of a tree, each a parent, a column and a step, the values of its leaves, and those at the rows."""

    splits: list[tuple[int, int, int]]
    values: list[float]
    at_rows: Floats


class _Leaf(NamedTuple):
    """The rows of a leaf, their sums by column and step, its value, and its best split: what it gains and where."""

    rows: Ints
    sums: Floats
    value: float
    gain: float
    place: int


class _Table:
    """The rows that trees are grown on, and how many steps each column has."""

    def __init__(self, x: Ints, plan: Plan) -> None:
        self.by_column = np.ascontiguousarray(x.T)
        self.plan = plan
        self.places = x + plan.steps * np.arange(x.shape[1])

    def grow(self, terms: NDArray[np.float32]) -> _Tree:
        """Grow a tree by slopes, curvatures and ones, (3, rows)."""
        most, steps = self.plan.leaves, self.plan.steps
        rows = np.arange(self.by_column.shape[1])
        leaves, splits = self._leaves([rows], self._sums(rows, terms)[None]), []
        while len(leaves) < most:
            parent = max(range(len(leaves)), key=lambda leaf: leaves[leaf].gain)
            if leaves[parent].gain <= 0:
                break
            column, step = divmod(leaves[parent].place, steps)
            splits.append((parent, column, step))
            leaves[parent], new = self._split(leaves[parent], self.by_column[column] > step, terms)
            leaves.append(new)
        at_rows = np.empty(len(rows))
        for leaf in leaves:
            at_rows[leaf.rows] = leaf.value
        none = most - len(leaves)  # splits that no row goes beyond, so that all trees have equally many
        return _Tree(splits + none * [(0, 0, steps)], [leaf.value for leaf in leaves] + none * [0.0], at_rows)

    def _split(self, leaf: _Leaf, above: NDArray[np.bool_], terms: NDArray[np.float32]) -> list[_Leaf]:
        """Return the two parts of a leaf."""
        up = above[leaf.rows]
        parts = [leaf.rows[~up], leaf.rows[up]]
        smaller = int(len(parts[1]) < len(parts[0]))
        sums = self._sums(parts[smaller], terms)
        both = [sums, leaf.sums - sums] if smaller == 0 else [leaf.sums - sums, sums]
        return self._leaves(parts, np.stack(both))

    def _sums(self, rows: Ints, terms: NDArray[np.float32]) -> Floats:
        """Return the sums of the terms over rows, by column and step, (3, columns, steps)."""
        columns, at = self.places.shape[1], self.places[rows].ravel()
        sums = np.empty((len(terms), columns, self.plan.steps))
        for each, term in zip(sums, terms, strict=True):
            each[...] = np.bincount(at, np.repeat(term[rows], columns), each.size).reshape(each.shape)
        return sums

    def _leaves(self, rows: list[Ints], sums: Floats) -> list[_Leaf]:
        """Return leaves with these rows and sums, (leaves, 3, columns, steps)."""
        below = sums.cumsum(axis=3)
        whole = below[:, :, 0, -1]
        above = whole[:, :, None, None] - below
        falls = _fall(below) + _fall(above)
        falls[np.minimum(below[:, 2], above[:, 2]) < _FEWEST] = 0.0
        falls = falls.reshape(len(rows), -1)
        places = falls.argmax(axis=1)
        gain = falls[np.arange(len(rows)), places] - _fall(whole)
        values = -_RATE * whole[:, 0] / (whole[:, 1] + _RIDGE)
        return [_Leaf(*each) for each in zip(rows, sums, values.tolist(), gain.tolist(), places.tolist(), strict=True)]


def _fall(sums: Floats) -> Floats:
    """Return by how much, doubled, the value of a leaf with these sums lowers the loss."""
    return np.asarray(sums[:, 0] ** 2 / (sums[:, 1] + _RIDGE))
