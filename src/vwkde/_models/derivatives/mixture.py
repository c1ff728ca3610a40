"""Derivatives of a Gaussian mixture fitted to the sample: densities with several modes, in closed form.

With scores s_k and precisions P_k of the components, and shares r_k, the probabilities that a point belongs to each,

    ∇log p = Σ r_k s_k,        ∇²p/p = Σ r_k (‖s_k‖² − trace P_k).

Only the shares depend on densities, and they are computed from logarithms.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.sample import effective_rows
from vwkde._models.derivatives.components import (
    TOLERANCE,
    Components,
    MakeRows,
    fit_components,
    refit_components,
    shares_of,
)
from vwkde._models.derivatives.full import full_rows
from vwkde._models.derivatives.tied import TiedRows
from vwkde._models.exponentials import log_sum
from vwkde._models.gaussian import GaussianModel, fit_gaussian

Floats = NDArray[np.float64]

_COUNTS = range(2, 17)
"""Numbers of components that are tried."""
_STARTS, _MORE_STARTS = 2, 6
"""Starts of each search. With one covariance for all components there are more: in many columns most starts fail."""
_MANY_COLUMNS = 6
_MOST_ROWS = 5_000
"""Rows on which components are fitted while their number is looked for."""
MORE_ROWS = 20_000
"""Rows up to which a known number of them is fitted from the start; more only move those that were found."""
_FINER = 1e-4
"""Gain of the mean log likelihood at which a fit to many rows ends: they tell more."""
_LEAST_GAIN = 2.0
"""Gain of the log likelihood of all rows at which the components found stay where they are."""
_GROWTH = 1.0, 1.5, 2.0
"""Times the number of components that are tried with more rows."""
_ROWS_OF_GROWTH = 50_000
"""Rows on which they are tried at most."""
_THINNEST = 1e-4
"""Variance, relative to the sample's, below which a component is a set of equal rows and not a mode."""


@dataclass(frozen=True)
class MixtureDerivatives:
    """Score, Laplacian and log density of Σ weights_k · N(means_k, precisions_k⁻¹).

    A log normaliser is the logarithm of a component's density at its own mean.
    """

    weights: Floats
    means: Floats
    precisions: Floats
    log_normalisers: Floats

    kind: ClassVar[str] = "mixture"

    @property
    def components(self) -> list[GaussianModel]:
        """The derivatives of each component alone."""
        return [GaussianModel(*part) for part in zip(self.means, self.precisions, strict=True)]

    @property
    def degenerate(self) -> bool:
        """Whether a component hardly varies in some direction, so that there is no density."""
        return any(component.degenerate for component in self.components)

    @property
    def shape(self) -> str:
        """Whether the components share one covariance ("tied") or have one each ("full")."""
        return "tied" if (self.precisions == self.precisions[0]).all() else "full"

    def score(self, x: Floats) -> Floats:
        """Return ∇log p."""
        result = np.zeros_like(x)
        for share, component in zip(self._shares(x), self.components, strict=True):
            result += share[:, None] * component.score(x)
        return result

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²p / p."""
        result = np.zeros(len(x))
        for share, component in zip(self._shares(x), self.components, strict=True):
            result += share * component.laplacian_over_density(x)
        return result

    def log_density(self, x: Floats) -> Floats:
        """Return log p, normalised."""
        return log_sum(self._log_joint(x))

    def _log_joint(self, x: Floats) -> Floats:
        peaks = np.log(self.weights) + self.log_normalisers
        if len(self.weights) > 1 and self.shape == "tied":  # one product with the precision serves all components
            along = x @ self.precisions[0]
            scores = (mean @ self.precisions[0] - along for mean in self.means)
            exponents = [0.5 * np.einsum("ij,ij->i", x - m, s) for m, s in zip(self.means, scores, strict=True)]
            return peaks[:, None] + np.stack(exponents)
        return np.stack([peak + part.log_density(x) for peak, part in zip(peaks, self.components, strict=True)])

    def _shares(self, x: Floats) -> Floats:
        """Return the probability of each component at each point, of shape (k, n)."""
        return shares_of(self._log_joint(x))[0]


def make_mixture(weights: Floats, means: Floats, precisions: Floats) -> MixtureDerivatives:
    """Return the mixture of these components, with their normalisers."""
    log_normalisers = 0.5 * (np.linalg.slogdet(precisions)[1] - means.shape[1] * np.log(2 * np.pi))
    return MixtureDerivatives(weights, means, precisions, log_normalisers)


def marginal_mixture(mixture: MixtureDerivatives, columns: slice) -> MixtureDerivatives:
    """Return the density of some columns."""
    covariances = np.linalg.inv(mixture.precisions)[:, columns, columns]
    return make_mixture(mixture.weights, mixture.means[:, columns], np.linalg.inv(covariances))


def drawn_to(mixture: MixtureDerivatives, start: MixtureDerivatives, rows: float) -> MixtureDerivatives:
    """Return a mixture of so many rows with each component drawn to the one it started from, as if by a few rows more.

    These are as many as a component needs, so that one which has lost its rows stays where it was.
    """
    own = mixture.weights * rows
    part = own / (own + _fewest_rows(mixture.means.shape[1]))
    means = part[:, None] * mixture.means + (1 - part[:, None]) * start.means
    one, other = (np.linalg.inv(each.precisions) for each in (mixture, start))
    covariances = part[:, None, None] * one + (1 - part[:, None, None]) * other
    return make_mixture(mixture.weights, means, np.linalg.inv(covariances))


@parallel.single_threaded()
def fit_mixture(
    x: Floats,
    weight: Floats,
    name: str | None = None,
    random_state: int = 0,
    like: MixtureDerivatives | None = None,
    rows: float | None = None,
) -> MixtureDerivatives:
    """Fit a mixture to a whitened sample; its name, if any, is for the warning when it has no density.

    It has up to sixteen components, as many as lower the Bayesian information criterion. One component is the fitted
    Gaussian. Several have a covariance each, or share one, which finds modes even among many columns of noise.

    The fit itself takes no weights: rows are drawn for it in proportion to their weights. The criterion is weighted.
    With `like`, only its number and shape of components, and one component, are tried. `rows` is the number of
    independent rows; by default, the effective number by their weights.
    """
    rows = effective_rows(weight) if rows is None else rows
    gaussian = fit_gaussian(x, weight, name)
    one = make_mixture(np.ones(1), gaussian.mean[None], gaussian.precision[None])
    if gaussian.degenerate or (like is not None and len(like.weights) == 1):
        return one
    root = np.linalg.cholesky(gaussian.precision)
    white = (x - gaussian.mean) @ root
    most = _MOST_ROWS if like is None else MORE_ROWS
    drawn = _draw_by_weight(white, weight, np.random.default_rng(random_state), most)
    shapes, counts = (_SHAPES, _COUNTS) if like is None else ((like.shape,), (len(like.weights),))
    searches = [_search(shape, counts, drawn, white, weight, rows, random_state) for shape in shapes]
    _, best = min(searches, key=lambda search: search[0])
    means = gaussian.mean + np.linalg.solve(root.T, best.means.T).T
    several = make_mixture(best.weights, means, root @ best.precisions @ root.T)
    return one if len(several.weights) == 1 or several.degenerate else several


@parallel.single_threaded()
def refit_mixture(
    model: MixtureDerivatives, x: Floats, weight: Floats, random_state: int = 0, most: int = _MOST_ROWS
) -> MixtureDerivatives:
    """Fit the same number and shape of components to at most so many other rows, starting from the model's."""
    return _improved(model, _draw_by_weight(x, weight, np.random.default_rng(random_state), most))


@parallel.single_threaded()
def grow_mixture(
    model: MixtureDerivatives, x: Floats, weight: Floats, rows: float, random_state: int = 0
) -> MixtureDerivatives:
    """Return a mixture of the same shape with up to twice as many components, if there are many rows that support them.

    A few thousand rows show too few of them: each costs more than it gains there, and the fits to them end early.
    """
    if len(x) <= MORE_ROWS or len(model.weights) == 1:
        return model
    shape, random = model.shape, np.random.default_rng(random_state)
    few, many = (_draw_by_weight(x, weight, random, most) for most in (MORE_ROWS, _ROWS_OF_GROWTH))
    counts = [int(np.ceil(times * len(model.weights))) for times in _GROWTH]

    def fitted(count: int) -> MixtureDerivatives:
        return _improved(_mixture_of(fit_components(_SHAPES[shape], few, count, random_state, _FINER)), many)

    sound = [mixture for mixture in parallel.run(fitted, counts) if _is_sound(mixture, rows)]
    equal = np.ones(len(many))
    return min([model, *sound], key=lambda mixture: _criterion(mixture, shape, many, equal, rows))


def _improved(model: MixtureDerivatives, x: Floats) -> MixtureDerivatives:
    precisions = model.precisions[0] if model.shape == "tied" else model.precisions
    start = Components(model.weights, model.means, precisions)
    return _mixture_of(refit_components(_SHAPES[model.shape], x, start, _tolerance(model.shape, x)))


def _search(
    shape: str, counts: Sequence[int], drawn: Floats, x: Floats, weight: Floats, rows: float, random_state: int
) -> tuple[float, MixtureDerivatives]:
    """Return the lowest criterion and its mixture; the search ends after two counts in a row that do not lower it.

    Each count gets several starts, until one lowers the criterion; a single count gets all of them.
    """
    columns = x.shape[1]
    starts = _MORE_STARTS if shape == "tied" and columns >= _MANY_COLUMNS else _STARTS
    if shape == "full" and len(drawn) > _MOST_ROWS:
        starts = 1  # so many rows leave a start little choice
    best = make_mixture(np.ones(1), np.zeros((1, columns)), np.eye(columns)[None])
    lowest, worse = _criterion(best, shape, x, weight, rows), 0
    for count in counts:
        if count * _fewest_rows(columns) > rows:
            break
        worse += 1
        for start in range(starts):
            tolerance = _tolerance(shape, drawn)
            mixture = _mixture_of(fit_components(_SHAPES[shape], drawn, count, random_state + start, tolerance))
            criterion = _criterion(mixture, shape, x, weight, rows)
            if criterion < lowest and _is_sound(mixture, rows):
                lowest, best, worse = criterion, mixture, 0
                if len(counts) > 1:
                    break
        if worse == 2:
            break
    return lowest, best


def _tolerance(shape: str, x: Floats) -> float:
    if len(x) > MORE_ROWS:
        return _LEAST_GAIN / len(x)
    return _FINER if shape == "full" and len(x) > _MOST_ROWS else TOLERANCE


def _mixture_of(components: Components) -> MixtureDerivatives:
    weights, means, precisions = components
    return make_mixture(weights, means, np.broadcast_to(precisions, (len(weights), *precisions.shape[-2:])))


_SHAPES: dict[str, MakeRows] = {"full": full_rows, "tied": TiedRows}


def _criterion(mixture: MixtureDerivatives, shape: str, x: Floats, weight: Floats, rows: float) -> float:
    """Return the Bayesian information criterion: −2 log likelihood + parameters · log rows."""
    count, columns = mixture.means.shape
    covariances = 1 if shape == "tied" else count
    parameters = count * (columns + 1) - 1 + covariances * columns * (columns + 1) // 2
    return parameters * np.log(rows) - 2 * rows * float(np.average(mixture.log_density(x), weights=weight))


def _is_sound(mixture: MixtureDerivatives, rows: float) -> bool:
    """Return whether every component has enough rows and varies in every direction.

    The likelihood cannot show it, since it grows without limit for a component that shrinks onto equal rows.
    """
    thinnest = 1 / np.linalg.eigvalsh(mixture.precisions).max()
    enough = mixture.weights.min() * rows >= _fewest_rows(mixture.means.shape[1])
    return bool(enough and thinnest > _THINNEST)


def _fewest_rows(columns: int) -> int:
    """Return how many rows a component needs: enough for a covariance without shrinkage, and at least ten."""
    return max(10, 2 * columns + 1)


def _draw_by_weight(x: Floats, weight: Floats, random: np.random.Generator, most: int = _MOST_ROWS) -> Floats:
    """Return rows that represent the weighted sample: one from each of its consecutive parts of equal weight.

    With equal weights and at most `most` rows, it is the sample itself.
    """
    total = min(len(x), most)
    heights = np.cumsum(weight)
    at = (np.arange(total) + random.random(total)) * heights[-1] / total
    return x[np.minimum(np.searchsorted(heights, at, side="right"), len(x) - 1)]
