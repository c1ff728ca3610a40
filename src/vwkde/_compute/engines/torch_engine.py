"""The plain torch engine: exponents in blocks on any device, for GPUs without Triton.

It also has what the Triton engine shares: samples on the device, in units in which exponents have base two.
"""

from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.devices import require_torch, send
from vwkde._compute.engines.engine import Engine
from vwkde._compute.torch_state import exact_products, threads_of_torch
from vwkde._runtime.lazy import lazy
from vwkde._runtime.progress import track

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.floating]

LN2 = float(np.log(2))
FEW_DIMENSIONS = 6
"""Up to this many dimensions, differences of coordinates are as fast as a matrix product."""
NOTHING = -1e38
"""Stands for the logarithm of zero: finite, so that the difference of two is a number."""
EXCLUDED = -2e38
"""The exponent of points that are left out of a sum."""
_LARGEST_BLOCK = {"cpu": 2**20, "cuda": 2**26}
"""Maximum numbers in a block: what fits into CPU caches, or what fills a GPU."""
_SMALLEST_BLOCK = 2**12
"""Minimum numbers in a block: smaller blocks save too little memory for the time they cost."""
_BLOCKS_AT_ONCE = 4
"""Blocks in memory at the same time during an exponential and its sum."""


@dataclass(frozen=True)
class Problem:
    """Queries and points on a device, centred, in units of the widest bandwidth.

    The exponent of a term, to base two, is column − power · ‖x − y‖²; there is a power for each bandwidth, and a column
    for each column of weights. `heaviest` are the logarithms of the largest weights, which are subtracted from the
    columns.
    """

    x: "Tensor"
    y: "Tensor"
    powers: NDArray[np.float64]
    columns: "Tensor"
    heaviest: NDArray[np.float64]
    excluded: "Tensor | None"

    def only(self, rows: "Tensor | slice") -> "Problem":
        """Return the problem for some of the queries."""
        return replace(self, x=self.x[rows], excluded=None if self.excluded is None else self.excluded[rows])

    @lazy
    def squared_norms(self) -> "Tensor":
        """‖x‖² of the queries, in float64."""
        return self.x.double().square().sum(dim=1)

    @property
    def product_limit(self) -> float:
        """The largest ‖x‖²/2h² at which cancellation stays below 1e-12 (6e-5 in float32)."""
        return 1000.0 if self.x.element_size() == 8 else 80.0

    def log_sums(self, base_two: "Tensor") -> NDArray[np.float64]:
        """Convert base-two logarithms, (bandwidths, columns, queries), to natural ones; swap the last two axes."""
        return base_two.cpu().numpy().transpose(0, 2, 1) * LN2 + self.heaviest


def place(
    queries: Floats,
    points: Floats,
    bandwidths: NDArray[np.float64],
    log_weight: NDArray[np.float64],
    excluded: NDArray[np.int64],
    device: str,
) -> Problem:
    """Send samples to a device."""
    import torch

    widest = float(bandwidths.max())
    y = send(points, device)
    x = y if queries is points else send(queries, device)
    centre = y.double().mean(dim=0)

    def scaled(sample: "Tensor") -> "Tensor":
        return ((sample - centre) / (widest * (2 * LN2) ** 0.5)).to(sample.dtype)

    heaviest = np.maximum(log_weight.max(axis=0), np.finfo(np.float64).min)
    columns = torch.as_tensor(np.maximum((log_weight - heaviest).T / LN2, EXCLUDED), device=device)
    own = torch.as_tensor(excluded, dtype=torch.int32, device=device) if len(excluded) else None
    return Problem(scaled(x), scaled(y), (widest / bandwidths) ** 2, columns, heaviest, own)


def log_sums(
    queries: Floats,
    points: Floats,
    bandwidths: NDArray[np.float64],
    log_weight: NDArray[np.float64],
    excluded: NDArray[np.int64],
    memory_budget: int,
    device: str,
) -> NDArray[np.float64]:
    """Return log sums of shape (bandwidths, queries, columns of weights)."""
    import torch

    with torch.no_grad(), exact_products(), threads_of_torch(parallel.openmp_threads()):
        problem = place(queries, points, bandwidths, log_weight, excluded, device)
        sums = torch.empty((len(bandwidths), log_weight.shape[1], len(queries)), dtype=torch.float64, device=device)
        few = queries.shape[1] <= FEW_DIMENSIONS
        near = problem.squared_norms * float(problem.powers.max()) * LN2 <= (-1 if few else problem.product_limit)
        for product in (True, False):
            rows = torch.nonzero(near == product)[:, 0]
            blocks = parallel.split(len(rows), _block_shape(len(rows), problem, memory_budget)[0]) if len(rows) else []
            for block in track(blocks, "kernel sums", len(blocks)) if blocks else ():
                part = problem.only(rows[block])
                sums[:, :, rows[block]] = _sums_of_block(part, product, memory_budget)
        return problem.log_sums(sums)


def mean_log2_sums(x: NDArray[np.float32], y: NDArray[np.float32], own: bool, device: str) -> NDArray[np.float64]:
    """Return the mean log sums between samples; see `MeanLog2Sums`."""
    import torch

    with torch.no_grad():
        queries, points = (send(np.ascontiguousarray(s), device) for s in (x, y))
        if own:
            return torch.stack([_mean_log2_sum(sample, sample[None], own)[0] for sample in queries]).cpu().numpy()
        size = max(1, _LARGEST_BLOCK[_kind(device)] // (x.shape[1] * y.shape[1]))
        means = [
            torch.cat([_mean_log2_sum(sample, points[block], own) for block in parallel.split(len(points), size)])
            for sample in track(queries, "comparing images", len(queries))
        ]
        return torch.stack(means).cpu().numpy()


def _mean_log2_sum(sample: "Tensor", others: "Tensor", own: bool) -> "Tensor":
    exponent = -_squared_distances(sample[None], others)
    if own:
        exponent[0].fill_diagonal_(EXCLUDED)
    largest = exponent.amax(dim=2)
    total = (exponent - largest[:, :, None]).exp2_().sum(dim=2)
    return (largest.double() + total.double().log2()).mean(dim=1)


def _kind(device: str) -> str:
    return "cpu" if device.startswith("cpu") else "cuda"


def _block_shape(rows: int, problem: Problem, memory_budget: int) -> tuple[int, int]:
    """Return the numbers of queries and points in a block."""
    size = problem.y.element_size() * _BLOCKS_AT_ONCE
    area = max(_SMALLEST_BLOCK, min(memory_budget // size, _LARGEST_BLOCK[_kind(str(problem.y.device))]))
    high = max(1, min(rows, int(area**0.5)))
    return high, max(1, min(len(problem.y), area // high))


def _sums_of_block(part: Problem, product: bool, memory_budget: int) -> "Tensor":
    """Return the base-two logarithms of the sums, (bandwidths, columns, queries)."""
    import torch

    shape = (len(part.powers), len(part.columns), len(part.x))
    largest = torch.full(shape, NOTHING, dtype=part.x.dtype, device=part.x.device)
    total = torch.zeros(shape, dtype=torch.float64, device=part.x.device)
    for points in parallel.split(len(part.y), _block_shape(len(part.x), part, memory_budget)[1]):
        squared = _squared_by_product(part, points) if product else _squared_distances(part.x, part.y[points])
        for g, c in np.ndindex(shape[:2]):
            exponent = part.columns[c, points].to(squared.dtype) - float(part.powers[g]) * squared
            if part.excluded is not None:
                _exclude(exponent, part.excluded, points)
            higher = torch.maximum(largest[g, c], exponent.amax(dim=1))
            total[g, c] *= (largest[g, c] - higher).double().exp2()
            total[g, c] += exponent.sub_(higher[:, None]).exp2_().sum(dim=1)
            largest[g, c] = higher
    return largest.double() + total.log2()


def _squared_by_product(part: Problem, points: slice) -> "Tensor":
    """Return ‖x − y‖² by a matrix product."""
    x, y = part.x, part.y[points]
    norms = x.square().sum(dim=1)[:, None] + y.square().sum(dim=1)
    return norms.addmm_(x, y.T, alpha=-2).clamp_(min=0)


def _squared_distances(x: "Tensor", y: "Tensor") -> "Tensor":
    """Return ‖x − y‖² from differences of coordinates."""
    import torch

    return torch.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist").square_()


def _exclude(exponent: "Tensor", excluded: "Tensor", points: slice) -> None:
    """Exclude the point of each query, if it is among these points."""
    import torch

    rows = torch.nonzero((excluded >= points.start) & (excluded < points.stop))[:, 0]
    exponent[rows, excluded[rows].long() - points.start] = EXCLUDED


def _require(device: str) -> None:
    require_torch(device, "The engine 'torch' needs")


def _device_here() -> str | None:
    if find_spec("torch") is None:
        return None
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


ENGINE = Engine("torch", log_sums, mean_log2_sums, on_device=True, require=_require, device_here=_device_here)
