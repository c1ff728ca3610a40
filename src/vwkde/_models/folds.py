"""Rows held out: which ones together, in every cross-validation of the package, and whether they show a gain."""

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample, effective_rows

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_FEWEST = 30
"""Rows, counted by their weight and without copies, below which held-out losses are mostly noise."""


def deal_folds(sample: Sample, count: int, random: np.random.Generator) -> Ints:
    """Return the fold of each row: at random, or by the one it came with, so that rows made of one stay together."""
    if sample.fold is not None:
        return sample.fold % count
    return random.permutation(np.arange(len(sample)) % count)


def folds_of_distinct_rows(
    x: Floats, weight: Floats, count: int, random: np.random.Generator
) -> list[NDArray[np.bool_]]:
    """Return the rows that each fold holds out, or no folds where rows are too few to learn from them.

    Equal rows share a fold. Otherwise a model that piles its density onto them would look good on its own copies.
    """
    _, first, group = np.unique(x, axis=0, return_index=True, return_inverse=True)
    if min(len(first), effective_rows(weight)) < _FEWEST:
        return []
    by_appearance = np.argsort(np.argsort(first))
    fold = random.permutation(len(first))[by_appearance[group.ravel()]] % count
    return [fold == held_out for held_out in range(count)]


def draw_rows(rows: Ints, most: int, random: np.random.Generator) -> Ints:
    """Return at most `most` of the rows, at random, in their order."""
    return rows if len(rows) <= most else np.sort(random.choice(rows, most, replace=False))


def is_gain(before: Floats, after: Floats, weight: Floats) -> bool:
    """Tell whether the mean loss fell by more than one standard error of the paired differences."""
    fall = before - after
    mean = np.average(fall, weights=weight)
    error = np.linalg.norm(weight * (fall - mean)) / weight.sum()
    return bool(mean > error)
