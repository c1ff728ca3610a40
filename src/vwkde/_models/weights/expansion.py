"""The variational weight as a kernel expansion: log α = Σ_m θ_m k_σ(x, z_m), by one linear solve.

Minimising the mean of B² over the sample, plus a ridge on θ, is least squares with the matrix

    F_im = ∇k_σ(x_i, z_m) · d_i = −(d_i·x_i − d_i·z_m) k_σ(x_i, z_m) / σ²,        d = difference of scores:

it takes two matrix products and a few passes, in blocks of rows, each added by a symmetric rank-k update. No array
has three axes.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_solve
from scipy.linalg.blas import dgemv, dsyrk
from scipy.linalg.lapack import dpotrf

from vwkde._compute import parallel
from vwkde._compute.precision import LIMIT_64
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources
from vwkde._compute.startup import worth_compiling
from vwkde._models.weights import on_device
from vwkde._models.weights.residual import BiasTerms
from vwkde._runtime.progress import track

Floats = NDArray[np.float64]
Loop = Callable[[Floats, Floats, Floats], None]

_ROWS = 128
"""Rows that a thread handles at a time: 128 × 3,000 doubles, 3 MiB."""
_STEEPEST = 25.0
"""Largest distance of log α from its level."""
_BLOCK_BYTES = 2**25
"""Size of the block of F in one rank-k update: larger blocks do not fit the cache and gain nothing."""


@dataclass(frozen=True)
class KernelExpansion:
    """A weight function with its basis points, coefficients and length scale.

    log α is limited to its level, the median over the basis, ±25: beyond that one point would outweigh all others.
    """

    basis: Floats
    coefficients: Floats
    length_scale: float
    level: float | None = None
    resources: Resources = DEFAULT_RESOURCES

    def log_weight(self, x: Floats) -> Floats:
        """Return log α."""
        if self.resources.engine.on_device:
            log_weight = on_device.values(self._on_device, self.coefficients, x)
        else:
            loop = self.loop(len(x))
            log_weight = self._times_coefficients(x, lambda rows, out: self._kernel(x[rows], out, loop))
        if self.level is None:
            return log_weight
        return np.clip(log_weight, self.level - _STEEPEST, self.level + _STEEPEST)

    def slope(self, x: Floats, direction: Floats) -> Floats:
        """Return ∇log α · direction."""
        if self.resources.engine.on_device:
            return on_device.slopes(self._on_device, self.coefficients, x, direction)
        loop = self.loop(len(x))
        return self._times_coefficients(x, lambda rows, out: self.design(x[rows], direction[rows], out, loop))

    def loop(self, rows: int) -> Loop:
        """Return the loop that exponentiates in place, for this many rows in all: compiled, or NumPy for few."""
        if not worth_compiling(rows * len(self.basis)):
            return _exponentiate
        from vwkde._models.weights.expansion_loops import exponentiate

        return exponentiate

    def design(self, x: Floats, direction: Floats, out: Floats, loop: Loop) -> None:
        """Write F, the slopes of the basis functions, into `out` (n, m)."""
        self._kernel(x, out, loop)
        slope = direction @ self.basis.T
        slope -= np.einsum("ij,ij->i", direction, x)[:, None]
        slope *= 1 / self.length_scale**2
        out *= slope

    @property
    def _on_device(self) -> on_device.Basis:
        return on_device.make_basis(self.basis, self.length_scale, self.resources)

    def _kernel(self, x: Floats, out: Floats, loop: Loop) -> None:
        scale = 1 / (self.length_scale**2 * np.log(2))
        np.matmul(x * scale, self.basis.T, out=out)
        rows = 0.5 * scale * np.einsum("ij,ij->i", x, x)
        columns = 0.5 * scale * np.einsum("ij,ij->i", self.basis, self.basis)
        loop(out, rows, columns)

    def _times_coefficients(self, x: Floats, fill: Callable[[slice, Floats], None]) -> Floats:
        def work(rows: slice) -> Floats:
            block = np.empty((rows.stop - rows.start, len(self.basis)))
            fill(rows, block)
            return block @ self.coefficients

        return np.concatenate([np.empty(0), *parallel.run(work, parallel.split(len(x), _ROWS), "weights")])


def fit_expansion(
    x: Floats,
    terms: BiasTerms,
    importance: Floats,
    basis: Floats,
    length_scale: float,
    ridge: float,
    resources: Resources = DEFAULT_RESOURCES,
) -> KernelExpansion:
    """Return the expansion that minimises mean(importance · B²) + ridge/2 · ‖θ‖².

    `importance` weights the rows of x according to the target, with mean one.
    """
    expansion = KernelExpansion(basis, np.zeros(len(basis)), length_scale, resources=resources)
    return solved(expansion, normal_equations(expansion, x, terms, importance, len(x)), ridge)


class NormalEquations(NamedTuple):
    """The matrix, of which only the lower triangle is used, and the right-hand side; both are sums over rows."""

    matrix: Floats
    right: Floats

    def plus(self, other: "NormalEquations") -> "NormalEquations":
        """Return the sum of both."""
        return NormalEquations(self.matrix + other.matrix, self.right + other.right)


def normal_equations(
    expansion: KernelExpansion, x: Floats, terms: BiasTerms, importance: Floats, rows: float
) -> NormalEquations:
    """Return what the rows of x contribute to the normal equations; `rows` divides the sums."""
    basis, resources = expansion.basis, expansion.resources
    if resources.engine.on_device:
        means = on_device.normal_equations(expansion._on_device, x, terms.direction, terms.unweighted, importance)
        return NormalEquations(*(len(x) / rows * mean for mean in means))
    normal = np.zeros((len(basis), len(basis)), order="F")
    right = np.zeros(len(basis))
    root = np.sqrt(importance)
    blocks = parallel.split(len(x), parallel.block_rows(8 * len(basis), min(resources.memory_budget, _BLOCK_BYTES)))
    design = np.empty((blocks[0].stop, len(basis)))
    for block in track(blocks, "weight fit", len(blocks)):
        f = design[: block.stop - block.start]
        _fill_design(expansion, x[block], terms.direction[block] * root[block, None], f)
        normal = dsyrk(2 / rows, f.T, beta=1, c=normal, lower=1, overwrite_c=1)
        # from the same BLAS library: idle threads of another one would spin and slow the update down
        right = dgemv(-2 / rows, f.T, root[block] * terms.unweighted[block], beta=1, y=right, overwrite_y=1)
    return NormalEquations(normal, right)


def solved(expansion: KernelExpansion, equations: NormalEquations, ridge: float) -> KernelExpansion:
    """Return the expansion with the coefficients that solve the equations, which are overwritten."""
    normal, right = equations
    basis = expansion.basis
    # a ridge below the rounding errors would have no effect
    normal[np.diag_indices(len(basis))] += max(ridge, len(basis) * np.finfo(np.float64).eps * np.trace(normal))
    resources = expansion.resources
    by_torch = resources.engine.on_device
    coefficients = on_device.solution(normal, right, resources.device) if by_torch else _solution(normal, right)
    if coefficients is None:
        raise np.linalg.LinAlgError("The normal equations of the weight are singular. Increase the 'ridge' parameter.")
    fitted = replace(expansion, coefficients=coefficients)
    return replace(fitted, level=float(np.median(fitted.log_weight(basis))))


def _solution(normal: Floats, right: Floats) -> Floats | None:
    """Return what solves the normal equations, whose matrix is overwritten; None if they are singular."""
    factor, failed = dpotrf(normal, lower=1, overwrite_a=1)
    return None if failed else np.asarray(cho_solve((factor, True), right, check_finite=False))


def _fill_design(expansion: KernelExpansion, x: Floats, direction: Floats, out: Floats) -> None:
    loop = expansion.loop(len(x))

    def work(rows: slice) -> None:
        expansion.design(x[rows], direction[rows], out[rows], loop)

    parallel.run(work, parallel.split(len(x), _ROWS))


def _exponentiate(exponent: Floats, rows: Floats, columns: Floats) -> None:
    """Do in NumPy what the compiled loop does."""
    exponent -= rows[:, None]
    exponent -= columns
    np.exp2(np.clip(exponent, -LIMIT_64, 0.0, out=exponent), out=exponent)
