"""The guide named "boxes": a table of the ratio in the cells between edges that a few columns show only together.

Trees split one column at a time, where the samples differ most. If the ratio jumps between boxes so that no column
shows a difference alone, they do not know where to begin. So the edges of a column are looked for with all others at
once: these are cut into coarse cells, and an edge is where the shares of the two samples change in any of the cells.
That is a regression tree on one column with one output for each cell. Once the edges of all columns are known, each
column is looked at again, with the cells between the edges of the others.
"""

from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from vwkde._data.sample import Sample, effective_rows
from vwkde._models.guides.kind import Fit
from vwkde._models.guides.regression import Rows, rows_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Edges = tuple[Floats, ...]
"""The edges of each column, in increasing order."""

_FEWEST_COLUMNS, _MOST_COLUMNS = 2, 6
"""Of one column trees find all edges; of many, hardly any row is in the same cell of the others as another one."""
_COARSE_CELLS, _MOST_CELLS = 32, 64
"""Cells into which all columns but one are cut, at first and at most."""
_STEPS, _ROWS_PER_STEP = 4_000, 20
"""Steps of a column between which an edge is looked for: at most so many, with so many rows in each."""
_INTERVALS, _NARROWEST = 12, 0.01
"""Intervals of a column at most, and the least share of the rows in one."""
_BY_CHANCE = 1e-5
"""Probability that a split lowers the squared error as far as an edge must, if there is none at this place."""
_ROWS_PER_CELL = 20
"""Rows of the smaller sample for each cell of the table: to have as many, the least clear edges are left out."""
_UNSEEN = 0.5
"""Rows of each sample that are added to every cell: where there are none, the ratio is one."""


@dataclass(frozen=True)
class Boxes:
    """A guide that is constant in each cell between edges; `log_ratio` are its values, the last column's first."""

    edges: Edges
    log_ratio: Floats

    def __call__(self, x: Floats) -> Floats:
        """Return the log ratios."""
        return self.log_ratio[_cells(x, self.edges)]


class _Edge(NamedTuple):
    """An edge: by how much it lowers the squared error, the number of its column, and its place there."""

    gain: float
    column: int
    place: float


def have_few_columns(_numerator: Sample, denominator: Sample) -> bool:
    """Return whether there are several columns, and so few that boxes of all of them have rows."""
    return _FEWEST_COLUMNS <= denominator.points.shape[1] <= _MOST_COLUMNS and denominator.pairs is None


def boxes_forms(_numerator: Sample, _denominator: Sample) -> tuple[Fit, ...]:
    """Return the only way to fit the guide."""
    return (fit_boxes,)


def fit_boxes(numerator: Sample, denominator: Sample) -> Boxes:
    """Find the edges, and count the rows of both samples between them; both samples have equal weight."""
    samples = numerator, denominator
    x, rows = np.concatenate([numerator.points, denominator.points]), rows_of(*samples)
    most_cells = min(sample.effective_rows for sample in samples) / _ROWS_PER_CELL
    columns = range(x.shape[1])
    parts = int(_COARSE_CELLS ** (1 / max(1, len(columns) - 1)))
    coarse = tuple(_quantiles(column, parts) for column in x.T)
    first = [_edges_of(column, x, rows, coarse) for column in columns]
    known = _strongest(first, most_cells)
    cut = tuple(own if len(own) else other for own, other in zip(known, coarse, strict=True))
    again = [
        _edges_of(column, x, rows, cut) if _count(cut, column) <= _MOST_CELLS else first[column] for column in columns
    ]
    return _table(_strongest(again, most_cells), samples)


def _table(edges: Edges, samples: tuple[Sample, Sample]) -> Boxes:
    """Return the log ratios of the shares that both samples have in each cell."""
    shares = [np.bincount(_cells(s.points, edges), s.weight / s.weight.sum(), _count(edges)) for s in samples]
    p, q = (share * s.effective_rows + _UNSEEN for share, s in zip(shares, samples, strict=True))
    return Boxes(edges, np.log(p / p.sum()) - np.log(q / q.sum()))


def _edges_of(column: int, x: Floats, rows: Rows, edges: Edges) -> list[_Edge]:
    """Return where in a column the samples' shares change in some of the cells between the edges of the others."""
    from sklearn.tree import DecisionTreeRegressor  # only now: estimates of few rows do not wait for it

    steps = _quantiles(x[:, column], min(_STEPS, len(x) // _ROWS_PER_STEP))
    at, cell = np.searchsorted(steps, x[:, column]), _cells(x, edges, column)
    outputs = _count(edges, column)
    total = np.bincount(at, rows.weight, len(steps) + 1)
    sums = np.bincount(at * outputs + cell, rows.weight * rows.sign, len(total) * outputs).reshape(-1, outputs)
    filled = np.flatnonzero(total)
    # without an edge, a split lowers the error of each output by that of one row, times a squared normal number
    in_cells = effective_rows(np.bincount(cell, rows.weight, outputs).astype(np.float64))
    by_chance = chdtri(in_cells, _BY_CHANCE) / in_cells / effective_rows(rows.weight)
    tree = DecisionTreeRegressor(
        max_leaf_nodes=_INTERVALS,
        min_weight_fraction_leaf=_NARROWEST,
        min_impurity_decrease=by_chance / outputs,  # scikit-learn takes the mean over the outputs
        random_state=0,
    )
    tree.fit(filled[:, None], sums[filled] / total[filled, None], total[filled])
    return [_Edge(gain * outputs, column, float(steps[int(step)])) for step, gain in _splits(tree.tree_)]


def _splits(tree: Any) -> list[tuple[float, float]]:
    """Return where a tree of scikit-learn splits, and by how much each split lowers the mean of its outputs' errors."""
    inner = np.flatnonzero(tree.children_left >= 0)
    error = tree.impurity * tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    gains = error[inner] - error[tree.children_left[inner]] - error[tree.children_right[inner]]
    return list(zip(tree.threshold[inner].tolist(), gains.tolist(), strict=True))


def _strongest(by_column: list[list[_Edge]], most_cells: float) -> Edges:
    """Return the edges of each column that lower the error most and leave at most so many cells."""
    places: list[list[float]] = [[] for _ in by_column]
    for edge in sorted((edge for own in by_column for edge in own), reverse=True):
        places[edge.column].append(edge.place)
        if prod(len(own) + 1 for own in places) > most_cells:
            places[edge.column].pop()
    return tuple(np.sort(own) for own in places)


def _quantiles(column: Floats, parts: int) -> Floats:
    """Return values that divide a column into so many parts, or into fewer if many are equal."""
    return np.unique(np.quantile(column, np.linspace(0, 1, parts + 1)[1:-1], method="lower"))


def _count(edges: Edges, without: int | None = None) -> int:
    """Return how many cells there are between edges, if those of one column are left out."""
    return prod(len(own) + 1 for column, own in enumerate(edges) if column != without)


def _cells(x: Floats, edges: Edges, without: int | None = None) -> Ints:
    """Return the number of the cell that each row is in; a row on an edge is below it."""
    cell = np.zeros(len(x), dtype=np.intp)
    for column, own in enumerate(edges):
        if column != without:
            cell = cell * (len(own) + 1) + np.searchsorted(own, x[:, column])
    return cell
