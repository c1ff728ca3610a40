"""Where one sample may have a few rows that the other one lacks: a small cluster, or rows scattered far out.

Balls around each row reach its nearest neighbours of the same sample. Rows in a ball are crowded if they are many more
than a smooth density explains, here a Student t distribution. Among crowded rows, the other sample's count. Rows that
are scattered are not crowded. They are found among the outermost rows of both samples.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from vwkde._data.sample import Sample
from vwkde._models.student import fit_student

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Singles = NDArray[np.float32]

_COUNTS = 5, 8, 12, 18, 27, 40
"""Numbers of neighbours that may be a cluster."""
_MOST_ROWS = 1_000
"""Rows of each sample among which clusters are looked for."""
_CROWDED = 15.0
"""Gain of log likelihood beyond which a ball has more rows than a smooth density explains."""
_CLEARLY = 2.0
"""How far the gain of unequal parts must exceed the logarithm of the number of crowded balls."""
_OUTER = 8, 12, 18, 27, 40, 60, 90
"""Numbers of outermost rows that may be those of one sample."""
_FAR_OUT = 5.0
"""Gain of unequal parts beyond which one sample has too many of them."""
_TINY = np.finfo(np.float64).tiny


def crowded_rows(sample: Sample, other: Sample) -> Floats | None:
    """Return rows that are much closer together than a smooth density explains, of which the other sample has few.

    Among clusters that both samples have, one sample outnumbers the other by chance: the more crowded rows there are,
    the more clearly it must do so.
    """
    own, others = (each.thinned(_MOST_ROWS, np.random.default_rng(0)) for each in (sample, other))
    counts = np.array([count for count in _COUNTS if count < len(own) / 2])
    distances = _distances(own.points, own.points)
    reach = np.sort(np.partition(distances, counts[-1], axis=1)[:, : counts[-1] + 1], axis=1)[:, counts]
    expected = _expected(own, distances, counts, reach)
    crowded = _gain_of_balls(counts + 1, expected) > _CROWDED
    centres = np.flatnonzero(crowded.any(axis=1))
    if not len(centres):
        return None
    inside = _count_within(_distances(own.points[centres], others.points), reach[centres])
    gains = np.where(crowded[centres], _gain_of_parts(counts + 1, inside, (len(own), len(others))), 0.0)
    best, count = np.unravel_index(np.argmax(gains), gains.shape)
    if gains[best, count] < _CLEARLY + np.log(len(centres)):
        return None
    return np.asarray(own.points[distances[centres[best]] <= reach[centres[best], count]])


def outer_rows(sample: Sample, other: Sample) -> Floats | None:
    """Return the rows of a sample that are among the outermost of both samples, if it has too many of those.

    Distances from the centre are in units of each sample's median, so that a sample that is wider as a whole has none.
    """
    own, others = (each.thinned(_MOST_ROWS, np.random.default_rng(0)) for each in (sample, other))
    weight = np.concatenate([each.weight / each.weight.sum() for each in (own, others)])
    centre = fit_student(replace(own, points=np.concatenate([own.points, others.points]), weight=weight))
    distances = [centre.distances(each.points) for each in (own, others)]
    outermost = np.argsort(-np.concatenate([each / max(float(np.median(each)), _TINY) for each in distances]))
    counts = np.array([count for count in _OUTER if count < max(len(own) / 4, _OUTER[0] + 1)])
    mine = np.cumsum(outermost < len(own))[counts - 1]
    gains = _gain_of_parts(mine, counts - mine, (len(own), len(others)))
    best = int(np.argmax(gains))
    if gains[best] < _FAR_OUT:
        return None
    rows = outermost[: counts[best]]
    return np.asarray(own.points[rows[rows < len(own)]])


def _expected(sample: Sample, distances: Singles, counts: Ints, reach: Singles) -> Floats:
    """Return how many rows the balls should have, by the density at the rows in them; distances are squared.

    Around an outlier the density is much higher at most rows of a ball than in its middle. Where the density in the
    middle shows no crowd, that at the other rows does not either.
    """
    d = sample.points.shape[1]
    volume = np.exp(0.5 * d * np.log(np.pi * np.maximum(reach, _TINY, dtype=np.float64)) - gammaln(d / 2 + 1))
    density = np.exp(fit_student(sample).log_density(sample.points))
    expected: Floats = len(sample) * np.minimum(density[:, None] * volume, 1.0)
    doubtful = np.flatnonzero((_gain_of_balls(counts + 1, expected) > _CROWDED).any(axis=1))
    nearest = _nearest(distances[doubtful], counts[-1] + 1)
    means = (density[nearest].cumsum(axis=1) / np.arange(1, counts[-1] + 2))[:, counts]
    expected[doubtful] = len(sample) * np.minimum(means * volume[doubtful], 1.0)
    return expected


def _nearest(distances: Singles, count: int) -> Ints:
    """Return the places of the smallest distances in each line, in increasing order."""
    some = np.argpartition(distances, count - 1, axis=1)[:, :count]
    order = np.argsort(np.take_along_axis(distances, some, axis=1), axis=1)
    return np.take_along_axis(some, order, axis=1)


def _count_within(distances: Singles, reach: Singles) -> Ints:
    """Return how many of the distances from each centre are within each of its reaches."""
    return np.stack([(distances <= each[:, None]).sum(axis=1) for each in reach.T], axis=1)


def _gain_of_balls(rows: Ints, expected: Floats) -> Floats:
    """Return the log likelihood that is gained if a ball has more rows than expected."""
    gain = rows * (np.log(rows) - np.log(np.maximum(expected, _TINY))) - rows + expected
    return np.where(rows > expected, gain, 0.0)


def _gain_of_parts(own: Ints, others: Ints, sizes: tuple[int, int]) -> Floats:
    """Return the log likelihood that is gained if a sample has a larger part of these rows than of all rows."""
    part, both = sizes[0] / sum(sizes), own + others
    gain = xlogy(own, own / both / part) + xlogy(others, others / both / (1 - part))
    return np.where(own > part * both, gain, 0.0)


def _distances(x: Floats, y: Floats) -> Singles:
    """Return the squared distances between rows, rounded to single precision, in which they are sorted faster."""
    return np.maximum((x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1) - 2 * x @ y.T, 0.0).astype(np.float32)
