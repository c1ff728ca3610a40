"""Compiled inner loops of the CPU engine.

Everything here uses base 2 and scaled coordinates: x and y are divided by h·sqrt(2·ln 2), so that the Gaussian kernel
is 2^(−‖x − y‖²). Points come in tiles of shape (tiles, dimensions, columns); a tile of exponents for ROWS queries stays
in the L2 cache from the moment it is filled until it is summed.

An exponent is exponent[i, j] + column[j] − row[i]. With a matrix product, exponent[i, j] is 2·x·y, and the squared
norms are in `column` and `row`. With differences it is −‖x − y‖²: slower in many dimensions, but free of cancellation
when the data are far from their centre. The row term also contains the shift of the row, which keeps the sums in range.

Inner functions take whole arrays and indices, not rows: creating a view of a row costs a tenth of the work on it.
"""

import numpy as np

from vwkde._compute.compile import compiled
from vwkde._compute.engines.tiles import ROWS
from vwkde._compute.exp2 import exp2

REASSOCIATE = ("reassoc", "contract", "nsz")
"""Allows vectorised sums; infinities and NaN keep their meaning."""


@compiled(*REASSOCIATE, inner=True)
def take_differences(x, i, tiles, k, buffer):
    """Fill the first row of the buffer with −‖x − y‖², four dimensions at a time to need few passes over it."""
    dimensions, columns = x.shape[1], tiles.shape[2]
    d = dimensions % 4
    if d == 3:
        x0, x1, x2 = x[i, 0], x[i, 1], x[i, 2]
        for j in range(columns):
            e0, e1, e2 = x0 - tiles[k, 0, j], x1 - tiles[k, 1, j], x2 - tiles[k, 2, j]
            buffer[0, j] = -(e0 * e0 + e1 * e1 + e2 * e2)
    elif d == 2:
        x0, x1 = x[i, 0], x[i, 1]
        for j in range(columns):
            e0, e1 = x0 - tiles[k, 0, j], x1 - tiles[k, 1, j]
            buffer[0, j] = -(e0 * e0 + e1 * e1)
    elif d == 1:
        x0 = x[i, 0]
        for j in range(columns):
            e0 = x0 - tiles[k, 0, j]
            buffer[0, j] = -(e0 * e0)
    else:
        d = 4
        x0, x1, x2, x3 = x[i, 0], x[i, 1], x[i, 2], x[i, 3]
        for j in range(columns):
            e0, e1, e2, e3 = x0 - tiles[k, 0, j], x1 - tiles[k, 1, j], x2 - tiles[k, 2, j], x3 - tiles[k, 3, j]
            buffer[0, j] = -(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    while d < dimensions:
        x0, x1, x2, x3 = x[i, d], x[i, d + 1], x[i, d + 2], x[i, d + 3]
        for j in range(columns):
            e0, e1 = x0 - tiles[k, d, j], x1 - tiles[k, d + 1, j]
            e2, e3 = x2 - tiles[k, d + 2, j], x3 - tiles[k, d + 3, j]
            buffer[0, j] -= e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3
        d += 4


@compiled(inner=True)
def _exponents(x, i, start, tiles, k, product, excluded, first, buffer):
    """Return the row of the buffer with the exponents of query i and tile k.

    A matrix product has already filled the whole buffer, from row `start` on; differences are computed now, into a row
    that stays in the L1 cache. The exponent of an excluded point becomes −∞.
    """
    r = i - start if product else 0
    if not product:
        take_differences(x, i, tiles, k, buffer)
    if excluded.shape[0] > 0:
        j = excluded[i] - first - k * tiles.shape[2]
        if 0 <= j < tiles.shape[2]:
            buffer[r, j] = -np.inf
    return r


@compiled(*REASSOCIATE, inner=True)
def sum_exponentials(buffer, r, column, k, row):
    total = buffer.dtype.type(0)
    for j in range(buffer.shape[1]):
        total += exp2(buffer[r, j] + column[k, j] - row)
    return total


@compiled(*REASSOCIATE, "nnan", inner=True)
def max_exponent(buffer, r, column, k):
    largest = buffer.dtype.type(-np.inf)
    for j in range(buffer.shape[1]):
        largest = max(largest, buffer[r, j] + column[k, j])
    return largest


@compiled(*REASSOCIATE, inner=True)
def _exponentiate(buffer, r, column, k, row, scale, u):
    for j in range(u.shape[0]):
        u[j] = exp2((buffer[r, j] + column[k, j] - row) * scale)


@compiled(*REASSOCIATE, inner=True)
def _weighted_sum(u, weight, k, c):
    total = u.dtype.type(0)
    for j in range(u.shape[0]):
        total += u[j] * weight[k, c, j]
    return total


@compiled(*REASSOCIATE, inner=True)
def _square(u, smallest):
    for j in range(u.shape[0]):
        u[j] = max(u[j] * u[j], smallest)


def sum_rows(x, tiles, column, row, product, excluded, first, total):
    """Add Σ_j 2^(exponent + column − row) to `total` (float64), tile by tile."""
    _sum_or_max(True, x, tiles, column, row, product, excluded, first, total)


def max_rows(x, tiles, column, product, excluded, first, largest):
    """Raise `largest` (float64) to max_j (exponent + column)."""
    _sum_or_max(False, x, tiles, column, np.empty(0, x.dtype), product, excluded, first, largest)


@compiled()
def _sum_or_max(is_sum, x, tiles, column, row, product, excluded, first, result):
    """Take sums or maxima. One function for both: most of each are the exponents, which would be compiled twice."""
    buffer = np.empty((ROWS, tiles.shape[2]), x.dtype)
    for start in range(0, x.shape[0], ROWS):
        stop = min(start + ROWS, x.shape[0])
        for k in range(tiles.shape[0]):
            if product:
                np.dot(x[start:stop], tiles[k], buffer[: stop - start])
            for i in range(start, stop):
                r = _exponents(x, i, start, tiles, k, product, excluded, first, buffer)
                if is_sum:
                    result[i] += sum_exponentials(buffer, r, column, k, row[i])
                else:
                    result[i] = max(result[i], max_exponent(buffer, r, column, k))


@compiled()
def sum_rows_of_grid(x, tiles, column, row, product, excluded, first, weight, scales, lengths, smallest, total):
    """Add Σ_j weight_j · 2^(scale·(exponent + column − row)) to `total` (queries, bandwidths, weights).

    Each scale starts a chain of the given length. One exponential serves a chain: each bandwidth is smaller by √2 than
    the one before, so its kernel is the square.
    """
    buffer = np.empty((ROWS, tiles.shape[2]), x.dtype)
    u = np.empty(tiles.shape[2], x.dtype)
    for start in range(0, x.shape[0], ROWS):
        stop = min(start + ROWS, x.shape[0])
        for k in range(tiles.shape[0]):
            if product:
                np.dot(x[start:stop], tiles[k], buffer[: stop - start])
            for i in range(start, stop):
                r = _exponents(x, i, start, tiles, k, product, excluded, first, buffer)
                g = 0
                for chain in range(scales.shape[0]):
                    _exponentiate(buffer, r, column, k, row[i], scales[chain], u)
                    for step in range(lengths[chain]):
                        if step > 0:
                            _square(u, smallest)
                        for c in range(weight.shape[1]):
                            total[i, g, c] += _weighted_sum(u, weight, k, c)
                        g += 1


@compiled(*REASSOCIATE, inner=True)
def _sum_and_add(buffer, column):
    """Return Σ_j 2^buffer_j, and add each term to its column."""
    total = buffer.dtype.type(0)
    for j in range(buffer.shape[1]):
        term = exp2(buffer[0, j])
        column[j] += term
        total += term
    return total


@compiled(inner=True)
def _log2_sum(x, i, tiles, k, excluded, buffer):
    """Return log2 Σ_j 2^(−‖x − y‖²), relative to the largest exponent; `excluded` leaves out j = i."""
    take_differences(x, i, tiles, k, buffer)
    if excluded:
        buffer[0, i] = -np.inf
    largest, total = -np.inf, 0.0
    for j in range(buffer.shape[1]):
        largest = max(largest, buffer[0, j])
    for j in range(buffer.shape[1]):
        total += np.exp2(np.float64(buffer[0, j]) - largest)
    return largest + np.log2(total)


@compiled()
def mean_log2_sums(x_rows, x_tiles, i, y_rows, y_tiles, k, own, both, least, column, buffer):
    """Return the mean over the rows of sample i of log2 Σ 2^(−‖x − y‖²) over sample k, and with `both` the reverse.

    One exponential of a pair of rows serves both means. Sums below `least`, where terms may have been clipped, are
    computed again one by one. With `own` the samples are the same, and each row is left out of its own sum.
    """
    forward, backward = 0.0, 0.0
    column[:] = 0
    for r in range(x_rows.shape[1]):
        take_differences(x_rows[i], r, y_tiles, k, buffer)
        if own:
            buffer[0, r] = -np.inf
        total = _sum_and_add(buffer, column)
        forward += np.log2(total) if total > least else _log2_sum(x_rows[i], r, y_tiles, k, own, buffer)
    if both:
        for r in range(y_rows.shape[1]):
            total = column[r]
            backward += np.log2(total) if total > least else _log2_sum(y_rows[k], r, x_tiles, i, False, buffer)
    return forward / x_rows.shape[1], backward / y_rows.shape[1]
