"""Compiled loops of pruned sums: which leaves of points matter to a query, and the sum over those.

Base 2 and scaled coordinates, as in `numba_kernels`: the kernel is 2^(−‖x − y‖²). The most that a leaf can add to the
sum of a query is 2^(mass − squared distance of the query from its box). For each query the leaves are taken from the
largest such bound to the smallest. The sum stops when the bounds of all leaves left, added up, are at most the
permitted error times the sum so far: whatever was left out is then smaller than that part of the whole.
"""

import numpy as np

from vwkde._compute.compile import compiled
from vwkde._compute.engines.numba_kernels import REASSOCIATE, max_exponent, sum_exponentials, take_differences
from vwkde._compute.exp2 import exp2

_BINS = 64
"""Leaves are sorted by their bounds in steps of a factor of two; those below 2^−63 of the largest stay unsorted."""
_HEADROOM = 20.0
"""Powers of two by which a term may exceed the shift of its row before the shift is raised."""


@compiled()
def _bounds_of_leaf(x, start, stop, low, high, mass, least_mass, most):
    """Fill `most` with log2 bounds of what a leaf of points adds at any of some queries; return a bound of the sum.

    The bound returned is log2 of a number that the sum of each of these queries reaches.
    """
    reached = -np.inf
    dimensions = low.shape[0]
    first, last = np.empty(dimensions), np.empty(dimensions)
    for d in range(dimensions):
        first[d], last[d] = np.inf, -np.inf
        for i in range(start, stop):
            first[d], last[d] = min(first[d], x[i, d]), max(last[d], x[i, d])
    for k in range(mass.shape[0]):
        near, far = 0.0, 0.0
        for d in range(dimensions):
            before, behind = low[d, k] - last[d], first[d] - high[d, k]
            gap = max(max(before, behind), 0.0)
            reach = max(high[d, k] - first[d], last[d] - low[d, k])
            near += gap * gap
            far += reach * reach
        most[k] = mass[k] - near
        reached = max(reached, least_mass[k] - far)
    return reached


@compiled()
def _choose(most, least, low, high, mass, chosen, chosen_low, chosen_high, chosen_mass):
    """Gather the leaves whose bound is at least `least` and not zero; return their number."""
    count = 0
    for k in range(most.shape[0]):
        if most[k] >= least and most[k] > -np.inf:
            chosen[count], chosen_mass[count] = k, mass[k]
            for d in range(low.shape[0]):
                chosen_low[d, count], chosen_high[d, count] = low[d, k], high[d, k]
            count += 1
    return count


@compiled(*REASSOCIATE)
def _bounds_of_query(x, i, low, high, mass, count, most):
    """Fill `most` with the log2 bounds of the chosen leaves for one query; return the largest."""
    for k in range(count):
        most[k] = mass[k]
    for d in range(low.shape[0]):
        at = np.float64(x[i, d])
        for k in range(count):
            gap = max(max(low[d, k] - at, at - high[d, k]), 0.0)
            most[k] -= gap * gap
    largest = -np.inf
    for k in range(count):
        largest = max(largest, most[k])
    return largest


@compiled(*REASSOCIATE)
def _exponentiate_bounds(most, largest, count, share):
    for k in range(count):
        share[k] = exp2(most[k] - largest)


@compiled()
def _sort(most, largest, count, share, order, left):
    """Sort the leaves by their bounds, roughly; left[k] is what the k-th and all after it add at most.

    In units of the largest bound. Bounds that are tiny in this unit count as 2^−1000, so that nothing is lost.
    """
    ends = np.zeros(_BINS + 1, np.int64)
    for k in range(count):
        ends[min(int(min(largest - most[k], _BINS - 1.0)), _BINS - 1) + 1] += 1
    for b in range(_BINS):
        ends[b + 1] += ends[b]
    for k in range(count):
        b = min(int(min(largest - most[k], _BINS - 1.0)), _BINS - 1)
        order[ends[b]] = k
        ends[b] += 1
    total = 0.0
    for k in range(count - 1, -1, -1):
        total += share[order[k]]
        left[k] = total


@compiled()
def _sum_sorted(x, i, tiles, column, own, error, chosen, count, most, largest, order, left, buffer):
    """Return log2 of the sum at query i, and the number of leaves that it took."""
    shift, total, width = -np.inf, 0.0, tiles.shape[2]
    for place in range(count):
        if total > 0.0 and left[place] <= error * total * 2.0 ** (shift - largest):
            return shift + np.log2(total), place
        k = chosen[order[place]]
        take_differences(x, i, tiles, k, buffer)
        if own // width == k:
            buffer[0, own % width] = -np.inf
        if most[order[place]] > shift + _HEADROOM:  # no term exceeds this bound
            highest = np.float64(max_exponent(buffer, 0, column, k))
            if highest > shift + _HEADROOM:
                total = total * 2.0 ** (shift - highest) if total > 0.0 else 0.0
                shift = highest
        if shift > -np.inf:
            total += sum_exponentials(buffer, 0, column, k, x.dtype.type(shift))
    return (shift + np.log2(total) if total > 0.0 else -np.inf), count


@compiled()
def sum_pruned(x, starts, tiles, column, low, high, mass, least_mass, own, error, log2_sum):
    """Set log2 Σ_j 2^(column − ‖x − y‖²) of the queries of some leaves; return the number of pairs of rows computed.

    Leaves of queries lie between consecutive `starts`. `own` has the place of the point that each sum leaves out, or is
    empty; `least_mass` then leaves out the heaviest point of each leaf. Half of the error is for leaves that are too
    far from all queries of a leaf, half for those that are too far from one query.
    """
    leaves, dimensions, width = tiles.shape
    most, chosen, chosen_mass = np.empty(leaves), np.empty(leaves, np.int64), np.empty(leaves)
    chosen_low, chosen_high = np.empty((dimensions, leaves)), np.empty((dimensions, leaves))
    bounds, share, left, order = np.empty(leaves), np.empty(leaves), np.empty(leaves), np.empty(leaves, np.int64)
    buffer = np.empty((1, width), x.dtype)
    pairs = 0
    for leaf in range(starts.shape[0] - 1):
        start, stop = starts[leaf], starts[leaf + 1]
        reached = _bounds_of_leaf(x, start, stop, low, high, mass, least_mass, most)
        least = reached + np.log2(0.5 * error / leaves)
        count = _choose(most, least, low, high, mass, chosen, chosen_low, chosen_high, chosen_mass)
        for i in range(start, stop):
            largest = _bounds_of_query(x, i, chosen_low, chosen_high, chosen_mass, count, bounds)
            _exponentiate_bounds(bounds, largest, count, share)
            _sort(bounds, largest, count, share, order, left)
            excluded = own[i] if own.shape[0] > 0 else -1
            log2_sum[i], used = _sum_sorted(
                x, i, tiles, column, excluded, 0.5 * error, chosen, count, bounds, largest, order, left, buffer
            )  # fmt: skip
            pairs += used * width
    return pairs
