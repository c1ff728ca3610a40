"""Derivatives from a kernel expansion around a Gaussian: any smooth shape, fitted by linear solves.

The model is log p(x) = log g(x) + Σ_m θ_m k(x, z_m), with g the fitted Gaussian and k a Gaussian kernel of width σ.
The sum of ∇²log p + ½‖∇log p‖² over the sample (Hyvärinen's score matching) is, up to a constant, quadratic in θ,

    ½ θᵀAθ + θ·b,      A_ml = Σ_i ∇k_m·∇k_l,      b_m = Σ_i ∇²k_m + ∇log g·∇k_m,

and needs no normalising constant. A ridge on the norm of the expansion, θᵀKθ, shrinks it towards the Gaussian.
With D_im = ‖x_i − z_m‖², (x_i − z_m)·(x_i − z_l) = ½ (D_im + D_il − ‖z_m − z_l‖²), so that A takes two matrix products
and no array has three axes.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv
from scipy.spatial.distance import cdist

from vwkde._compute import parallel
from vwkde._models.derivatives.score_matching import score_matching_terms
from vwkde._models.distances import median_distance
from vwkde._models.folds import draw_rows, folds_of_distinct_rows, is_gain
from vwkde._models.gaussian import GaussianModel, fit_gaussian

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Folds = list[NDArray[np.bool_]]

_MOST_BASIS = 200
_MOST_ROWS = 5_000
"""Rows to which the coefficients are fitted: enough for two hundred of them."""
_ROWS = 1_024
"""Rows evaluated at a time: 1,024 × 200 doubles, 1.6 MiB."""
_FOLDS = 5
_LENGTH_SCALES = (0.25, 0.5, 1.0, 2.0)
"""Widths to choose from, in units of the median distance."""
_RIDGES = tuple(10.0**-power for power in range(1, 6))


@dataclass(frozen=True)
class KernelDerivatives:
    """Score, Laplacian and log density of base · exp(Σ_m coefficients_m k(x, basis_m)), up to its constant."""

    base: GaussianModel
    basis: Floats
    coefficients: Floats
    length_scale: float

    kind: ClassVar[str] = "kernel"

    @property
    def degenerate(self) -> bool:
        """Whether some direction hardly varies, so that there is no density."""
        return self.base.degenerate

    def score(self, x: Floats) -> Floats:
        """Return ∇log p."""
        return self.base.score(x) + self._expansion(x)[1]

    def laplacian_over_density(self, x: Floats) -> Floats:
        """Return ∇²p / p = ∇²log p + ‖∇log p‖²."""
        _, gradient, laplacian = self._expansion(x)
        score = self.base.score(x) + gradient
        return laplacian - np.trace(self.base.precision) + (score**2).sum(axis=1)

    def log_density(self, x: Floats) -> Floats:
        """Return log p without its normalising constant."""
        return self.base.log_density(x) + self._expansion(x)[0]

    def _expansion(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the value, gradient and Laplacian of Σ_m θ_m k(x, z_m)."""
        value, gradient, laplacian = np.empty(len(x)), np.empty(x.shape), np.empty(len(x))
        scale, centred = self.length_scale**-2, self.basis - self.base.mean
        for rows in parallel.split(len(x), _ROWS):
            distance, kernel = self.kernel(x[rows])
            value[rows] = kernel @ self.coefficients
            pulls = kernel @ (self.coefficients[:, None] * centred)
            gradient[rows] = scale * (pulls - value[rows, None] * (x[rows] - self.base.mean))
            laplacian[rows] = scale * ((scale * distance * kernel) @ self.coefficients - x.shape[1] * value[rows])
        return value, gradient, laplacian

    def kernel(self, x: Floats) -> tuple[Floats, Floats]:
        """Return squared distances to the basis points, and the kernels, both (n, m)."""
        distance = cdist(x, self.basis, "sqeuclidean")  # a matrix product would lose the digits of small distances
        return distance, np.exp(-0.5 * distance / self.length_scale**2)


@parallel.single_threaded()
def fit_kernel(
    x: Floats, weight: Floats, name: str | None = None, random_state: int = 0, group: Ints | None = None
) -> KernelDerivatives:
    """Fit the expansion to a whitened sample; its name, if any, is for the warning when it has no density.

    Width and ridge are those of the lowest held-out loss. The expansion is empty if that is not clearly below the
    Gaussian's, if there are too few rows to decide, or if many rows share few values.
    """
    base = fit_gaussian(x, weight, name)
    random = np.random.default_rng(random_state)
    rows = draw_rows(np.flatnonzero(weight), _MOST_ROWS, random)
    x, weight, group = x[rows], weight[rows], None if group is None else group[rows]
    empty = KernelDerivatives(base, x[:0], np.zeros(0), 1.0)
    folds = folds_of_distinct_rows(x, weight, _FOLDS, random, group)
    if base.degenerate or not folds:
        return empty
    basis = x[draw_rows(np.arange(len(x)), _MOST_BASIS, random)]
    models = [KernelDerivatives(base, basis, np.zeros(len(basis)), scale) for scale in _length_scales(basis)]
    trials = (trial for model in models for trial in _try_ridges(model, x, weight, folds))
    best = min(trials, key=lambda trial: trial.loss)
    by_gaussian = score_matching_terms(base.score(x), base.laplacian_over_density(x))
    if not is_gain(by_gaussian, best.held_out(x, folds), weight):
        return empty
    fitted = best.fitted()
    return empty if _is_heaped(fitted, x, weight) else fitted


@dataclass(frozen=True)
class _Objective:
    """The summed loss of some rows as a function of the coefficients: its A and b, and the rows' weight."""

    curvature: Floats
    slope: Floats
    weight: float

    def __add__(self, other: "_Objective") -> "_Objective":
        return _Objective(self.curvature + other.curvature, self.slope + other.slope, self.weight + other.weight)

    def __sub__(self, other: "_Objective") -> "_Objective":
        return _Objective(self.curvature - other.curvature, self.slope - other.slope, self.weight - other.weight)

    def at(self, coefficients: Floats) -> float:
        return float(coefficients @ self.slope + 0.5 * coefficients @ self.curvature @ coefficients)

    def minimiser(self, penalty: Floats) -> Floats:
        """Return the coefficients of the lowest mean loss plus penalty."""
        matrix = self.curvature + self.weight * penalty
        matrix[np.diag_indices(len(matrix))] += 1e-12 * np.trace(matrix)  # larger than the rounding errors
        # LAPACK itself: hundreds of small systems are solved, and the checks around it would take as long
        _, minimiser, failed = dposv(matrix, -self.slope, lower=True, overwrite_a=True)
        if failed:
            raise np.linalg.LinAlgError("the curvature of the loss is not positive")
        return np.asarray(minimiser)


@dataclass(frozen=True)
class _Trial:
    """A model without each fold, their loss at the held-out rows, and how to fit the model to all rows."""

    without: list[KernelDerivatives]
    loss: float
    whole: _Objective
    penalty: Floats

    def fitted(self) -> KernelDerivatives:
        """Return the model of all rows."""
        return replace(self.without[0], coefficients=self.whole.minimiser(self.penalty))

    def held_out(self, x: Floats, folds: Folds) -> Floats:
        """Return the loss at every row of the model that has not seen it."""
        result = np.empty(len(x))
        for fold, model in zip(folds, self.without, strict=True):
            rows = x[fold]
            result[fold] = score_matching_terms(model.score(rows), model.laplacian_over_density(rows))
        return result


def _try_ridges(model: KernelDerivatives, x: Floats, weight: Floats, folds: Folds) -> Iterator[_Trial]:
    """Yield the trials of ever smaller ridges, as long as the loss falls."""
    between, norm = model.kernel(model.basis)
    parts = [_objective(model, between, x[fold], weight[fold]) for fold in folds]
    whole = sum(parts[1:], parts[0])
    objectives = [whole - part for part in parts]
    least = np.inf
    for ridge in _RIDGES:
        without = [replace(model, coefficients=each.minimiser(ridge * norm)) for each in objectives]
        loss = sum(part.at(other.coefficients) for part, other in zip(parts, without, strict=True))
        if loss > least:
            break
        least = loss
        yield _Trial(without, loss, whole, ridge * norm)


def _objective(model: KernelDerivatives, between: Floats, x: Floats, weight: Floats) -> _Objective:
    """Return the objective of these rows, given the squared distances between the basis points."""
    scale, centre, score = model.length_scale**-2, model.base.mean, model.base.score(x)
    distance, kernel = model.kernel(x)
    weighted = weight[:, None] * kernel
    cross = weighted.T @ (distance * kernel)
    curvature = 0.5 * scale**2 * (cross + cross.T - between * (weighted.T @ kernel))
    uphill = score @ (model.basis - centre).T - np.einsum("ij,ij->i", score, x - centre)[:, None]
    slope = scale * np.einsum("im,im->m", weighted, scale * distance - x.shape[1] + uphill)
    return _Objective(curvature, slope, float(weight.sum()))


def _is_heaped(model: KernelDerivatives, x: Floats, weight: Floats) -> bool:
    """Return whether the density is concentrated on repeated values, such as those of a column of zeros and ones.

    The loss falls without limit there, held out or not. But a density has ∫∇²p = 0, so that the mean of ∇²p/p over the
    sample is near zero relative to that of ‖∇log p‖². A concentrated density has its steep flanks where there are no
    rows, so that this mean is clearly negative.
    """
    laplacian = np.average(model.laplacian_over_density(x), weights=weight)
    return bool(laplacian < -0.5 * np.average((model.score(x) ** 2).sum(axis=1), weights=weight))


def _length_scales(basis: Floats) -> list[float]:
    typical = median_distance(basis)
    return [multiple * typical for multiple in _LENGTH_SCALES]
