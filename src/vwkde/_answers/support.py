"""Rows of one sample that lie outside the other, where it has no density as far as its own rows show.

A density that fades out has rows farther and farther apart; one that ends, or has a hole, does not. So the largest
values of a score over a sample's own rows are extrapolated: how many own rows are to be expected at the score of a
row of the other sample? The tail is a generalised Pareto distribution, averaged over its posterior (Zhang and Stephens,
2009), so that few rows or a heavy tail expect some rows far out, and a sharp end expects none. The scores are

- each column, upwards and downwards: a range that ends, outliers, a heavier tail;
- the volume up to the nearest rows, in each column and jointly: gaps, holes, and rows off a surface;
- the rows on both sides of a gap in a column, which need no tail: gaps in a density with long tails;
- the distance from the centre, and the position along the difference of the means: ends that show only jointly.

Values of discrete columns that a sample never takes are looked for by counting (see `absent_values`), unless rows
belong together: then one group may have all rows of a value.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from vwkde._answers.absent_values import at_absent_values
from vwkde._data.sample import Sample
from vwkde._data.validation import Array

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

_NEVER = 5e-4
"""Number of own rows expected as far out as a row, below which the row lies outside."""
_LEAST_ROWS = 3
"""Fewer rows outside may be chance."""
_MOST_ROWS, _MOST_WHITENED = 2_000, 1_000
"""Maximum rows of each sample that are compared, column by column and jointly, where neighbours take longer to find."""
_NEIGHBOURS = 3
"""The neighbour to which distances are measured: the nearest ones alone vary too much."""
_MOST_DIMENSIONS = 10
"""Dimensions of a volume: in more, distances hardly differ, and their powers would overflow."""
_EXPONENTIAL = 1e-9
"""Slope, relative to the largest excess, that stands for zero, which is an exponential tail."""
_FARTHEST = 1e100
"""Largest score that is told apart from larger ones, in units of the largest excess: its powers do not overflow."""
_LEAST_TAIL = 5
"""Fewest different values of a tail that can be extrapolated."""


class _Rows(NamedTuple):
    """Some rows of a sample: as they were given, in whitened coordinates, and their weights."""

    given: Floats
    whitened: Floats
    weight: Floats

    def thinned(self) -> "_Rows":
        """Return at most `_MOST_WHITENED` of them."""
        every = -(-len(self.weight) // _MOST_WHITENED)
        return _Rows(*(part[::every] for part in self))


def outside_fractions(data: tuple[Array, Array], samples: tuple[Sample, Sample], seed: int) -> list[float]:
    """Return the share of each sample's rows that lie outside the other sample.

    `data` are the rows as given, in whose columns ranges end, and `samples` the same rows in whitened coordinates.
    """
    if any(
        sample.pairs is not None for sample in samples
    ):  # a sample made of the other's own values cannot end before it
        return [0.0, 0.0]
    random = np.random.default_rng(seed)
    p, q = (_some(x, sample, random) for x, sample in zip(data, samples, strict=True))
    alone = all(sample.group is None for sample in samples)
    return [_fraction_outside(q, p, alone), _fraction_outside(p, q, alone)]


def _some(x: Array, sample: Sample, random: np.random.Generator) -> _Rows:
    """Return some rows that count."""
    counted = np.flatnonzero(sample.weight)
    if len(counted) > _MOST_ROWS:
        counted = np.sort(random.choice(counted, _MOST_ROWS, replace=False))
    given = np.asarray(x[sample.rows[counted]], dtype=np.float64)
    return _Rows(given, sample.points[counted], sample.weight[counted])


def _fraction_outside(own: _Rows, other: _Rows, alone: bool) -> float:
    """Return the largest share of the other sample's rows that lie outside by any one measure.

    Rows of their own (`alone`) show which values a sample never takes.
    """
    if len(own.weight) < 5 * _LEAST_TAIL:
        return 0.0
    by_column = [_share(outside, other.weight) for outside in _outside_columns(own.given, other.given)]
    if alone:
        columns = zip(own.given.T, other.given.T, strict=True)
        by_column += [_share(at_absent_values(*each), other.weight) for each in columns]
    own, other = own.thinned(), other.thinned()
    jointly = [_share(outside, other.weight) for outside in _outside_jointly(own.whitened, other.whitened)]
    return max(by_column + jointly)


def _share(outside: Booleans, weight: Floats) -> float:
    return float(np.average(outside, weights=weight)) if np.count_nonzero(outside) >= _LEAST_ROWS else 0.0


def _outside_columns(own: Floats, other: Floats) -> Iterator[Booleans]:
    """Mark the other sample's rows that lie outside in a column: beyond its ends, then in its gaps."""
    unit = np.maximum(np.abs(own).max(axis=0), np.abs(other).max(axis=0))
    unit[unit == 0] = 1.0
    for column, others in zip((own / unit).T, (other / unit).T, strict=True):
        x, y = _untied(column, others)
        yield _beyond(x, y) | _beyond(-x, -y)
        yield _beyond(*_volumes(x[:, None], y[:, None]))
        if x is column:  # untied: between heaps of tied values there are always gaps
            yield _in_gaps(x, y)


def _outside_jointly(own: Floats, other: Floats) -> Iterator[Booleans]:
    """Mark those that lie outside jointly: off the sample, far from its centre, or far towards the other's."""
    yield _beyond(*_volumes(own, other))
    centre = own.mean(axis=0)
    yield _beyond(np.linalg.norm(own - centre, axis=1), np.linalg.norm(other - centre, axis=1))
    towards = other.mean(axis=0) - centre
    yield _beyond(own @ towards, other @ towards)


def _untied(own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return columns of mostly tied values, such as counts, with ties spread over the step between values."""
    values = np.unique(np.concatenate([own, other]))
    if not 1 < len(values) < 0.5 * (len(own) + len(other)):
        return own, other
    step = float(np.median(np.diff(values)))
    return _spread(own, step), _spread(other, step)


def _spread(x: Floats, step: float) -> Floats:
    order = np.argsort(x, kind="stable")
    _, first, counts = np.unique(x[order], return_index=True, return_counts=True)
    place = (np.arange(len(x)) - np.repeat(first, counts) + 0.5) / np.repeat(counts, counts) - 0.5
    result = np.empty(len(x))
    result[order] = x[order] + step * place
    return result


def _volumes(own: Floats, other: Floats) -> tuple[Floats, Floats]:
    """Return the volume around each row up to its third nearest own row, itself left out, in units of their median."""
    tree = KDTree(own)
    at_own, at_other = tree.query(own, k=[_NEIGHBOURS + 1])[0][:, 0], tree.query(other, k=[_NEIGHBOURS])[0][:, 0]
    unit = np.median(at_own) or 1.0
    power = min(own.shape[1], _MOST_DIMENSIONS)
    return (at_own / unit) ** power, (at_other / unit) ** power


def _in_gaps(own: Floats, other: Floats) -> Booleans:
    """Mark values between two neighbouring own ones that are much farther apart than the rows on both sides of them.

    If the mean density over a gap is at least a quarter of that next to it, over a quarter of its width on the emptier
    side, the gap is empty with a probability of at most exp(−rows there). Between two modes it is lower than that.
    """
    own = np.sort(own)
    after = np.searchsorted(own, other)
    inside = (after > 0) & (after < len(own))
    after = np.clip(after, 1, len(own) - 1)
    left, right = own[after - 1], own[after]
    inside &= other < right
    beside = (right - left) / 4
    on_left = after - 1 - np.searchsorted(own, left - beside)
    on_right = np.searchsorted(own, right + beside, side="right") - 1 - after
    return np.asarray(inside & (len(own) * np.exp(-np.minimum(on_left, on_right)) < _NEVER))


def _beyond(own: Floats, other: Floats) -> Booleans:
    """Mark the other sample's scores at which no own row is to be expected."""
    beyond = other > own.max()
    if beyond.any():
        beyond[beyond] = _expected(own, other[beyond]) < _NEVER
    return beyond


def _expected(own: Floats, scores: Floats) -> Floats:
    """Return how many own scores are to be expected at or beyond given ones, which exceed all of them."""
    count = int(min(len(own) / 5, 3 * np.sqrt(len(own))))
    largest = np.sort(own)[-count - 1 :]
    excess = largest[largest > largest[0]] - largest[0]
    if len(np.unique(excess)) < max(_LEAST_TAIL, 0.5 * len(excess)):
        return np.full(len(scores), np.inf)  # nothing to extrapolate
    slope, shape, probability = _pareto_posterior(excess / excess[-1])
    with np.errstate(divide="ignore", over="ignore"):
        beyond = np.minimum((scores - largest[0]) / excess[-1], _FARTHEST)
        log_survival = -np.log(np.maximum(1 - slope[:, None] * beyond, 0)) / shape[:, None]
    return len(excess) * (probability @ np.exp(log_survival))


def _pareto_posterior(excess: Floats) -> tuple[Floats, Floats, Floats]:
    """Return tails (1 − slope·x)^(−1/shape) on a grid, and their posterior probabilities given sorted excesses."""
    n = len(excess)
    grid = np.arange(1, 31 + int(np.sqrt(n)))
    quartile = excess[int(n / 4 + 0.5) - 1]
    slope = 1 / excess[-1] + (1 - np.sqrt(len(grid) / (grid - 0.5))) / (3 * quartile)
    slope[slope == 0] = _EXPONENTIAL / excess[-1]
    shape = np.log1p(-slope[:, None] * excess).mean(axis=1)
    log_likelihood = n * (np.log(-slope / shape) - shape - 1)
    probability = np.exp(log_likelihood - log_likelihood.max())
    return slope, shape, probability / probability.sum()
