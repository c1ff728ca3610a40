"""Kernel sums between many samples of one size: each against all others, in single precision.

For two samples X and Y the result is one number: the mean over the points of X of the log kernel sum over the points of
Y. This is what a plain KL estimate needs, and nothing larger than a row of one pair is ever in memory.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.engines import numba_kernels
from vwkde._compute.engines.engine import MeanLog2Sums
from vwkde._compute.precision import limit
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_FAR = np.float32(1e4)
"""Coordinate of padding points, in bandwidths: their kernel is at the floor for every point."""
_VECTOR = 16
_LN2 = np.log(2)


@dataclass(frozen=True)
class Batch:
    """Samples of equal size, (samples, points, columns), in units of the bandwidth; also transposed and padded."""

    rows: Singles
    tiles: Singles

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.rows)


def make_batch(samples: NDArray[np.floating], centre: Floats, bandwidth: float) -> Batch:
    """Prepare samples of shape (samples, points, columns) for sums with this bandwidth."""
    rows = ((samples - centre) / (bandwidth * np.sqrt(2 * _LN2))).astype(np.float32)
    count = rows.shape[1]
    tiles = np.full((len(rows), rows.shape[2], _VECTOR * -(-count // _VECTOR)), _FAR, dtype=np.float32)
    tiles[:, :, :count] = rows.transpose(0, 2, 1)
    return Batch(rows, tiles)


def mean_log_sums(queries: Batch, points: Batch, resources: Resources = DEFAULT_RESOURCES) -> Floats:
    """Return the mean over each query sample of the log kernel sums over each other sample, (queries, samples)."""
    means = resources.engine.mean_log2_sums
    if means is not None:
        return _LN2 * means(queries.rows, points.rows, False, resources.device)
    parts = parallel.split(len(points), max(1, -(-len(points) // parallel.thread_count())))
    rows = [(i, range(part.start, part.stop)) for i in range(len(queries)) for part in parts]
    forward = [forward for forward, _ in _compare(queries, points, rows, mutual=False)]
    return np.concatenate(forward).reshape(len(queries), len(points))


def mutual_mean_log_sums(
    batch: Batch, first: int = 0, resources: Resources = DEFAULT_RESOURCES, only: range | None = None
) -> Floats:
    """Return the same for all pairs of one batch; on the diagonal each point is left out of its own sum.

    Only pairs with at least one sample from index `first` on are computed and, with `only`, pairs of these samples with
    later ones; all others are NaN.
    """
    means = resources.engine.mean_log2_sums
    if means is not None:
        return _mutual_on_device(batch.rows, first, means, resources.device)
    result = np.full((len(batch), len(batch)), np.nan)
    rows = [(i, range(max(i, first), len(batch))) for i in (range(len(batch)) if only is None else only)]
    for (i, others), (forward, backward) in zip(rows, _compare(batch, batch, rows, mutual=True), strict=True):
        result[others.start : others.stop, i] = backward
        result[i, others.start : others.stop] = forward  # last, because on the diagonal there is no backward sum
    return result


def _mutual_on_device(rows: Singles, first: int, means: MeanLog2Sums, device: str) -> Floats:
    later = rows[first:]
    result = np.full((len(rows), len(rows)), np.nan)
    result[first:] = means(later, rows, False, device)
    if first:
        result[:first, first:] = means(rows[:first], later, False, device)
    new = np.arange(first, len(rows))
    result[new, new] = means(later, later, True, device)
    return _LN2 * result


def _compare(x: Batch, y: Batch, rows: list[tuple[int, range]], mutual: bool) -> list[tuple[Floats, Floats]]:
    """Return the means of samples of x with samples of y: forward and, if `mutual`, backward."""
    width = max(x.tiles.shape[2], y.tiles.shape[2])
    least = np.float32(width * 2.0 ** -limit(np.dtype(np.float32)) / np.finfo(np.float32).eps)

    def work(row: tuple[int, range]) -> tuple[Floats, Floats]:
        i, others = row
        column = np.empty(y.tiles.shape[2], dtype=np.float32)
        buffer = np.empty((1, y.tiles.shape[2]), dtype=np.float32)
        means = np.empty((2, len(others)))
        for place, k in enumerate(others):
            own = mutual and i == k
            means[:, place] = numba_kernels.mean_log2_sums(
                x.rows, x.tiles, i, y.rows, y.tiles, k, own, mutual and not own, least, column, buffer
            )
        return _LN2 * means[0], _LN2 * means[1]

    return parallel.run(work, rows, "comparing images")
