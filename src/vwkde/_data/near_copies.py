"""Near copies of rows inside a sample: repeated observations with a little noise.

They show in the distances d₁ ≤ d₂ ≤ … of a row from its nearest neighbours. If a sample has a density, whatever its
shape and the dimension m of the set that it lies on, the gaps k·log(d_{k+1}/d_k) are close to exponential with mean 1/m
for every k. A row with k near copies has a much larger gap at k; the mean of the gaps that follow gives 1/m.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from vwkde._compute import parallel
from vwkde._data.merging import Merging, merge_into

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_MOST_COPIES = 4
"""Largest number of near copies of a row that are looked for."""
_FOLLOWING = 6
"""Gaps whose mean gives the dimension."""
_NEIGHBOURS = _MOST_COPIES + _FOLLOWING + 1
_CLOSER = 0.3
"""Near copies are closer than this share of the distance to any other row."""
_CLEARLY = 20.0
"""Factor by which near copies must outnumber those that chance gives, and the smallest number of them."""
_LEAST_SHARE = 0.04
"""Share of the rows below which near copies change an answer less than its own error, and are left alone."""
_PAIRED, _NOISE = 1.5, 3.5
"""Mean of the first gap, relative to that of the following ones, from which rows come in pairs, and the allowance for
noise, in standard errors of that mean."""
_ROUNDING = 64 * np.finfo(np.float64).eps
"""Distances below this share of the largest coordinate are rounding errors, however different the numbers were."""
_FEWEST_ROWS = 2 * _NEIGHBOURS
_LARGEST = 20
"""Rows in a chain of near copies beyond which it is part of a dense region."""
_MOST_QUERIES, _MOST_ROWS = 500, 20_000
"""Rows whose neighbours are looked at first, and rows among which: all rows follow only if these show near copies."""


class Neighbours(NamedTuple):
    """The distances of some rows from their nearest neighbours, positive and in ascending order, and these rows."""

    distance: Floats
    rows: Ints


def merge_near_copies(x: Floats, some: Neighbours | None) -> Merging | None:
    """Return how near copies in distinct whitened rows become the weight of one of them; None if there are none.

    `some` are the neighbours of some rows, which tell whether all have to be looked at.
    """
    if some is None or not mark_near_copies(some).any():
        return None
    neighbours = find_neighbours(x, np.arange(len(x)))
    label = _connected(neighbours, mark_near_copies(neighbours))
    kept = _most_central(x, label)
    return merge_into(kept, label) if 1 < len(kept) < len(x) else None


def has_close_pairs(some: Neighbours | None) -> bool:
    """Return whether rows come in pairs, too far apart to be taken for near copies, from the neighbours of some."""
    if some is None:
        return False
    gaps = _gaps(some)
    following = max(gaps[:, 1:3].mean(), gaps[:, 1 : 1 + _FOLLOWING].mean())
    noise = max(following, gaps[:, 0].std()) / np.sqrt(len(gaps))
    return bool(gaps[:, 0].mean() > _PAIRED * following + _NOISE * noise)


def find_neighbours(x: Floats, rows: Ints) -> Neighbours:
    """Return the nearest neighbours of some rows, without the rows themselves."""
    distance, near = cKDTree(x).query(x[rows], _NEIGHBOURS + 1, workers=parallel.thread_count())
    own = near == rows[:, None]
    own[~own.any(axis=1), 0] = True  # more equal rows than neighbours: any of them stands for the row itself
    distance = np.maximum(distance, max(_ROUNDING * np.abs(x).max(), np.finfo(np.float64).tiny))
    return Neighbours(distance[~own].reshape(len(rows), -1), near[~own].reshape(len(rows), -1))


def mark_near_copies(neighbours: Neighbours) -> NDArray[np.bool_]:
    """Mark the neighbours that are near copies of their row; none if chance explains them.

    Where one pair of near copies happens to be next to another, only the larger jump in distance counts.
    """
    distance, gaps = neighbours.distance, _gaps(neighbours)
    copies = 1 + np.argmax(gaps[:, :_MOST_COPIES] / np.arange(1, _MOST_COPIES + 1), axis=1)
    marked = np.zeros(distance.shape, dtype=bool)
    for k in range(1, _MOST_COPIES + 1):
        mean_gap = max(gaps[:, k : k + 2].mean(), gaps[:, k : k + _FOLLOWING].mean())
        by_chance = np.exp(-gaps[:, k - 1] / max(mean_gap, 1e-9))
        by_chance[(distance[:, k - 1] > _CLOSER * distance[:, k]) | (copies != k)] = 1.0
        marked[by_chance <= _clear_level(by_chance), :k] = True
    return marked if marked.any(axis=1).mean() >= _LEAST_SHARE else np.zeros_like(marked)


def _gaps(neighbours: Neighbours) -> Floats:
    """Return k·log(d_{k+1}/d_k), one column for each k."""
    steps = np.diff(np.log(neighbours.distance), axis=1)
    return np.asarray(np.arange(1, _NEIGHBOURS) * steps, dtype=np.float64)


def some_neighbours(x: Floats, order: Ints) -> Neighbours | None:
    """Return the neighbours of some rows among those in a range of distances from the centre; None for few rows.

    Near copies are about equally far from it, so that such a range has the copies of its rows. `order` is the canonical
    order of the rows.
    """
    if len(x) < _FEWEST_ROWS:
        return None
    start = max(0, (len(x) - _MOST_ROWS) // 2)
    among = x[order[start : start + _MOST_ROWS]]
    some = np.unique(np.linspace(0, len(among) - 1, _MOST_QUERIES).astype(np.intp))
    return find_neighbours(among, some)


def _clear_level(by_chance: Floats) -> float:
    """Return the largest probability up to which rows clearly outnumber those by chance, or −1."""
    ordered = np.sort(by_chance)
    found = np.arange(1, len(ordered) + 1)
    clear = np.flatnonzero(found >= _CLEARLY * np.maximum(1.0, len(ordered) * ordered))
    return float(ordered[clear[-1]]) if len(clear) else -1.0


def _connected(neighbours: Neighbours, marked: NDArray[np.bool_]) -> Ints:
    """Return a label for each row: rows that near copies connect share one, unless they are too many."""
    rows = len(marked)
    one, place = np.nonzero(marked)
    links = coo_array((np.ones(len(one)), (one, neighbours.rows[one, place])), shape=(rows, rows))
    label = connected_components(links, directed=False)[1]
    large = np.bincount(label)[label] > _LARGEST
    return np.unique(np.where(large, label.max() + 1 + np.arange(rows), label), return_inverse=True)[1].ravel()


def _most_central(x: Floats, label: Ints) -> Ints:
    """Return, for each label, the row closest to the mean of its rows; of two rows, that closer to the centre."""
    count = np.bincount(label)
    mean = np.column_stack([np.bincount(label, weights=column) for column in x.T]) / count[:, None]
    from_mean = np.round(np.linalg.norm(x - mean[label], axis=1), 12)
    order = np.lexsort((np.linalg.norm(x, axis=1), from_mean, label))
    return order[np.append(0, np.cumsum(count)[:-1])]
