"""Which model of a density's derivatives to trust: the one whose scores fit rows it has not seen."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._models.derivatives.kernel import fit_kernel
from vwkde._models.derivatives.mixture import MixtureDerivatives, fit_mixture, refit_mixture
from vwkde._models.derivatives.protocol import DensityModel
from vwkde._models.derivatives.score_matching import score_matching_terms
from vwkde._models.folds import draw_rows, folds_of_distinct_rows, is_gain
from vwkde._models.gaussian import fit_gaussian

Floats = NDArray[np.float64]
Fit = Callable[[Floats, Floats, str | None, int], DensityModel]

_FOLDS = 3
_MOST_ROWS = 3_000
"""Rows that decide: differences that take more rows to see matter little."""


@parallel.single_threaded()
def select_derivatives(
    x: Floats, weight: Floats, name: str | None = None, random_state: int = 0
) -> tuple[DensityModel, dict[str, float]]:
    """Return the model that fits a whitened sample best, and the held-out score-matching loss of each.

    From the simplest on, a model gives way to the next only where the loss falls by more than one standard error of
    the differences. Where rows are too few, or have no density, it is the Gaussian, and there are no losses.
    """
    gaussian = fit_gaussian(x, weight, name)
    random = np.random.default_rng(random_state)
    rows = draw_rows(np.flatnonzero(weight), _MOST_ROWS, random)
    points, counts = x[rows], weight[rows]
    folds = folds_of_distinct_rows(points, counts, _FOLDS, random)
    if gaussian.degenerate or not folds:
        return gaussian, {}
    mixture = fit_mixture(points, counts, None, random_state)
    fits = {**_MODELS, "mixture": _again(mixture)}
    terms = {kind: _held_out_terms(fit, points, counts, folds, random_state) for kind, fit in fits.items()}
    losses = {kind: float(np.average(each, weights=counts)) for kind, each in terms.items()}
    chosen = _simplest_of_the_best(terms, counts)
    if chosen == "gaussian":
        return gaussian, losses
    if chosen == "mixture" and len(rows) == len(x):
        return mixture, losses
    return _MODELS[chosen](x, weight, name, random_state), losses


def _simplest_of_the_best(terms: dict[str, Floats], weight: Floats) -> str:
    kinds = iter(terms)
    chosen = next(kinds)
    for kind in kinds:
        if is_gain(terms[chosen], terms[kind], weight):
            chosen = kind
    return chosen


def _held_out_terms(fit: Fit, x: Floats, weight: Floats, folds: list[NDArray[np.bool_]], random_state: int) -> Floats:
    """Return the loss at every row, by a model that has not seen it."""
    result = np.empty(len(x))
    for fold in folds:
        # without a name, and so without a warning: two thirds of the rows may lack what all have
        model = fit(x[~fold], weight[~fold] / weight[~fold].mean(), None, random_state)
        rows = x[fold]
        result[fold] = score_matching_terms(model.score(rows), model.laplacian_over_density(rows))
    return result


def _again(mixture: MixtureDerivatives) -> Fit:
    """Return how a fold fits the components, whose number and shape were found on all rows: from there on."""
    if len(mixture.weights) == 1:
        return _fit_gaussian
    return lambda x, weight, _, random_state: refit_mixture(mixture, x, weight, random_state)


def _fit_gaussian(x: Floats, weight: Floats, name: str | None, random_state: int) -> DensityModel:
    del random_state
    return fit_gaussian(x, weight, name)


_MODELS: dict[str, Fit] = {"gaussian": _fit_gaussian, "mixture": fit_mixture, "kernel": fit_kernel}
"""From the simplest on."""
