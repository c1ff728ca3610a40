"""Rows that were made by interpolation between two neighbours, as oversampling by SMOTE does.

Such a row lies exactly on the line between two others. In continuous data of two or more columns that does not happen
by chance. It happens in discrete columns, so these are not looked at, and where the data themselves lie on lines, or
nearly so: a row is then between many pairs of neighbours. An interpolated row tells nothing that its two neighbours do
not tell. It becomes part of their weights, in proportion to its closeness.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from vwkde._compute import parallel
from vwkde._data.copies import has_even_steps
from vwkde._data.merging import Merging
from vwkde._data.validation import Array

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_NEIGHBOURS = 40
"""Neighbours among which the two ends of a line are looked for."""
_STRAIGHT = 5e-11
"""Largest 1 + cos of the angle at a row between two ends of a line: within 1e-5 of a straight line."""
_NEARLY_STRAIGHT = 1e4 * _STRAIGHT
"""The same for pairs within 1e-3 of a straight line: at least a hundred times as many as straight ones, by chance."""
_MOST_LINES, _MOST_NEARLY = 6, 3
"""A row between more pairs than this is on a line of the data themselves, or where these are so flat, as next to
outliers and in heavy tails, that some pairs are straight by chance."""
_LEAST_SHARE = 0.04
"""Share of interpolated rows from which they are taken for such."""
_MOST_QUERIES = 200
"""Rows that are looked at first; all rows follow only if these show interpolated ones."""
_PLACES, _ROWS_AROUND = 20, 20_000
"""Of many rows, those are looked at first that are closest to some, and neighbours of these are looked for around."""
_AT_ONCE = 500


class _Between(NamedTuple):
    """Rows between two others: their numbers, those of the two ends, and the share of the first end."""

    rows: Ints
    ends: Ints
    share: Floats


def merge_interpolated(x: Floats, given: Array, order: Ints) -> Merging | None:
    """Return how interpolated rows become the weight of their neighbours; None if there are few or none.

    `x` are the rows in whitened coordinates, `given` in those of the data, where discrete columns show, and `order` is
    their canonical order.
    """
    rows, columns = x.shape
    if columns < 2 or rows < 2 * _NEIGHBOURS or _share_of_some(x, order) < _LEAST_SHARE:
        return None
    if any(parallel.run(has_even_steps, list(given.T))):
        return None
    return _merged(_without_chains(x, cKDTree(x)), rows)


def _share_of_some(x: Floats, order: Ints) -> float:
    """Return the share of interpolated rows among some."""
    if len(x) <= _ROWS_AROUND:
        some = order[np.unique(np.linspace(0, len(x) - 1, _MOST_QUERIES).astype(np.intp))]
        return len(_rows_between(x, cKDTree(x), some).rows) / len(some)
    closest = _MOST_QUERIES // _PLACES

    def count_at(around: Ints, place: Floats) -> int:
        rows = x[around]
        rows = rows[np.argpartition(_squared_distances(rows, place[None])[0], closest)]
        tree = cKDTree(rows, leafsize=len(rows))  # for so few queries it is faster not to split the rows
        return len(_rows_between(rows, tree, np.arange(closest)).rows)

    places = x[order[np.linspace(0, len(x) - 1, _PLACES).astype(np.intp)]]
    each = list(zip(_rows_around(x, places), places, strict=True))
    return sum(parallel.run(lambda one: count_at(*one), each)) / (_PLACES * closest)


def _rows_around(x: Floats, places: Floats) -> list[Ints]:
    """Return the closest rows to each place: about `_ROWS_AROUND`, by the distances of some rows."""
    every = len(x) // _ROWS_AROUND
    some = _squared_distances(x[::every], places)
    count = min(max(_ROWS_AROUND // every, _NEIGHBOURS), some.shape[1] - 1)
    farthest = np.partition(some, count, axis=1)[:, count]

    def work(rows: slice) -> list[Ints]:
        inside = np.flatnonzero(_squared_distances(x[rows], places) <= farthest[:, None])
        ends = np.searchsorted(inside, (rows.stop - rows.start) * np.arange(1, len(places)))
        parts = np.split(inside, ends)  # at once for all places: the search holds the interpreter's lock
        return [part + (rows.start - (rows.stop - rows.start) * number) for number, part in enumerate(parts)]

    parts = parallel.run_over_rows(work, len(x), parallel.rows_at_a_time(len(places)))
    return [np.concatenate(of_place) for of_place in zip(*parts, strict=True)]


def _squared_distances(x: Floats, places: Floats) -> Floats:
    """Return the squared distances of rows from places, (places, rows), up to a constant for each place."""
    return np.asarray(np.einsum("ij,ij->i", x, x) - 2 * (places @ x.T))


def _without_chains(x: Floats, tree: cKDTree) -> _Between:
    """Return the interpolated rows between rows that are not interpolated themselves."""
    rows = np.arange(len(x))
    found = _rows_between(x, tree, rows)
    return _rows_between(x, tree, found.rows, np.isin(rows, found.rows))


def _rows_between(x: Floats, tree: cKDTree, rows: Ints, excluded: NDArray[np.bool_] | None = None) -> _Between:
    """Return those of some rows that are on a line between two neighbours, with the ends that are farthest apart."""
    parts = [_in_block(x, tree, rows[at : at + _AT_ONCE], excluded) for at in range(0, len(rows), _AT_ONCE)]
    return _Between(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _in_block(x: Floats, tree: cKDTree, rows: Ints, excluded: NDArray[np.bool_] | None) -> _Between:
    distance, near = tree.query(x[rows], _NEIGHBOURS + 1)
    steps = x[near] - x[rows, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        unit = steps / distance[:, :, None]
    bend = 1 + unit @ unit.transpose(0, 2, 1)
    straight = bend < _STRAIGHT  # not true of the row itself, which has no direction
    lines = straight.sum(axis=(1, 2)) // 2
    nearly = (bend < _NEARLY_STRAIGHT).sum(axis=(1, 2)) // 2 - lines
    if excluded is not None:
        straight &= ~excluded[near][:, :, None] & ~excluded[near][:, None, :]
    length = np.where(straight, distance[:, :, None] + distance[:, None, :], 0.0).reshape(len(rows), -1)
    first, second = np.divmod(length.argmax(axis=1), _NEIGHBOURS + 1)
    chosen = np.flatnonzero((length.max(axis=1) > 0) & (lines <= _MOST_LINES) & (nearly <= _MOST_NEARLY))
    ends = np.column_stack([near[chosen, first[chosen]], near[chosen, second[chosen]]])
    to_second = distance[chosen, second[chosen]]
    return _Between(rows[chosen], ends, to_second / (distance[chosen, first[chosen]] + to_second))


def _merged(between: _Between, rows: int) -> Merging:
    kept = np.setdiff1d(np.arange(rows), between.rows)
    place = np.full(rows, -1)
    place[kept] = np.arange(len(kept))
    given = np.concatenate([kept, between.rows, between.rows])
    target = place[np.concatenate([kept, *between.ends.T])]
    shares = np.concatenate([np.ones(len(kept)), between.share, 1 - between.share])
    return Merging(kept, csr_array((shares, (given, target)), shape=(rows, len(kept))))
