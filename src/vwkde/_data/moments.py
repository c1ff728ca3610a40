"""Weighted means and scatter matrices, which can be combined over pieces of a sample."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel

Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """The weighted mean of some rows, and the weighted sum of their squared deviations from it."""

    mean: Floats
    scatter: Floats


class WeightedMoments(NamedTuple):
    """Moments of some rows with their total weight, so that they can be combined."""

    weight: float
    mean: Floats
    scatter: Floats

    def plus(self, other: "WeightedMoments") -> "WeightedMoments":
        """Return the moments of both sets of rows together."""
        weight = self.weight + other.weight
        if weight == 0:
            return self
        apart = other.mean - self.mean
        share = other.weight / weight
        scatter = self.scatter + other.scatter + self.weight * share * np.outer(apart, apart)
        return WeightedMoments(weight, self.mean + share * apart, scatter)


def weighted_moments_of(x: Floats, weight: Floats) -> WeightedMoments:
    """Return the moments of weighted rows with their total weight."""
    return WeightedMoments(float(weight.sum()), *moments_of(x, weight))


def moments_of(x: Floats, weight: Floats) -> Moments:
    """Return the moments of weighted rows."""
    mean = weight @ x / weight.sum()
    size = max(4 * x.shape[1], parallel.rows_at_a_time(x.shape[1]))

    def scatter(rows: slice) -> Floats:
        centred = x[rows] - mean
        return (centred.T * weight[rows]) @ centred

    return Moments(mean, np.sum(parallel.run_over_rows(scatter, len(x), size), axis=0))
