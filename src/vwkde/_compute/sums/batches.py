"""Kernel sums between many samples of one size: each against all others, in single precision.

For two samples X and Y what comes out is one number: the mean over the points of X of the log kernel sum over those of
Y. It is what a plain estimate of KL needs, and nothing larger than a row of one pair is ever held.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.engines import ON_DEVICE
from vwkde._compute.exp2 import limit
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources
from vwkde._compute.sums import kernels, torch_engine, triton_engine

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]

_FAR = np.float32(1e4)
"""Where padding stands, in bandwidths: its kernel is at the floor for every point."""
_VECTOR = 16
_LN2 = np.log(2)
_MEANS = {"torch": torch_engine.mean_log2_sums, "triton": triton_engine.mean_log2_sums}
"""What does the same on a device."""


@dataclass(frozen=True)
class Batch:
    """Samples of one size, (samples, points, columns), in units of the bandwidth; also transposed and padded."""

    rows: Singles
    tiles: Singles

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.rows)


def make_batch(samples: NDArray[np.floating], centre: Floats, bandwidth: float) -> Batch:
    """Return samples of shape (samples, points, columns) ready for sums with that bandwidth."""
    rows = ((samples - centre) / (bandwidth * np.sqrt(2 * _LN2))).astype(np.float32)
    count = rows.shape[1]
    tiles = np.full((len(rows), rows.shape[2], _VECTOR * -(-count // _VECTOR)), _FAR, dtype=np.float32)
    tiles[:, :, :count] = rows.transpose(0, 2, 1)
    return Batch(rows, tiles)


def mean_log_sums(queries: Batch, points: Batch, resources: Resources = DEFAULT_RESOURCES) -> Floats:
    """Return the mean over each query sample of the log kernel sums over each other sample, (queries, samples)."""
    if resources.engine in ON_DEVICE:
        return _LN2 * _MEANS[resources.engine](queries.rows, points.rows, False, resources.device)
    found = np.empty((len(queries), len(points)))
    parts = parallel.split(len(points), max(1, -(-len(points) // parallel.thread_count(resources.n_threads))))
    pairs = [(i, range(part.start, part.stop)) for i in range(len(queries)) for part in parts]

    def keep(i: int, k: int, forward: float, _: float) -> None:
        found[i, k] = forward

    _compare(queries, points, pairs, keep, False, resources.n_threads)
    return found


def mutual_mean_log_sums(
    batch: Batch, first: int = 0, resources: Resources = DEFAULT_RESOURCES, only: range | None = None
) -> Floats:
    """Return the same for all pairs of one batch; on the diagonal each point is left out of its own sum.

    With `first`, only pairs of which one sample is that or a later one are computed, and with `only`, pairs of these
    samples with later ones; the others are NaN.
    """
    if resources.engine in ON_DEVICE:
        return _mutual_on_device(batch.rows, first, resources)
    found = np.full((len(batch), len(batch)), np.nan)
    pairs = [(i, range(max(i, first), len(batch))) for i in (range(len(batch)) if only is None else only)]

    def keep(i: int, k: int, forward: float, backward: float) -> None:
        found[i, k] = forward
        if i != k:
            found[k, i] = backward

    _compare(batch, batch, pairs, keep, True, resources.n_threads)
    return found


def _mutual_on_device(rows: Singles, first: int, resources: Resources) -> Floats:
    means, later = _MEANS[resources.engine], rows[first:]
    found = np.full((len(rows), len(rows)), np.nan)
    found[first:] = means(later, rows, False, resources.device)
    if first:
        found[:first, first:] = means(rows[:first], later, False, resources.device)
    new = np.arange(first, len(rows))
    found[new, new] = means(later, later, True, resources.device)
    return _LN2 * found


def _compare(
    x: Batch,
    y: Batch,
    pairs: list[tuple[int, range]],
    keep: Callable[[int, int, float, float], None],
    mutual: bool,
    n_threads: int | None,
) -> None:
    """Hand the means of every pair to `keep`: forward, and where samples are compared mutually, backward."""
    width = max(x.tiles.shape[2], y.tiles.shape[2])
    least = np.float32(width * 2.0 ** -limit(np.dtype(np.float32)) / np.finfo(np.float32).eps)

    def work(pair: tuple[int, range]) -> None:
        i, others = pair
        column = np.empty(y.tiles.shape[2], dtype=np.float32)
        buffer = np.empty((1, y.tiles.shape[2]), dtype=np.float32)
        for k in others:
            own = mutual and i == k
            forward, backward = kernels.mean_log2_sums(
                x.rows, x.tiles, i, y.rows, y.tiles, k, own, mutual and not own, least, column, buffer
            )
            keep(i, k, forward * _LN2, backward * _LN2)

    parallel.run(work, pairs, "comparing images", n_threads)
