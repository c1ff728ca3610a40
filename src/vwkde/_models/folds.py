"""Folds for every cross-validation of the package, and whether held-out rows show a gain."""

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample, effective_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_FEWEST = 30
"""Rows, counted by their weight and without copies, below which held-out losses are mostly noise."""


def deal_folds(sample: Sample, count: int, random: np.random.Generator) -> Ints:
    """Return the fold of each row: at random, the one given with it, or that of its group.

    Rows derived from one row, and rows of one group, stay together. Groups that both samples have are numbered first
    and alike, so that each has the same fold in both.
    """
    if sample.fold is not None:
        return sample.fold % count
    if sample.group is not None:
        return sample.group % count
    numbers = (np.arange(len(sample)) % count).astype(np.min_scalar_type(count))  # small numbers are shuffled faster
    return random.permutation(numbers).astype(np.intp)


def known_folds(sample: Sample, count: int, seed: int) -> Ints:
    """Return the fold of each row, dealt with this seed and in the sample's own way; the sample remembers it."""
    return sample.remember(
        ("folds", count, seed), lambda: deal_folds(sample, count, np.random.default_rng([seed, sample.deal]))
    )


def known_rows_of_folds(sample: Sample, count: int, seed: int) -> list[Ints]:
    """Return the rows of each fold, dealt as in `known_folds`; the sample remembers them."""

    def rows_of_folds() -> list[Ints]:
        folds = known_folds(sample, count, seed)
        return [np.flatnonzero(folds == number) for number in range(count)]

    return sample.remember(("rows of folds", count, seed), rows_of_folds)


def folds_of_distinct_rows(
    x: Floats, weight: Floats, count: int, random: np.random.Generator, group: Ints | None = None
) -> list[NDArray[np.bool_]]:
    """Return a mask of the rows that each fold holds out, or no folds if there are too few rows.

    Equal rows share a fold, or the rows of a group where there are groups. Otherwise a model that concentrates its
    density on them would look good on their copies.
    """
    _, first, group = np.unique(x if group is None else group, axis=0, return_index=True, return_inverse=True)
    if min(len(first), effective_rows(weight)) < _FEWEST:
        return []
    by_appearance = np.argsort(np.argsort(first))
    fold = random.permutation(len(first))[by_appearance[group.ravel()]] % count
    return [fold == held_out for held_out in range(count)]


def draw_rows(rows: Ints, most: int, random: np.random.Generator) -> Ints:
    """Return at most `most` of the rows, at random, in their order."""
    return rows if len(rows) <= most else np.sort(random.choice(rows, most, replace=False))


def is_gain(before: Floats, after: Floats, weight: Floats) -> bool:
    """Return whether the mean loss fell by more than one standard error of the paired differences."""
    fall = before - after
    mean = np.average(fall, weights=weight)
    error = np.linalg.norm(weight * (fall - mean)) / weight.sum()
    return bool(mean > error)
