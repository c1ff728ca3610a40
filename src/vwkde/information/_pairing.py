"""Rows of X and Y, and pairs of different rows, which make a sample of the product of the marginals."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.copies import find_distinct
from vwkde._data.groups import check_groups, number_groups
from vwkde._data.pairs import Pairs
from vwkde._data.ranks import mean_ranks
from vwkde._data.sample import effective_rows, make_unordered_sample, variance_of_mean
from vwkde._data.validation import Array
from vwkde._fit.candidates import MOST_ROWS
from vwkde._fit.repeats import find_groups
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._runtime.random_states import random_state_of

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_COPIES = 10
"""Most rows of the product of the marginals for each row of the joint sample."""
_MOST_ROWS = 30_000
"""Size of the product sample from which more copies gain nothing."""


@dataclass(frozen=True)
class Paired:
    """Rows of X and Y, the pairs of rows that stand for independence, and folds and groups of the rows."""

    x: Array
    y: Array
    fold: Ints
    first: Ints
    second: Ints
    group: Ints | None

    @property
    def joint(self) -> Array:
        """The columns of X and Y together."""
        return np.concatenate([self.x, self.y], axis=1)

    @property
    def product(self) -> Array:
        """The same columns of the pairs."""
        return np.concatenate([self.x[self.first], self.y[self.second]], axis=1)

    @property
    def pairs(self) -> tuple[Pairs, Pairs]:
        """What the rows of the joint sample, and of that of the product, are made of."""
        split, rows = self.x.shape[1], np.arange(len(self.x))
        return Pairs(split, rows, rows, self.group), Pairs(split, self.first, self.second, self.group)

    @property
    def rows(self) -> float:
        """The number of independent rows, or groups."""
        if self.group is None:
            return float(len(self.x))
        return effective_rows(np.bincount(self.group).astype(np.float64))

    @property
    def worth(self) -> float:
        """How many independent rows they are worth: between the number of groups and that of rows."""
        sample = make_unordered_sample(np.asarray(self.joint, dtype=np.float64))
        return float(sample.in_groups(self.group).effective_rows)

    def variance_of_mean(self, terms: Floats) -> float:
        """Return the variance of the mean of one term per row."""
        return variance_of_mean(terms, np.ones(len(terms)), self.group)


def in_canonical_order(x: Array, y: Array) -> tuple[Array, Array]:
    """Return X and Y in an order that does not depend on which of them is called X: information is symmetric.

    The one with fewer columns comes first, or that whose first rows are closer to the median of its columns, which
    neither units nor signs change.
    """
    keys = [(values.shape[1], *_from_the_middle(values).ravel().tolist()) for values in (x, y)]
    return (x, y) if keys[0] <= keys[1] else (y, x)


def _from_the_middle(values: Array) -> Floats:
    """Return how far the rank of each value is from the middle of its column."""
    return np.asarray(np.abs(mean_ranks(values) - (len(values) + 1) / 2))


def make_pairs(x: Array, y: Array, groups: Any, random_state: Any) -> Paired:
    """Return rows with folds, groups and pairs, for the groups that were given or those of rows that repeat others."""
    return pair_rows(x, y, find_units(x, y, groups, random_state, "mutual_information"), random_state)


def pair_rows(x: Array, y: Array, group: Ints | None, random_state: Any) -> Paired:
    """Return rows in groups, with folds and pairs. A model without one fold has seen none of the rows of its pairs."""
    units = len(x) if group is None else int(group.max()) + 1
    fold = random_state_of(random_state).permutation(np.arange(units) % FOLDS)
    fold = fold if group is None else fold[group]
    return Paired(x, y, fold, *pairs_in_folds(fold, random_state, group), group)


def find_units(x: Array, y: Array, groups: Any, random_state: Any, owner: str) -> Ints | None:
    """Return the number of each row's group: as given, or that of the row which it repeats; None without groups."""
    if groups is None:
        joint = np.concatenate([x, y], axis=1)
        order = random_state_of(random_state).permutation(find_distinct(joint).first)
        apart = np.concatenate([x[order], y[np.roll(order, 1)]], axis=1)  # pairs of different rows, none repeated
        group = find_groups(joint, apart)
        return None if group is None or group.max() + 1 < 2 * FOLDS else group
    group = number_groups(check_groups(groups, len(x), owner), None)[0]
    if group is not None and group.max() + 1 < 2 * FOLDS:
        raise ValueError(
            f"The 'groups' parameter of {owner} must have at least {2 * FOLDS} different labels. Got "
            f"{group.max() + 1} instead; use smaller groups, or omit the parameter."
        )
    return group


def pairs_in_folds(fold: Ints, random_state: Any, group: Ints | None = None) -> tuple[Ints, Ints]:
    """Return rows of X and of Y that make a sample of the product of the marginals.

    The rows of each fold are put in a random circle, and each x is paired with the y of its next neighbours. A model
    that has not seen a fold has then seen neither the pairs of its rows nor these rows in other pairs. Rows of a group
    are not paired with each other.
    """
    random = random_state_of(random_state)
    circles = [random.permutation(np.flatnonzero(fold == k)) for k in range(FOLDS)]
    copies = _copies(len(fold))
    pairs = [
        (circle, np.roll(circle, shift)) for circle in circles for shift in range(1, min(copies, len(circle) - 1) + 1)
    ]
    first, second = (np.concatenate(each) for each in zip(*pairs, strict=True))
    apart = np.ones(len(first), dtype=bool) if group is None else group[first] != group[second]
    return first[apart], second[apart]


def _copies(rows: int) -> int:
    """Return how many pairs to make of each row: if possible, not so many that candidates see only a part of them."""
    most = MOST_ROWS if rows <= MOST_ROWS else _MOST_ROWS
    return max(1, min(_COPIES, most // rows))
