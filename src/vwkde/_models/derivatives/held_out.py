"""What rows that a model has not seen say about it.

The score-matching loss compares models of one density by their derivatives alone, without normalising constants: its
mean is ½ E‖∇log p − ∇log q‖² for the density q behind the rows, less a constant that no model changes.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import effective_rows
from vwkde._models.derivatives import Derivatives

Floats = NDArray[np.float64]

_FEWEST = 30
"""Rows, counted by their weight and without copies, below which held-out losses are mostly noise."""


def score_matching_terms(derivatives: Derivatives, x: Floats) -> Floats:
    """Return ∇²log p + ½‖∇log p‖² at every row, where ∇²log p = ∇²p/p − ‖∇log p‖²."""
    return derivatives.laplacian_over_density(x) - 0.5 * (derivatives.score(x) ** 2).sum(axis=1)


def score_matching_loss(derivatives: Derivatives, x: Floats, weight: Floats) -> float:
    """Return the weighted mean of ∇²log p + ½‖∇log p‖²: the lower, the closer the scores (Hyvärinen)."""
    return float(np.average(score_matching_terms(derivatives, x), weights=weight))


def is_gain(before: Floats, after: Floats, weight: Floats) -> bool:
    """Tell whether the mean loss fell by more than one standard error of the paired differences."""
    fall = before - after
    mean = np.average(fall, weights=weight)
    error = np.linalg.norm(weight * (fall - mean)) / weight.sum()
    return bool(mean > error)


def make_folds(x: Floats, weight: Floats, count: int, random: np.random.Generator) -> list[NDArray[np.bool_]]:
    """Return the rows that each fold holds out, or no folds where rows are too few to learn from them.

    Equal rows share a fold: otherwise a model that piles its density onto them would be praised for it.
    """
    _, first, group = np.unique(x, axis=0, return_index=True, return_inverse=True)
    if min(len(first), effective_rows(weight)) < _FEWEST:
        return []
    by_appearance = np.argsort(np.argsort(first))
    fold = random.permutation(len(first))[by_appearance[group.ravel()]] % count
    return [fold == held_out for held_out in range(count)]


def draw_rows(rows: NDArray[np.intp], most: int, random: np.random.Generator) -> NDArray[np.intp]:
    """Return at most so many of the rows, in their order."""
    return rows if len(rows) <= most else np.sort(random.choice(rows, most, replace=False))
