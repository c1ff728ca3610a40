"""The compiled loops of boosted trees: those of `few_trees`, grown and evaluated without the interpreter's lock.

Loops are written out where arrays would do: this halves the time of compilation.
"""

import math

import numpy as np

from vwkde._compute.compile import compiled


@compiled("contract", inner=True)
def _set_sums(sums, at, steps, rows, start, end, slope, curvature):  # type: ignore[no-untyped-def]
    """Write the sums of slopes, curvatures and ones over some rows, by column and step."""
    for column in range(sums.shape[1]):
        for step in range(sums.shape[2]):
            for term in range(3):
                sums[at, column, step, term] = 0.0
        for place in range(start, end):
            row = rows[place]
            step = steps[column, row]
            sums[at, column, step, 0] += slope[row]
            sums[at, column, step, 1] += curvature[row]
            sums[at, column, step, 2] += 1.0


@compiled("contract", inner=True)
def _subtract(sums, part, whole):  # type: ignore[no-untyped-def]
    """Subtract the sums of a part of a leaf from those of the whole leaf."""
    for column in range(sums.shape[1]):
        for step in range(sums.shape[2]):
            for term in range(3):
                sums[whole, column, step, term] -= sums[part, column, step, term]


@compiled("contract", inner=True)
def _whole(sums, at):  # type: ignore[no-untyped-def]
    """Return the sums over all rows of a leaf."""
    slope, curvature, count = 0.0, 0.0, 0.0
    for step in range(sums.shape[2]):
        slope += sums[at, 0, step, 0]
        curvature += sums[at, 0, step, 1]
        count += sums[at, 0, step, 2]
    return slope, curvature, count


@compiled("contract", inner=True)
def _find_split(sums, at, ridge, fewest, gains, splits, leaf):  # type: ignore[no-untyped-def]
    """Write what the best split of a leaf gains, its column and its step; `at` is where its sums are."""
    whole_slope, whole_curvature, whole_count = _whole(sums, at)
    highest = 0.0
    for column in range(sums.shape[1]):
        slope, curvature, count = 0.0, 0.0, 0.0
        for step in range(sums.shape[2]):
            slope += sums[at, column, step, 0]
            curvature += sums[at, column, step, 1]
            count += sums[at, column, step, 2]
            if count >= fewest and whole_count - count >= fewest:
                above = whole_slope - slope
                fall = slope * slope / (curvature + ridge) + above * above / (whole_curvature - curvature + ridge)
                if fall > highest:
                    highest = fall
                    splits[leaf, 0] = column
                    splits[leaf, 1] = step
    gains[leaf] = highest - whole_slope * whole_slope / (whole_curvature + ridge)


@compiled("contract", inner=True)
def _split(rows, start, end, steps, column, step, spare):  # type: ignore[no-untyped-def]
    """Put the rows of a leaf that are above a step behind the others, and return where they start."""
    below, above = start, 0
    for place in range(start, end):
        row = rows[place]
        if steps[column, row] > step:
            spare[above] = row
            above += 1
        else:
            rows[below] = row
            below += 1
    for place in range(above):
        rows[below + place] = spare[place]
    return below


@compiled("contract")
def grow_trees(steps, is_numerator, weight, log_odds, constants, sums, nodes, values):  # type: ignore[no-untyped-def]
    """Grow trees on rows of whole numbers, (columns, rows), one after the other.

    `log_odds` are those at the rows before the first tree, and are changed. `constants` are the rate, the ridge and the
    fewest rows of a leaf. `sums` is memory for (leaves, columns, steps, 3) numbers. Of each node, (trees, nodes, 3) are
    written: column and step of a split, and the number of the first of two children, zero for a leaf; and the values of
    leaves, (trees, nodes).

    Of each leaf `places` has its first row, its last one, its node, where its sums are, and whether its best split is
    known.
    """
    rate, ridge, fewest = constants[0], constants[1], constants[2]
    leaves, count = sums.shape[0], steps.shape[1]
    slope, curvature = np.empty(count, np.float32), np.empty(count, np.float32)
    rows, spare = np.empty(count, np.int32), np.empty(count, np.int32)
    gains, splits, places = np.empty(leaves), np.empty((leaves, 2), np.int64), np.empty((leaves, 5), np.int64)
    for tree in range(values.shape[0]):
        for row in range(count):
            chance = 1.0 / (1.0 + math.exp(-log_odds[row]))
            slope[row] = weight[row] * (chance - is_numerator[row])
            curvature[row] = weight[row] * chance * (1.0 - chance)
            rows[row] = row
        for term in range(5):
            places[0, term] = 0
        places[0, 1] = count
        _set_sums(sums, places[0, 3], steps, rows, places[0, 0], places[0, 1], slope, curvature)
        grown = 1
        while grown < leaves:
            best = 0
            for leaf in range(grown):
                if not places[leaf, 4]:
                    _find_split(sums, places[leaf, 3], ridge, fewest, gains, splits, leaf)
                    places[leaf, 4] = 1
                if gains[leaf] > gains[best]:
                    best = leaf
            if gains[best] <= 0:
                break
            start, end, node, whole = places[best, 0], places[best, 1], places[best, 2], places[best, 3]
            middle = _split(rows, start, end, steps, splits[best, 0], splits[best, 1], spare)
            nodes[tree, node, 0], nodes[tree, node, 1] = splits[best, 0], splits[best, 1]
            nodes[tree, node, 2] = 2 * grown - 1
            # the sums of the smaller part are new, those of the larger one are what it leaves
            above_is_smaller = end - middle < middle - start
            places[best, 1], places[best, 2], places[best, 4] = middle, 2 * grown - 1, 0
            places[grown, 0], places[grown, 1], places[grown, 2], places[grown, 4] = middle, end, 2 * grown, 0
            places[best, 3], places[grown, 3] = (whole, grown) if above_is_smaller else (grown, whole)
            first, last = (middle, end) if above_is_smaller else (start, middle)
            _set_sums(sums, grown, steps, rows, first, last, slope, curvature)
            _subtract(sums, grown, whole)
            grown += 1
        for leaf in range(grown):
            whole_slope, whole_curvature, _ = _whole(sums, places[leaf, 3])
            value = -rate * whole_slope / (whole_curvature + ridge)
            values[tree, places[leaf, 2]] = value
            for place in range(places[leaf, 0], places[leaf, 1]):
                log_odds[rows[place]] += value


@compiled()
def add_trees(steps, nodes, values, log_odds):  # type: ignore[no-untyped-def]
    """Add the values of trees at rows of whole numbers, (rows, columns), to their log odds."""
    for tree in range(values.shape[0]):
        for row in range(steps.shape[0]):
            node = 0
            while nodes[tree, node, 2]:
                above = steps[row, nodes[tree, node, 0]] > nodes[tree, node, 1]
                node = nodes[tree, node, 2] + (1 if above else 0)
            log_odds[row] += values[tree, node]
