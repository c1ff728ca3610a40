"""The few columns, out of many, that carry the ratio by themselves.

All pairs of columns are compared by the log loss of plain kernel estimates in them, leave-one-out, and the best pair is
extended by one column at a time while the loss falls. The best of many pairs looks better than it is at the rows that
chose it. So the search is run five times, each without a fifth of the rows, and only columns that most searches find
count.

Kernels of several columns are products. For one row, let K be its kernels with all other rows, a line per column. Then
K W Kᵀ, where W has the weights of a sample on its diagonal, has the kernel sums of all pairs of columns.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vwkde._data.sample import Sample
from vwkde._models import exponentials
from vwkde._models.folds import deal_folds

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Ints = NDArray[np.intp]

MOST_COLUMNS = 4
_FEWEST_ROWS = 500
"""Rows of each sample below which the best of many pairs is mostly luck."""
_FOLDS = 5
_MOST_ROWS, _MOST_NUMBERS = 600, 18_000
"""Rows of each sample that are compared: at most this many, and with many columns at most this many numbers."""
_BLOCK = 16
"""Rows whose sums of all pairs are computed at once."""
_LEAST_FALL = 0.003
"""Fall of the loss, in nats, that is worth one more column."""
_LARGEST = np.float32(6.0)
"""Largest log ratio: so few rows show no larger one."""
_TINY = np.finfo(np.float32).tiny


@dataclass(frozen=True)
class _Rows:
    """Rows of both samples side by side, in units of the bandwidth: their columns, sides (0, 1), folds and weights."""

    columns: Singles
    side: Ints
    fold: Ints
    weight: Singles

    def kernels(self, rows: slice) -> Singles:
        """Return the kernels between some rows and all rows, (rows, columns, all rows), zero for a row itself."""
        x = np.ascontiguousarray(self.columns.T)
        kernels = x[:, rows].T[:, :, None] - x
        np.square(kernels, out=kernels)
        kernels *= np.float32(-0.5)
        np.exp(kernels, out=kernels)
        at = np.arange(rows.start, rows.stop)
        kernels[at - rows.start, :, at] = 0.0
        return kernels

    def losses(self, sums: Singles, rows: slice) -> Singles:
        """Return the log losses at some rows from the kernel sums of both samples, (2, rows, ...)."""
        logs = np.log(np.maximum(sums, _TINY))
        sign = np.where(self.side[rows] == 0, 1, -1).astype(np.float32)
        signed = np.clip(logs[0] - logs[1], -_LARGEST, _LARGEST) * sign.reshape(-1, *[1] * (logs.ndim - 2))
        return np.asarray(exponentials.loss(signed), dtype=np.float32)


def informative_columns(samples: tuple[Sample, Sample], seed: int) -> Ints:
    """Return the columns that carry the ratio, or none; the columns should be normal scores."""
    if samples[0].points.shape[1] <= MOST_COLUMNS or min(s.effective_rows for s in samples) < _FEWEST_ROWS:
        return np.empty(0, dtype=np.intp)
    rows = _some_rows(samples, seed)
    pairs = [np.array(np.unravel_index(np.argmin(losses), losses.shape)) for losses in _pair_losses(rows)]
    found = [_extend(rows, pair, fold) for fold, pair in enumerate(pairs)]
    columns, counts = np.unique(np.concatenate(found), return_counts=True)
    return columns[2 * counts > _FOLDS]


def _some_rows(samples: tuple[Sample, Sample], seed: int) -> _Rows:
    random = np.random.default_rng(seed)
    most = min(_MOST_ROWS, _MOST_NUMBERS // samples[0].points.shape[1])
    some = [sample.thinned(most, random) for sample in samples]
    bandwidth = min(map(len, some)) ** (-1 / 6)  # Scott's, for pairs of columns
    columns = np.concatenate([s.points / bandwidth for s in some]).astype(np.float32)
    weight = np.concatenate([s.weight / s.weight.sum() for s in some]).astype(np.float32)
    fold = np.concatenate([deal_folds(s, _FOLDS, random) for s in some])
    return _Rows(columns, np.repeat([0, 1], [len(s) for s in some]), fold, weight)


def _pair_losses(rows: _Rows) -> Floats:
    """Return the loss of every pair of columns without each fold, (folds, columns, columns), infinite where i ≥ j.

    The losses are sums over the rows, times their weights.
    """
    count = rows.columns.shape[1]
    pairs = np.triu_indices(count, 1)
    total = np.zeros((_FOLDS, len(pairs[0])))
    for block in _blocks(rows):
        parts = _sums_by_part(rows, rows.kernels(block), np.ravel_multi_index(pairs, (count, count)))
        whole = parts.sum(axis=1)
        for fold in range(_FOLDS):
            losses = rows.losses(whole - parts[:, fold], block)
            counted = (rows.weight * (rows.fold != fold))[block]
            total[fold] += counted @ losses
    by_columns = np.full((_FOLDS, count, count), np.inf)
    by_columns[:, *pairs] = total
    return by_columns


def _sums_by_part(rows: _Rows, kernels: Singles, pairs: Ints) -> Singles:
    """Return the kernel sums of some pairs of columns over each sample and fold, (2, folds, rows, pairs)."""
    sums = np.empty((2, _FOLDS, len(kernels), len(pairs)), dtype=np.float32)
    for side in (0, 1):
        for fold in range(_FOLDS):
            part = np.flatnonzero((rows.side == side) & (rows.fold == fold))
            some = kernels[:, :, part]
            products = (some * rows.weight[part]) @ some.transpose(0, 2, 1)
            sums[side, fold] = products.reshape(len(kernels), -1)[:, pairs]
    return sums


def _extend(rows: _Rows, columns: Ints, fold: int) -> Ints:
    """Return columns and those that may be added: one after another, while the loss at rows outside a fold falls."""
    outside = rows.fold != fold
    part = _Rows(rows.columns[outside], rows.side[outside], rows.fold[outside], rows.weight[outside])
    while len(columns) < MOST_COLUMNS:
        now, with_one_more = _losses_with_one_more(part, columns)
        with_one_more[columns] = np.inf
        if with_one_more.min() >= now - _LEAST_FALL:
            break
        columns = np.append(columns, np.argmin(with_one_more))
    return columns


def _losses_with_one_more(rows: _Rows, columns: Ints) -> tuple[float, Floats]:
    """Return the mean loss of kernel estimates in some columns, and with each column added to them."""
    total = np.zeros(1 + rows.columns.shape[1])
    by_side = rows.weight * (rows.side == np.arange(2)[:, None])
    for block in _blocks(rows):
        kernels = rows.kernels(block)
        together = kernels[:, columns].prod(axis=1)
        now = together[:, None] * by_side
        sums = np.concatenate([now.sum(axis=2)[:, None], kernels @ now.transpose(0, 2, 1)], axis=1)
        sums = np.moveaxis(sums, -1, 0)
        total += rows.weight[block] @ rows.losses(sums, block)
    total /= rows.weight.sum()
    return float(total[0]), total[1:]


def _blocks(rows: _Rows) -> list[slice]:
    return [slice(start, min(start + _BLOCK, len(rows.side))) for start in range(0, len(rows.side), _BLOCK)]
