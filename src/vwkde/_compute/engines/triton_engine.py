"""The CUDA engine: fused Triton kernels, one launch for all bandwidths and columns of weights.

In single precision exponents come from matrix products on the tensor cores, except for queries far from the centre in
units of the bandwidth, where cancellation would show. All others use differences of coordinates.
"""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.devices import is_cuda, require_torch, send
from vwkde._compute.engines import halves, torch_engine
from vwkde._compute.engines.engine import Engine
from vwkde._compute.engines.torch_engine import EXCLUDED, Problem, place
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


BY_PRODUCTS = Shape(128, 128, 4)
BY_PRODUCTS_OF_MANY = Shape(128, 64, 4)
"""For rows of `halves.CHUNK` numbers or more."""
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
_BYTES_PER_COLUMN = 30
"""Memory for a coordinate of a query or point in units of a bandwidth, and for its parts in half precision."""


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
        row = _BYTES_PER_SUM * max(1, len(points) // _LONGEST_PART) + _BYTES_PER_COLUMN * points.shape[1]
        size = parallel.block_rows(row, memory_budget)
        groups = parallel.split(len(pairs), max(1, size // max(len(queries), len(points))))
        for group in track(groups, "kernel sums", len(groups)):
            of_group = _Points(problem, pairs[group])
            for rows in parallel.split(len(queries), max(size, _FEWEST_ROWS)):
                sums[group, rows] = _log2_sums(problem.only(rows), of_group)
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
    """The points as the kernels want them, for some pairs of a bandwidth and a column of weights."""

    problem: Problem
    pairs: Pairs

    @lazy
    def powers(self) -> "Tensor":
        import torch

        powers = self.problem.powers[[g for g, _ in self.pairs]]
        return torch.as_tensor(powers, dtype=self.problem.y.dtype, device=self.problem.y.device)

    @lazy
    def columns(self) -> "Tensor":
        return self.problem.columns[[c for _, c in self.pairs]]

    @lazy
    def transposed(self) -> "Tensor":
        return _padded(self.problem.y.T, BY_DIFFERENCES[self.problem.y.element_size()].points).contiguous()

    @lazy
    def halves(self) -> "Tensor":
        y = self.problem.y
        return halves.of_points(y, self.powers, self.columns, _product_shape(y.shape[1]).points)

    def some(self) -> tuple["Tensor", int]:
        """Return every so many points, as many as a tile has, and how many points apart they are."""
        shape = _product_shape(self.problem.y.shape[1])
        stride = self.halves.shape[1] // shape.points
        return self.halves[:, ::stride][:, : shape.points].contiguous(), stride

    def only(self, pair: int) -> "_Points":
        """Return the points for one of the pairs."""
        return _Points(self.problem, [self.pairs[pair]])


def _log2_sums(part: Problem, points: _Points) -> "Tensor":
    """Return the base-two logarithms of the sums, (pairs, queries)."""
    if part.x.element_size() == 8:
        return _by_differences(part, points)
    queries = halves.of_queries(part.x, points.powers, _product_shape(part.x.shape[1]).rows)
    if int(queries.near.sum()) < queries.near.numel() // 2:
        return _by_differences(part, points)
    sums, right = _by_products(part, points, queries)
    counts = (~right).sum(dim=1).tolist()
    for pair in (pair for pair, count in enumerate(counts) if count):
        rows = (~right[pair]).nonzero()[:, 0]
        sums[pair, rows] = _by_differences(part.only(rows), points.only(pair))[0]
    return sums


def _by_products(part: Problem, points: _Points, queries: halves.Queries) -> tuple["Tensor", "Tensor"]:
    """Return the sums, (pairs, queries), and which of them are right: the others have to be computed again."""
    from vwkde._compute.engines import triton_kernels

    shape, y, (some, stride) = _product_shape(part.x.shape[1]), points.halves, points.some()
    rows, width = queries.rows.shape[1:]
    launch = _launch_shape(shape, len(y), rows, y.shape[1], part.x)
    own = _own(part, rows)
    options = {
        "WIDTH": width, "CHUNK": min(width, halves.CHUNK), "LEAVE_OUT": own is not None, "ROWS": shape.rows,
        "TILE": shape.points, "num_warps": shape.warps, "num_stages": shape.stages,
    }  # fmt: skip
    excluded = y if own is None else own
    level = part.x.new_empty((len(y), rows))
    triton_kernels.largest_at_some[launch.grid[0], len(y)](queries.rows, some, excluded, level, rows, stride, **options)
    triton_kernels.sums_by_products[launch.grid](
        queries.at_level(level), y, excluded, launch.total, rows, y.shape[1], launch.tiles, launch.tiles_of_part,
        **options,
    )  # fmt: skip
    level = level[:, : len(part.x)]
    sums = launch.total.double().sum(dim=1).log2()[:, : len(part.x)] + level
    return sums + queries.outside, queries.near & (level > halves.LOWEST) & sums.isfinite()


def _by_differences(part: Problem, points: _Points) -> "Tensor":
    from vwkde._compute.engines import triton_kernels

    shape, y, columns = BY_DIFFERENCES[part.x.element_size()], points.transposed, part.x.shape[1]
    column = _padded(points.columns.clamp(min=EXCLUDED).to(y.dtype), shape.points, EXCLUDED)
    x = _padded(part.x.T, shape.rows).contiguous()
    rows = x.shape[1]
    launch = _launch_shape(shape, len(column), rows, column.shape[1], x)
    own = _own(part, rows)
    triton_kernels.sums_by_differences[launch.grid](
        x, y, column, points.powers, column if own is None else own, launch.largest, launch.total, rows,
        column.shape[1], launch.tiles, launch.tiles_of_part, COLUMNS=columns, UNROLLED=columns <= _MOST_UNROLLED,
        LEAVE_OUT=own is not None, ROWS=shape.rows, TILE=shape.points, num_warps=shape.warps, num_stages=shape.stages,
    )  # fmt: skip
    return _joined(launch.largest, launch.total)[:, : len(part.x)]


def _own(part: Problem, rows: int) -> "Tensor | None":
    """Return the points that queries leave out, padded to a number of rows."""
    import torch

    own = part.excluded
    return None if own is None else torch.cat([own, own[-1:].expand(rows - len(own))])


class _Launch(NamedTuple):
    """The programs of a launch, what they write, and how many tiles of points there are, in all and in each part."""

    grid: tuple[int, int, int]
    largest: "Tensor"
    total: "Tensor"
    tiles: int
    tiles_of_part: int


def _launch_shape(shape: Shape, pairs: int, rows: int, points: int, like: "Tensor") -> _Launch:
    """Divide rows and points among programs; numbers are written in the precision of a tensor, on its device."""
    tiles, blocks = points // shape.points, rows // shape.rows
    parts = max(-(-points // _LONGEST_PART), min(tiles, -(-_PROGRAMS // (blocks * pairs))))
    largest, total = (like.new_empty((pairs, parts, rows)) for _ in range(2))
    return _Launch((blocks, parts, pairs), largest, total, tiles, -(-tiles // parts))


def _joined(largest: "Tensor", total: "Tensor") -> "Tensor":
    """Return the base-two logarithms of the sums over all parts."""
    highest = largest.amax(dim=1).double()
    sums = (total * (largest.double() - highest[:, None]).exp2()).sum(dim=1)
    return highest + sums.log2()


def _padded(tensor: "Tensor", multiple: int, value: float = 0.0) -> "Tensor":
    """Return the tensor with its last axis padded to a multiple."""
    from torch.nn.functional import pad

    return pad(tensor, (0, -tensor.shape[-1] % multiple), value=value)


def _product_shape(columns: int) -> Shape:
    return BY_PRODUCTS if halves.width(columns) < halves.CHUNK else BY_PRODUCTS_OF_MANY


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
