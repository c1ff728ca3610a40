"""The choice of a model of a density's derivatives, by its score-matching loss on held-out rows."""

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
Ints = NDArray[np.intp]
Fit = Callable[[Floats, Floats, str | None, int, Ints | None], DensityModel]

_FOLDS = 3
_MOST_ROWS = 3_000
"""Rows used for the choice: differences that only more rows could show matter little."""


@parallel.single_threaded()
def select_derivatives(
    x: Floats, weight: Floats, name: str | None = None, random_state: int = 0, group: Ints | None = None
) -> tuple[DensityModel, dict[str, float]]:
    """Return the model that fits a whitened sample best, and the held-out score-matching loss of each.

    Starting with the simplest, a model is replaced by the next only if the loss falls by more than one standard error
    of the differences. If there are too few rows, or they have no density, it is the Gaussian, and there are no losses.
    """
    gaussian = fit_gaussian(x, weight, name)
    random = np.random.default_rng(random_state)
    rows = draw_rows(np.flatnonzero(weight), _MOST_ROWS, random)
    points, counts = x[rows], weight[rows]
    together = None if group is None else group[rows]
    folds = folds_of_distinct_rows(points, counts, _FOLDS, random, together)
    if gaussian.degenerate or not folds:
        return gaussian, {}
    mixture = fit_mixture(points, counts, None, random_state)
    fits = {**_MODELS, "mixture": _refit(mixture)}
    terms = {kind: _held_out_terms(fit, points, counts, folds, random_state, together) for kind, fit in fits.items()}
    losses = {kind: float(np.average(values, weights=counts)) for kind, values in terms.items()}
    chosen = _simplest_of_the_best(terms, counts)
    if chosen == "gaussian":
        return gaussian, losses
    if chosen == "mixture" and len(rows) == len(x):
        return mixture, losses
    return _MODELS[chosen](x, weight, name, random_state, group), losses


def _simplest_of_the_best(terms: dict[str, Floats], weight: Floats) -> str:
    kinds = iter(terms)
    chosen = next(kinds)
    for kind in kinds:
        if is_gain(terms[chosen], terms[kind], weight):
            chosen = kind
    return chosen


def _held_out_terms(
    fit: Fit, x: Floats, weight: Floats, folds: list[NDArray[np.bool_]], random_state: int, group: Ints | None
) -> Floats:
    """Return the loss at every row of a model that has not seen it."""
    result = np.empty(len(x))
    for fold in folds:
        # no name, so that there is no warning: two thirds of the rows may be degenerate although the whole is not
        together = None if group is None else group[~fold]
        model = fit(x[~fold], weight[~fold] / weight[~fold].mean(), None, random_state, together)
        rows = x[fold]
        result[fold] = score_matching_terms(model.score(rows), model.laplacian_over_density(rows))
    return result


def _refit(mixture: MixtureDerivatives) -> Fit:
    """Return a fit that starts from a mixture of all rows and keeps the number and shape of its components."""
    if len(mixture.weights) == 1:
        return _fit_gaussian
    return lambda x, weight, _, random_state, __: refit_mixture(mixture, x, weight, random_state)


def _fit_gaussian(x: Floats, weight: Floats, name: str | None, random_state: int, group: Ints | None) -> DensityModel:
    del random_state, group
    return fit_gaussian(x, weight, name)


def _fit_mixture(x: Floats, weight: Floats, name: str | None, random_state: int, group: Ints | None) -> DensityModel:
    del group  # the number of components is chosen without folds
    return fit_mixture(x, weight, name, random_state)


_MODELS: dict[str, Fit] = {"gaussian": _fit_gaussian, "mixture": _fit_mixture, "kernel": fit_kernel}
"""Models by name, the simplest first."""
