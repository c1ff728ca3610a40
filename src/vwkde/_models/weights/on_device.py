"""The kernel expansion of the weight on a device: its values and its normal equations, in blocks, by torch.

Everything is in double precision, as on the CPU, and blocks stay within the memory budget.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.devices import send
from vwkde._compute.resources import Resources
from vwkde._runtime.lazy import lazy
from vwkde._runtime.progress import track

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.float64]

_BLOCKS_AT_ONCE = 3
"""Blocks of (rows, basis) in memory at the same time."""
_PARTS_OF_MATRIX = 4
"""Parts of the normal equations' columns, each computed from its first diagonal entry on: five eighths of the work."""


@dataclass(frozen=True)
class Basis:
    """The basis points on a device, and the length scale of the functions around them."""

    points: "Tensor"
    length_scale: float
    memory_budget: int

    def blocks(self, stage: str, *arrays: Floats) -> Iterator[list["Tensor"]]:
        """Yield blocks of the arrays' rows, on the device: they are sent once, the blocks are parts of them."""
        size = parallel.block_rows(8 * _BLOCKS_AT_ONCE * len(self.points), self.memory_budget)
        rows = parallel.split(len(arrays[0]), size)
        tensors = [send(array, str(self.points.device)) for array in arrays]
        for block in track(rows, stage, len(rows)):
            yield [tensor[block] for tensor in tensors]

    def kernel(self, x: "Tensor") -> "Tensor":
        """Return k_σ(x, z) for all rows and basis points; constants are columns of the product, not further passes."""
        import torch

        scale = 1 / self.length_scale**2
        norms = x.square().sum(dim=1, keepdim=True)
        exponent = torch.cat([scale * x, -0.5 * scale * norms, torch.ones_like(norms)], dim=1) @ self._with_norms
        return exponent.clamp_(max=0).exp_()  # cancellation must not make it exceed one

    def design(self, x: "Tensor", direction: "Tensor") -> "Tensor":
        """Return F, the slopes of the basis functions."""
        import torch

        along = (direction * x).sum(dim=1, keepdim=True)
        slope = torch.cat([direction, -along], dim=1).mul_(1 / self.length_scale**2) @ self._with_norms[:-1]
        return self.kernel(x).mul_(slope)

    @lazy
    def _with_norms(self) -> "Tensor":
        """The transposed points, a row of ones, and one of −‖z‖²/2σ²."""
        import torch

        norms = -0.5 / self.length_scale**2 * self.points.square().sum(dim=1, keepdim=True)
        return torch.cat([self.points, torch.ones_like(norms), norms], dim=1).T.contiguous()


def make_basis(points: Floats, length_scale: float, resources: Resources) -> Basis:
    """Send the basis points to the device."""
    return Basis(send(points, resources.device), length_scale, resources.memory_budget)


def values(basis: Basis, coefficients: Floats, x: Floats) -> Floats:
    """Return Σ_m θ_m k_σ(x, z_m)."""
    theta = send(coefficients, str(basis.points.device))
    return _collected(basis.kernel(rows) @ theta for (rows,) in basis.blocks("weights", x))


def slopes(basis: Basis, coefficients: Floats, x: Floats, direction: Floats) -> Floats:
    """Return Σ_m θ_m ∇k_σ(x, z_m) · direction."""
    theta = send(coefficients, str(basis.points.device))
    return _collected(basis.design(*parts) @ theta for parts in basis.blocks("weights", x, direction))


def normal_equations(
    basis: Basis, x: Floats, direction: Floats, unweighted: Floats, importance: Floats
) -> tuple[Floats, Floats]:
    """Return the normal equations of the weight: the lower triangle of the matrix, and the right-hand side."""
    import torch

    m, device = len(basis.points), basis.points.device
    normal, right = torch.zeros((m, m), dtype=torch.float64, device=device), torch.zeros_like(basis.points[:, 0])
    for rows, along, bias, counts in basis.blocks("weight fit", x, direction, unweighted, importance):
        root = counts.sqrt()
        design = basis.design(rows, along * root[:, None])
        for columns in parallel.split(m, -(-m // _PARTS_OF_MATRIX)):
            below = slice(columns.start, m)
            normal[below, columns].addmm_(design[:, below].T, design[:, columns], alpha=2 / len(x))
        right.addmv_(design.T, bias * root, alpha=-2 / len(x))
    return normal.cpu().numpy(), right.cpu().numpy()


def solution(normal: Floats, right: Floats, device: str) -> Floats | None:
    """Return what solves the normal equations, by the lower triangle of the matrix; None if they are singular."""
    import torch

    factor, failed = torch.linalg.cholesky_ex(send(normal, device))
    if failed:
        return None
    return torch.cholesky_solve(send(right[:, None], device), factor)[:, 0].cpu().numpy()


def _collected(parts: Iterator["Tensor"]) -> Floats:
    import torch

    return torch.cat(list(parts)).cpu().numpy()
