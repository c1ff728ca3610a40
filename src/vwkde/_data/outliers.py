"""Values so far out that they would set the scale of their column: errors of the data, or the end of a very long tail.

In a tail that falls like a power, the gaps k·log(z_k/z_{k+1}) between the k-th and the next largest deviation from the
median are close to exponential, with one mean for all k; in lighter tails they are smaller. A gap that is many times
the mean of those that follow it separates outliers, however heavy the tail is. The user is told of these.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.in_memory import Held
from vwkde._data.validation import Array
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.float64]

_FAR = 1_000.0
"""Deviation from the median, in units of the median deviation, below which no value does harm."""
_FARTHEST = 100_000.0
"""The same, above which a value makes all others look equal, even if it belongs to the tail."""
_SOME_ROWS = 10_000
"""Rows that show, with a margin of a factor two, whether any value can be so far out: medians of all take long."""
_LARGEST_SHARE = 0.05
"""Share of the rows above which values far out are a part of the density."""
_CLEARLY = 20.0
"""Gap, in units of the mean of those that follow, that no tail has by chance."""
_FOLLOWING, _FOLLOWING_SHARE = 10, 0.1
"""Gaps that give the mean: at least this many, and this share of the rows."""
_MOST_NAMED = 5
"""Rows that a warning names."""


class Reach(NamedTuple):
    """The smallest and largest value of each column that may set its scale; infinite where all may.

    `outlying` says in which columns the values beyond are outliers, and not the end of a tail.
    """

    low: Floats
    high: Floats
    outlying: NDArray[np.bool_]

    def outliers(self, x: Array) -> NDArray[np.bool_]:
        """Mark the values that are outliers."""
        return np.asarray(((x < self.low) | (x > self.high)) & self.outlying)


def find_reach(samples: tuple[Array, Array]) -> Reach:
    """Return how far the values of two samples reach without outliers, each judged by its own sample."""
    columns = parallel.run(lambda pair: _reach_of_column(*pair), list(zip(samples[0].T, samples[1].T, strict=True)))
    low, high, outlying = (np.array(part) for part in zip(*columns, strict=True))
    return Reach(low, high, outlying)


def warn_about_outliers(held: Held, reach: Reach, paired: bool) -> None:
    """Warn about rows with outliers; `held` has the rows before any were merged.

    If the samples are `paired`, the rows of the second one are made of those of the first.
    """
    if not reach.outlying.any():
        return
    for side, name in enumerate(("data",) if paired else ("numerator", "denominator")):
        beyond = reach.outliers(held.data[side])
        if not beyond.any():
            continue
        rows = held.given_rows(side)[beyond.any(axis=1)].tolist()
        columns = [held.names[i] if held.names else int(i) for i in np.flatnonzero(beyond.any(axis=0))]
        where = "" if paired else f" in columns {columns}"
        more = f" and {len(rows) - _MOST_NAMED} more" if len(rows) > _MOST_NAMED else ""
        warn(
            f"Rows {rows[:_MOST_NAMED]}{more} of the {name} have values{where} that are far beyond all others, "
            f"as wrong units or typing errors are. They were moved closer by a map that does not change the "
            f"ratio. Correct these rows, or leave them out.",
            DegenerateDataWarning,
        )


def _reach_of_column(one: Array, other: Array) -> tuple[float, float, bool]:
    if _has_no_far_value(one) and _has_no_far_value(other):
        return -np.inf, np.inf, False
    columns = one.astype(np.float64), other.astype(np.float64)
    inside, outlying = zip(*map(_within_reach, columns), strict=True)
    if all(each.all() for each in inside):
        return -np.inf, np.inf, False
    kept = np.concatenate([column[each] for column, each in zip(columns, inside, strict=True)])
    return float(kept.min()), float(kept.max()), any(outlying)


def _has_no_far_value(column: Array) -> bool:
    """Return whether no value of many can be far out, by the median deviation of some of them and by both ends."""
    if len(column) <= 2 * _SOME_ROWS:
        return False
    low, high = float(column.min()), float(column.max())
    some = column[:: len(column) // _SOME_ROWS].astype(np.float64)
    largest = max(abs(low), abs(high)) or 1.0
    median = float(np.median(some / largest))
    deviation = np.abs(some / largest - median)
    farthest = max(high / largest - median, median - low / largest)
    return bool(farthest <= 0.5 * _FAR * np.median(deviation))


def _within_reach(column: Floats) -> tuple[NDArray[np.bool_], bool]:
    """Mark the values that may set the scale of a column, and return whether others are outliers."""
    scaled = column / (np.abs(column).max() or 1.0)  # differences of the largest numbers would overflow
    deviation = np.abs(scaled - np.median(scaled))
    varying = deviation[deviation > 0]
    if not len(varying) or deviation.max() <= _FAR * np.median(varying):
        return np.ones(len(column), dtype=bool), False
    limit = _limit(np.sort(varying)[::-1], len(column))
    return np.asarray(deviation <= min(limit, _FARTHEST * np.median(varying))), bool(np.isfinite(limit))


def _limit(deviation: Floats, rows: int) -> float:
    """Return the largest deviation that is no outlier, from deviations in descending order."""
    far = int(np.count_nonzero(deviation > _FAR * np.median(deviation)))
    most = min(max(1, int(_LARGEST_SHARE * rows)), far, len(deviation) - 2)
    gaps = np.arange(1, len(deviation)) * -np.diff(np.log(deviation))
    following = max(_FOLLOWING, int(_FOLLOWING_SHARE * rows))
    for k in range(most, 0, -1):
        if gaps[k - 1] > _CLEARLY * gaps[k : k + following].mean():
            return float(deviation[k])
    return np.inf
