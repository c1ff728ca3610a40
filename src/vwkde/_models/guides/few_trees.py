"""Boosted trees of few rows, without scikit-learn, which takes longer to load than all the models of few rows to fit.

They are the trees that scikit-learn's HistGradientBoostingClassifier grows, leaf by leaf, on columns of whole numbers:
the leaf whose split lowers the loss most is split next. In each leaf, slopes, curvatures and numbers of rows are summed
by column and value; the sums of the larger of two new leaves are what the smaller one leaves.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from vwkde._compute import parallel
from vwkde._data.sample import Sample
from vwkde._models.guides.regression import rows_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

RATE, RIDGE, FEWEST = 0.1, 1.0, 20
"""How much of each tree counts, the ridge on the values of its leaves, and the fewest rows in a leaf."""
_TERMS = 3
"""What is summed: slopes, curvatures and ones."""
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
    is_numerator, start = sign > 0, log_odds_at_start(sign, weight)
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
    return FewTrees(start, parents, columns, steps, values, most_log_odds(len(sign)))


def log_odds_at_start(sign: Floats, weight: Floats) -> float:
    """Return the log odds before the first tree: those of the weights of both samples."""
    share = weight[sign > 0].sum() / weight.sum()
    return float(np.log(share / (1 - share)))


def most_log_odds(rows: int) -> float:
    """Return the largest log odds that so many rows can show."""
    return float(np.log(2 * rows - 1))


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
        rows, columns = x.shape
        self.by_column = np.ascontiguousarray(x.T)
        self.plan = plan
        self.shape = _TERMS, columns, plan.steps
        starts = plan.steps * np.arange(_TERMS * columns).reshape(_TERMS, columns)
        self.places = (x[:, None] + starts).reshape(rows, -1)

    def grow(self, terms: NDArray[np.float32]) -> _Tree:
        """Grow a tree by slopes, curvatures and ones, (3, rows)."""
        most, steps = self.plan.leaves, self.plan.steps
        rows = np.arange(self.by_column.shape[1])
        by_place = np.repeat(terms.T.astype(np.float64), len(self.by_column), axis=1)
        leaves, splits = self._leaves([rows], self._sums(rows, by_place)[None]), []
        while len(leaves) < most:
            parent = max(range(len(leaves)), key=lambda leaf: leaves[leaf].gain)
            if leaves[parent].gain <= 0:
                break
            column, step = divmod(leaves[parent].place, steps)
            splits.append((parent, column, step))
            leaves[parent], new = self._split(leaves[parent], self.by_column[column] > step, by_place)
            leaves.append(new)
        at_rows = np.empty(len(rows))
        for leaf in leaves:
            at_rows[leaf.rows] = leaf.value
        none = most - len(leaves)  # splits that no row goes beyond, so that all trees have equally many
        return _Tree(splits + none * [(0, 0, steps)], [leaf.value for leaf in leaves] + none * [0.0], at_rows)

    def _split(self, leaf: _Leaf, above: NDArray[np.bool_], by_place: Floats) -> list[_Leaf]:
        """Return the two parts of a leaf."""
        up = above[leaf.rows]
        parts = [leaf.rows[~up], leaf.rows[up]]
        smaller = int(len(parts[1]) < len(parts[0]))
        both = np.empty((2, *self.shape))
        both[smaller] = self._sums(parts[smaller], by_place)
        np.subtract(leaf.sums, both[smaller], out=both[1 - smaller])
        return self._leaves(parts, both)

    def _sums(self, rows: Ints, by_place: Floats) -> Floats:
        """Return the sums of the terms over rows, by column and step, (3, columns, steps)."""
        at, terms = self.places.take(rows, axis=0), by_place.take(rows, axis=0)
        sums: Any = np.bincount(at.ravel(), terms.ravel(), math.prod(self.shape))  # NumPy says that they are integers
        return sums.reshape(self.shape)

    def _leaves(self, rows: list[Ints], sums: Floats) -> list[_Leaf]:
        """Return leaves with these rows and sums, (leaves, 3, columns, steps)."""
        sides = np.empty((2, *sums.shape))  # at most a step, and above it
        below, above = sides
        sums.cumsum(axis=3, out=below)
        whole = below[:, :, 0, -1]
        np.subtract(whole[:, :, None, None], below, out=above)
        slope, curvature, count = sides[:, :, 0], sides[:, :, 1], sides[:, :, 2]
        falls = np.add(*_fall(slope, curvature))
        np.putmask(falls, np.minimum(*count) < FEWEST, 0.0)
        falls = falls.reshape(len(rows), -1)
        places = falls.argmax(axis=1).tolist()
        return [_leaf(*each) for each in zip(rows, sums, whole.tolist(), falls, places, strict=True)]


def _leaf(rows: Ints, sums: Floats, whole: list[float], falls: Floats, place: int) -> _Leaf:
    """Return the leaf with these rows and sums, given the falls of its splits and which is largest."""
    slope, curvature, _ = whole
    gain = float(falls[place]) - _fall(slope, curvature)
    return _Leaf(rows, sums, -RATE * slope / (curvature + RIDGE), gain, place)


def _fall(slope: Any, curvature: Any) -> Any:
    """Return by how much, doubled, the values of leaves with these sums lower the loss."""
    return slope * slope / (curvature + RIDGE)
