"""The CUDA engine: fused Triton kernels, one launch for all bandwidths and columns of weights.

In single precision and many dimensions, exponents come from matrix products on the tensor cores, except for queries far
from the centre in units of the bandwidth, where cancellation would show. All others use differences of coordinates.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.devices import is_cuda, require_torch, send
from vwkde._compute.engines import torch_engine
from vwkde._compute.engines.engine import Engine
from vwkde._compute.engines.torch_engine import EXCLUDED, FEW_DIMENSIONS, LN2, Problem, place
from vwkde._runtime.lazy import lazy
from vwkde._runtime.progress import track

if TYPE_CHECKING:
    from torch import Tensor

Floats = NDArray[np.floating]
Pairs = list[tuple[int, int]]


@dataclass(frozen=True)
class Shape:
    """Launch shape of a kernel: queries and points per tile, warps per program, pipeline stages."""

    rows: int
    points: int
    warps: int
    stages: int = 3


BY_PRODUCTS = {16: Shape(128, 128, 4), 32: Shape(128, 128, 8, 2)}
"""By the number of columns that the tensor cores process at once."""
BY_PRODUCTS_OF_MANY = Shape(128, 64, 4, 2)
"""For columns processed 32 at a time."""
BY_DIFFERENCES = {4: Shape(512, 16, 4), 8: Shape(256, 8, 4)}
"""By the size of a number in bytes."""
OF_BATCHES = Shape(256, 16, 4)
_MOST_UNROLLED = 16
"""Maximum columns for which loops over them are unrolled."""
_PROGRAMS = 2_048
"""Programs that fill a GPU: with few queries, the points are divided among this many."""
_LONGEST_PART = 2**17
"""Maximum points that one program sums: parts are joined in double precision."""
_FEWEST_ROWS = 2**16
"""Minimum queries per launch, if there are this many: fewer save too little memory for the time they cost."""
_NO_GPU = (
    "The engine 'triton' needs a CUDA GPU: use engine='auto' or, if there is a GPU, install torch with CUDA support: "
    "pip install 'vwkde[torch]'"
)
_BYTES_PER_SUM = 40
"""Memory for the largest exponent and the total of a part, and for joining them."""


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

    with _current(device):
        problem = place(queries, points, bandwidths, log_weight, excluded, device)
        pairs = list(np.ndindex(len(bandwidths), log_weight.shape[1]))
        sums = torch.empty((len(pairs), len(queries)), dtype=torch.float64, device=device)
        size = parallel.block_rows(_BYTES_PER_SUM * max(1, len(points) // _LONGEST_PART), memory_budget)
        groups = parallel.split(len(pairs), max(1, size // max(len(queries), len(points))))
        blocks = [(g, rows) for g in groups for rows in parallel.split(len(queries), max(size, _FEWEST_ROWS))]
        prepared = _Points(problem)
        for group, rows in track(blocks, "kernel sums", len(blocks)):
            sums[group, rows] = _log2_sums(problem.only(rows), prepared, pairs[group])
        return problem.log_sums(sums.reshape(len(bandwidths), -1, len(queries)))


def mean_log2_sums(x: NDArray[np.float32], y: NDArray[np.float32], own: bool, device: str) -> NDArray[np.float64]:
    """Return the mean log sums between samples, in one launch; see `MeanLog2Sums`."""
    import torch

    from vwkde._compute.engines import triton_kernels

    shape, columns = OF_BATCHES, x.shape[2]
    with _current(device):
        queries = _padded(send(np.ascontiguousarray(x.transpose(0, 2, 1)), device), shape.rows)
        points = _padded(send(np.ascontiguousarray(y.transpose(0, 2, 1)), device), shape.points)
        column = _padded(torch.zeros(y.shape[1], device=device), shape.points, EXCLUDED)
        grid = (queries.shape[2] // shape.rows, len(x), 1 if own else len(y))
        sums = torch.empty((grid[1], grid[2], grid[0]), device=device)
        triton_kernels.mean_sums_of_batches[grid](
            queries, points, column, sums, x.shape[1], queries.shape[2], points.shape[2],
            points.shape[2] // shape.points, COLUMNS=columns, UNROLLED=columns <= _MOST_UNROLLED, LEAVE_OUT=own,
            ROWS=shape.rows, TILE=shape.points, num_warps=shape.warps, num_stages=shape.stages,
        )  # fmt: skip
        means = sums.double().sum(dim=2) / x.shape[1]
        return (means[:, 0] if own else means).cpu().numpy()


def _current(device: str) -> AbstractContextManager[Any]:
    """Make the device the one that kernels are launched on; the CPU is for Triton's interpreter."""
    import torch

    return torch.cuda.device(device) if torch.device(device).type == "cuda" else torch.device(device)


@dataclass(frozen=True)
class _Points:
    """The points as the kernels want them: padded, transposed, or split into high and low parts."""

    problem: Problem

    @lazy
    def transposed(self) -> "Tensor":
        shape = BY_DIFFERENCES[self.problem.y.element_size()]
        return _padded(self.problem.y.T, shape.points).contiguous()

    @lazy
    def halves(self) -> "Tensor":
        return _halves(self.problem.y, _product_shape(self.problem.y.shape[1]).points)

    @lazy
    def squared_norms(self) -> "Tensor":
        return self.problem.y.double().square().sum(dim=1)

    def columns(self, pairs: Pairs, product: bool) -> "Tensor":
        """Return what is added to the exponents of each pair, padded with excluded points."""
        import torch

        chosen = torch.stack([self.problem.columns[c] for _, c in pairs])
        if product:
            chosen -= self.powers(pairs).double()[:, None] * self.squared_norms
        y = self.problem.y
        shape = _product_shape(y.shape[1]) if product else BY_DIFFERENCES[y.element_size()]
        return _padded(chosen.clamp(min=EXCLUDED).to(y.dtype), shape.points, EXCLUDED)

    def powers(self, pairs: Pairs) -> "Tensor":
        import torch

        powers = self.problem.powers[[g for g, _ in pairs]]
        return torch.as_tensor(powers, dtype=self.problem.y.dtype, device=self.problem.y.device)


def _log2_sums(part: Problem, points: _Points, pairs: Pairs) -> "Tensor":
    """Return the base-two logarithms of the sums, (pairs, queries)."""
    import torch

    if part.x.shape[1] <= FEW_DIMENSIONS or part.x.element_size() == 8:
        return _launch(part, points, pairs, False)
    out = points.powers(pairs).double()[:, None] * part.squared_norms
    near = out * LN2 <= part.product_limit
    sums = torch.empty_like(out)
    for product in (True, False):
        counts = (near == product).sum(dim=1).tolist()
        whole = [pair for pair, count in enumerate(counts) if count == len(part.x)]
        if whole:
            sums[whole] = _launch(part, points, [pairs[pair] for pair in whole], product)
        for pair in (pair for pair, count in enumerate(counts) if 0 < count < len(part.x)):
            rows = (near[pair] == product).nonzero()[:, 0]
            sums[pair, rows] = _launch(part.only(rows), points, [pairs[pair]], product)[0]
    return torch.where(near, sums - out, sums)


def _launch(part: Problem, points: _Points, pairs: Pairs, product: bool) -> "Tensor":
    import torch

    from vwkde._compute.engines import triton_kernels

    columns = part.x.shape[1]
    column = points.columns(pairs, product)
    if product:
        shape, kernel, y = _product_shape(columns), triton_kernels.sums_by_products, points.halves
        x = _halves(2 * part.x, shape.rows)
        width, rows = y.shape[1] // 2, len(x)
        options = {"WIDTH": width, "CHUNK": min(width, 32)}
    else:
        shape, kernel, y = BY_DIFFERENCES[part.x.element_size()], triton_kernels.sums_by_differences, points.transposed
        x = _padded(part.x.T, shape.rows).contiguous()
        rows = x.shape[1]
        options = {"COLUMNS": columns, "UNROLLED": columns <= _MOST_UNROLLED}
    own = part.excluded
    excluded = column if own is None else torch.cat([own, own[-1:].expand(rows - len(own))])
    tiles, blocks = column.shape[1] // shape.points, rows // shape.rows
    parts = max(-(-column.shape[1] // _LONGEST_PART), min(tiles, -(-_PROGRAMS // (blocks * len(pairs)))))
    largest, total = (torch.empty((len(pairs), parts, rows), dtype=x.dtype, device=x.device) for _ in range(2))
    kernel[blocks, parts, len(pairs)](
        x, y, column, points.powers(pairs), excluded, largest, total, rows, column.shape[1], tiles, -(-tiles // parts),
        **options, LEAVE_OUT=own is not None, ROWS=shape.rows, TILE=shape.points,
        num_warps=shape.warps, num_stages=shape.stages,
    )  # fmt: skip
    return _joined(largest, total)[:, : len(part.x)]


def _joined(largest: "Tensor", total: "Tensor") -> "Tensor":
    """Return the base-two logarithms of the sums over all parts."""
    highest = largest.amax(dim=1).double()
    sums = (total * (largest.double() - highest[:, None]).exp2()).sum(dim=1)
    return highest + sums.log2()


def _padded(tensor: "Tensor", multiple: int, value: float = 0.0) -> "Tensor":
    """Return the tensor with its last axis padded to a multiple."""
    from torch.nn.functional import pad

    return pad(tensor, (0, -tensor.shape[-1] % multiple), value=value)


def _width(columns: int) -> int:
    """Return the number of columns after padding for the tensor cores."""
    return 16 if columns <= 16 else 32 * -(-columns // 32)


def _product_shape(columns: int) -> Shape:
    return BY_PRODUCTS.get(_width(columns), BY_PRODUCTS_OF_MANY)


def _halves(rows: "Tensor", multiple: int) -> "Tensor":
    """Return rows of high parts, of 11 bits, then of low parts; columns and rows are padded with zeros."""
    import torch
    from torch.nn.functional import pad

    rows = pad(rows, (0, _width(rows.shape[1]) - rows.shape[1], 0, -len(rows) % multiple))
    high = _eleven_bits(rows)
    return torch.cat([high, _eleven_bits(rows - high)], dim=1)


def _eleven_bits(numbers: "Tensor") -> "Tensor":
    """Round to the nearest number that a tensor core represents exactly: ten bits after the first."""
    import torch

    bits = numbers.view(torch.int32)
    return ((bits + 0x1000) & ~0x1FFF).view(torch.float32)


def _require(device: str) -> None:
    require_torch(device, "The engine 'triton' needs", _NO_GPU)
    if not is_cuda(device):
        raise ValueError(
            f"The engine 'triton' needs a CUDA GPU. Got device={device!r} instead; use device='cuda', or "
            f"engine='torch', which also runs there."
        )
    if find_spec("triton") is None:
        raise ImportError(
            "The engine 'triton' needs Triton; install it with: pip install triton. Or use engine='torch' on "
            "the same GPU."
        )


def _device_here() -> str | None:
    device = torch_engine.ENGINE.device_here()
    return device if device is not None and is_cuda(device) and find_spec("triton") else None


ENGINE = Engine("triton", log_sums, mean_log2_sums, True, "cuda", _require, _device_here)
