"""Compiled loops over pairs of patches, of one image and of many good ones, for the baselines of tables 1 and 2.

The patches of the image are the rows of x, (patches, columns); those of the good images are transposed, (images,
columns, patches); all are in single precision. A row's squared distances to one good image stay in the cache while they
are used. They are compared by their bits, read as integers: the order of positive numbers is the same, and loops that
search for the smallest integer are vectorised.
"""

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.compile import compiled
from vwkde._compute.exp2 import exp2

Singles = NDArray[np.float32]
Counts = NDArray[np.int32]

_FREELY = ("reassoc", "contract", "nsz", "nnan", "ninf")
"""Allows loops to be vectorised; all distances are finite."""
_OCTAVE = np.int32(2**23)
"""Added to the bits of a number, it doubles the number."""


@compiled(*_FREELY)
def _fill_squares(x, i, good, k, squares):  # type: ignore[no-untyped-def]
    """Fill with the squared distances of a row to the patches of a good image, four columns at a time."""
    columns, patches = x.shape[1], squares.shape[0]
    first = columns % 4
    squares[:] = 0
    for d in range(first):
        for j in range(patches):
            difference = x[i, d] - good[k, d, j]
            squares[j] += difference * difference
    for d in range(first, columns, 4):
        x0, x1, x2, x3 = x[i, d], x[i, d + 1], x[i, d + 2], x[i, d + 3]
        for j in range(patches):
            e0, e1 = x0 - good[k, d, j], x1 - good[k, d + 1, j]
            e2, e3 = x2 - good[k, d + 2, j], x3 - good[k, d + 3, j]
            squares[j] += e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3


@compiled()
def _smallest(bits):  # type: ignore[no-untyped-def]
    least = bits[0]
    for j in range(bits.shape[0]):
        least = min(least, bits[j])
    return least


@compiled()
def _count_within(bits, limit):  # type: ignore[no-untyped-def]
    count = np.int32(0)
    for j in range(bits.shape[0]):
        count += np.int32(bits[j] <= limit)
    return count


@compiled()
def _farthest_within(bits, limit):  # type: ignore[no-untyped-def]
    farthest = np.int32(0)
    for j in range(bits.shape[0]):
        farthest = max(farthest, bits[j] if bits[j] <= limit else np.int32(0))
    return farthest


@compiled()
def _ranked(bits, k):  # type: ignore[no-untyped-def]
    """Return the number at rank k, the smallest having rank 1, by bisection: count the numbers up to a limit."""
    low = _smallest(bits)
    if k == 1:
        return low
    high = low + _OCTAVE
    while _count_within(bits, high) < k:
        low, high = high, high + _OCTAVE
    low -= np.int32(1)
    while high - low > 1:
        limit = low + (high - low) // 2
        count = _count_within(bits, limit)
        if count == k:
            return _farthest_within(bits, limit)
        if count < k:
            low = limit
        else:
            high = limit
    return high


@compiled()
def _neighbour_squares(x, good, k, nearest):  # type: ignore[no-untyped-def]
    squares = np.empty(good.shape[2], np.float32)
    bits, nearest_bits = squares.view(np.int32), nearest.view(np.int32)
    for image in range(good.shape[0]):
        for i in range(x.shape[0]):
            _fill_squares(x, i, good, image, squares)
            nearest_bits[image, i] = _ranked(bits, k)


@compiled()
def _common_balls(x, own, good, radius, counts):  # type: ignore[no-untyped-def]
    squares = np.empty(good.shape[2], np.float32)
    bits, own_bits, radius_bits = squares.view(np.int32), own.view(np.int32), radius.view(np.int32)
    for image in range(good.shape[0]):
        for i in range(x.shape[0]):
            _fill_squares(x, i, good, image, squares)
            limit = max(own_bits[i, 0], _smallest(bits))
            counts[1, image, i] = _count_within(bits, limit)
            radius_bits[1, image, i] = _farthest_within(bits, limit)
            count = 1
            while count < own.shape[1] and own_bits[i, count] <= limit:
                count += 1
            counts[0, image, i], radius[0, image, i] = count, own[i, count - 1]


@compiled(*_FREELY)
def _sum_of_kernels(squares):  # type: ignore[no-untyped-def]
    total = squares.dtype.type(0)
    for j in range(squares.shape[0]):
        total += exp2(-squares[j])
    return total


@compiled()
def _kernel_means(x, good, means):  # type: ignore[no-untyped-def]
    squares = np.empty(good.shape[2], x.dtype)
    for image in range(good.shape[0]):
        total = 0.0
        for i in range(x.shape[0]):
            _fill_squares(x, i, good, image, squares)
            total += _sum_of_kernels(squares)
        means[image] = total / (x.shape[0] * good.shape[2])


def neighbour_distances(x: Singles, good: Singles, k: int) -> Singles:
    """Return the distance of every row to its k-th neighbour in every good image, (images, rows)."""
    squares = np.empty((len(good), len(x)), np.float32)
    _neighbour_squares(x, good, k, squares)
    return np.sqrt(squares)


def common_balls(x: Singles, own: Singles, good: Singles) -> tuple[Singles, Counts]:
    """Return how far balls around every row reach, and how many rows are inside, in its own image and in a good one.

    Both balls extend to the larger of the two nearest distances. `own` has the sorted distances of every row to the
    others of its image. Both results have shape (2, images, rows), with the own image first.
    """
    radius = np.empty((2, len(good), len(x)), np.float32)
    counts = np.empty(radius.shape, np.int32)
    _common_balls(x, own**2, good, radius, counts)
    return np.sqrt(radius), counts


def kernel_means(x: Singles, good: Singles, width: float) -> NDArray[np.float64]:
    """Return the mean of the Gaussian kernel of this width over the pairs of rows of x and of every good image."""
    scale = np.float32(1 / (width * np.sqrt(2 * np.log(2))))
    means = np.empty(len(good))
    _kernel_means(x * scale, good * scale, means)
    return means
