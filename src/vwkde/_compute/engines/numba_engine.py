"""Exact sums on the CPU: exponents in cache-sized tiles, summed by compiled loops on all cores.

How the sums stay accurate in the log domain. Each row i has a shift: the largest exponent among a small sample of
points. Terms are summed relative to it, so a sum cannot underflow, and one pass is enough unless some other point
exceeds the sample by hundreds of powers of two. Sums near the limit reveal such rows; they are computed again with the
largest exponent of all points.

How the distances stay accurate. ‖x‖² + ‖y‖² − 2·x·y by matrix product is fast, but cancellation amplifies rounding
errors by ‖x‖²/h². In few dimensions, and for rows far from the centre in units of the bandwidth, coordinate differences
are used instead.

How several bandwidths and weights share a pass. Bandwidths in steps of √2 form a chain: the kernel at the next one is
the square of the last, so one exponential serves a chain, and weights multiply it in the linear domain. Here the shift
is exact from the start, so that squares cannot overflow. Sums that become too small, because the points near a row have
almost no weight, are computed again separately, with weights in the exponent.

How small problems start at once. Loading the compiler takes a good part of a second, and compiling takes seconds. Few
pairs of rows are summed by the same loops in NumPy.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.engines import numpy_kernels
from vwkde._compute.engines.engine import Engine
from vwkde._compute.engines.tiles import COLUMNS, ROWS, tiled
from vwkde._compute.precision import limit
from vwkde._compute.startup import worth_compiling

Floats = NDArray[np.floating]
Ints = NDArray[np.int64]

_LN2 = np.log(2)
_FEW_DIMENSIONS = 6
"""Up to this many dimensions, differences are as fast as a matrix product."""
_SAMPLE = 128
"""Number of points that determine the first shift of a row."""
_COST = 4
"""Time of a pair of rows in a chain of bandwidths, in exponentials: more than 500 rows in both samples are compiled."""
_BLOCK = 1024
"""Rows that a thread processes at a time: tens of milliseconds of work."""
_CHAIN = {8: 12, 4: 4}
"""Longest chain by item size: each squaring doubles the relative error."""


def log_sums(
    queries: Floats,
    points: Floats,
    bandwidths: NDArray[np.float64],
    log_weight: NDArray[np.float64],
    excluded: Ints,
    memory_budget: int,
    _device: str,
) -> NDArray[np.float64]:
    """Return log sums of shape (bandwidths, queries, columns of weights)."""
    centre = points.mean(axis=0, dtype=np.float64)
    pair = _Pair(queries, points, centre, excluded, memory_budget, _kernels(len(queries) * len(points)))
    if len(bandwidths) == 1 and log_weight.shape[1] == 1:
        return pair.log_sums(bandwidths[0], log_weight[:, 0])[None, :, None]
    chains = list(_chains(bandwidths, _CHAIN[queries.itemsize]))
    order = np.concatenate(chains)
    sums = np.empty((len(bandwidths), len(queries), log_weight.shape[1]))
    sums[order] = pair.log_sums_of_grid(bandwidths[order], [len(chain) for chain in chains], log_weight)
    return sums


def _kernels(pairs: int) -> ModuleType:
    """Return the inner loops for this many pairs of rows; compiled ones are imported only if they are used."""
    if not worth_compiling(pairs, _COST):
        return numpy_kernels
    from vwkde._compute.engines import numba_kernels

    return numba_kernels


def _chains(bandwidths: NDArray[np.float64], longest: int) -> Iterator[list[int]]:
    """Yield indices of bandwidths that decrease by √2 from one to the next."""
    left = [int(index) for index in np.argsort(-bandwidths)]
    while left:
        chain = [left.pop(0)]
        while len(chain) < longest:
            wanted = bandwidths[chain[-1]] / np.sqrt(2)
            following = [index for index in left if abs(bandwidths[index] / wanted - 1) < 1e-14]
            if not following:
                break
            left.remove(following[0])
            chain.append(following[0])
        yield chain


@dataclass(frozen=True)
class _Chunk:
    """As many points as the memory budget allows, scaled and tiled, padded with points of weight zero."""

    first: int
    tiles: Floats
    column: Floats
    weight: Floats


@dataclass(frozen=True)
class _Pair:
    """Queries and points with a common centre and precision, the inner loops, and the loop over blocks."""

    queries: Floats
    points: Floats
    centre: NDArray[np.float64]
    excluded: Ints
    memory_budget: int
    kernels: ModuleType

    def log_sums(self, bandwidth: float, log_weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return sums for one bandwidth and one column of weights, which go into the exponent."""
        sums = np.empty(len(self.queries))
        heaviest = log_weight.max()
        if heaviest == -np.inf:
            return np.full(len(self.queries), -np.inf)
        column = (log_weight - heaviest) / _LN2
        for rows, product in self._rows_by_form(bandwidth):
            part = self._only(rows)
            shift = part._sampled_shift(bandwidth, column, product)
            total = part._totals(bandwidth, column, product, shift)
            at_ceiling = total >= 2.0 ** (limit(self.queries.dtype) - 1)
            again = np.flatnonzero(at_ceiling | np.isneginf(shift))
            if len(again):
                rest = part._only(again)
                shift[again] = rest._shift(bandwidth, column, product)
                total[again] = rest._totals(bandwidth, column, product, shift[again])
            sums[rows] = (_log2(total) + shift - (part._squared_norms(bandwidth) if product else 0)) * _LN2
        return sums + heaviest

    def log_sums_of_grid(
        self, bandwidths: NDArray[np.float64], lengths: list[int], log_weight: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return sums for bandwidths in chains of these lengths and several columns of weights, in one pass."""
        widest, dtype = bandwidths.max(), self.queries.dtype
        powers = (widest / bandwidths) ** 2
        sums = np.empty((len(bandwidths), len(self.queries), log_weight.shape[1]))
        heaviest = np.maximum(log_weight.max(axis=0), np.finfo(float).min)
        weight = np.exp(log_weight - heaviest)
        none = np.zeros(len(self.points))
        for rows, product in self._rows_by_form(widest, finest=bandwidths.min()):
            part = self._only(rows)
            shift = part._shift(widest, none, product)
            total = part._grid_totals(widest, powers, lengths, weight, product, shift)
            base = shift - (part._squared_norms(widest) if product else 0)
            sums[:, rows] = (_log2(total) + powers[:, None, None] * base[:, None]) * _LN2 + heaviest
            # clipped terms must stay below the rounding error of the smallest safe total
            safe = total > len(self.points) * 2.0 ** -limit(dtype) / np.finfo(dtype).eps
            safe &= np.isfinite(shift)[:, None]
            for g, c in zip(*np.nonzero(~safe.all(axis=1)), strict=True):
                lost = rows[~safe[g, :, c]]
                sums[g, lost, c] = self._only(lost).log_sums(bandwidths[g], log_weight[:, c])
        return sums

    def _grid_totals(
        self,
        widest: float,
        powers: NDArray[np.float64],
        lengths: list[int],
        weight: NDArray[np.float64],
        product: bool,
        shift: NDArray[np.float64],
    ) -> NDArray[np.float64]:
        dtype = self.queries.dtype
        total = np.zeros((len(self.queries), len(powers), weight.shape[1]))
        row = shift.astype(dtype)
        starts = np.cumsum([0, *lengths[:-1]])
        chains = powers[starts].astype(dtype), np.array(lengths), dtype.type(2.0 ** -limit(dtype))

        def add(x: Floats, chunk: _Chunk, excluded: Ints, block: slice) -> None:
            self.kernels.sum_rows_of_grid(
                x, chunk.tiles, chunk.column, row[block], product, excluded, chunk.first,
                chunk.weight, *chains, total[block],
            )  # fmt: skip

        self._over_tiles(widest, np.zeros(len(self.points)), product, add, weight)
        return total.transpose(1, 0, 2)

    def _only(self, rows: Ints) -> "_Pair":
        excluded = self.excluded[rows] if len(self.excluded) else self.excluded
        return replace(self, queries=self.queries[rows], excluded=excluded)

    def _rows_by_form(self, bandwidth: float, finest: float | None = None) -> Iterator[tuple[Ints, bool]]:
        """Split the queries into those that are safe with a matrix product and those that need differences."""
        if self.queries.shape[1] <= _FEW_DIMENSIONS:
            yield np.arange(len(self.queries)), False
            return
        near = self._squared_norms(finest or bandwidth) <= self._product_limit() / _LN2
        for product in (True, False):
            rows = np.flatnonzero(near == product)
            if len(rows):
                yield rows, product

    def _product_limit(self) -> float:
        """Return the largest ‖x‖²/2h² at which cancellation stays below 1e-12 (2e-5 in float32)."""
        return 1000.0 if self.queries.itemsize == 8 else 80.0

    def _scaled(self, data: Floats, bandwidth: float) -> Floats:
        return ((data - self.centre) / (bandwidth * np.sqrt(2 * _LN2))).astype(self.queries.dtype)

    def _squared_norms(self, bandwidth: float) -> NDArray[np.float64]:
        norms = np.empty(len(self.queries))
        for block in parallel.split(len(norms), 2**16):
            x = self._scaled(self.queries[block], bandwidth)
            norms[block] = np.einsum("ij,ij->i", x, x, dtype=np.float64)
        return norms

    def _sampled_shift(self, bandwidth: float, column: NDArray[np.float64], product: bool) -> NDArray[np.float64]:
        sample = np.unique(np.linspace(0, len(self.points) - 1, _SAMPLE).astype(int))
        position = np.minimum(np.searchsorted(sample, self.excluded), len(sample) - 1)
        excluded = np.where(sample[position] == self.excluded, position, -1)
        part = replace(self, points=self.points[sample], excluded=excluded)
        return part._shift(bandwidth, column[sample], product)

    def _shift(self, bandwidth: float, column: NDArray[np.float64], product: bool) -> NDArray[np.float64]:
        """Return the largest exponent of each row, in the precision of the engine."""
        largest = np.full(len(self.queries), -np.inf)

        def raise_to(x: Floats, chunk: _Chunk, excluded: Ints, block: slice) -> None:
            self.kernels.max_rows(x, chunk.tiles, chunk.column, product, excluded, chunk.first, largest[block])

        self._over_tiles(bandwidth, column, product, raise_to)
        return largest

    def _totals(
        self, bandwidth: float, column: NDArray[np.float64], product: bool, shift: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return Σ 2^(exponent − shift); rows with shift −∞ have nothing to sum."""
        total = np.zeros(len(self.queries))
        row = np.where(np.isneginf(shift), np.finfo(np.float32).max, shift).astype(self.queries.dtype)

        def add(x: Floats, chunk: _Chunk, excluded: Ints, block: slice) -> None:
            self.kernels.sum_rows(
                x, chunk.tiles, chunk.column, row[block], product, excluded, chunk.first, total[block]
            )

        self._over_tiles(bandwidth, column, product, add)
        return total

    def _over_tiles(
        self,
        bandwidth: float,
        column: NDArray[np.float64],
        product: bool,
        kernel: Callable[[Floats, _Chunk, Ints, slice], None],
        weight: NDArray[np.float64] | None = None,
    ) -> None:
        """Call the kernel for every block of rows and every chunk of points, with rows in parallel."""
        size = int(np.clip(-(-len(self.queries) // (4 * parallel.thread_count())), ROWS, _BLOCK))
        blocks = parallel.split(len(self.queries), size)
        for chunk in self._chunks(bandwidth, column, product, weight):

            def work(block: slice) -> None:
                x = self._scaled(self.queries[block], bandwidth)
                kernel(2 * x if product else x, chunk, self.excluded[block], block)  # noqa: B023

            parallel.run(work, blocks, "kernel sums")

    def _chunks(
        self, bandwidth: float, column: NDArray[np.float64], product: bool, weight: NDArray[np.float64] | None
    ) -> Iterator[_Chunk]:
        dtype = self.queries.dtype
        weight = np.empty((len(self.points), 0)) if weight is None else weight
        bytes_per_point = 8 * (4 * self.points.shape[1] + 3 * weight.shape[1] + 2)
        width = min(COLUMNS, 16 * -(-len(self.points) // 16))
        size = max(1, parallel.block_rows(bytes_per_point, self.memory_budget) // width) * width
        for rows in parallel.split(len(self.points), size):
            y = self._scaled(self.points[rows], bandwidth)
            c = column[rows] - (np.einsum("ij,ij->i", y, y, dtype=np.float64) if product else 0)
            yield _Chunk(
                first=rows.start,
                tiles=tiled(y, width, 0.0),
                column=tiled(c[:, None].astype(dtype), width, -np.inf)[:, 0],
                weight=tiled(weight[rows].astype(dtype), width, 0.0),
            )


def _log2(total: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        return np.log2(total)


ENGINE = Engine("numba-exact", log_sums)
