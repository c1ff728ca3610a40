"""Information of classes and values by nearest neighbours: how many rows of any class are as close as those of its own.

B. C. Ross, "Mutual information between discrete and continuous data sets", PLoS ONE 9, 2014. With m rows, of n, closer
than the k-th row of the own class, which has c rows, the log ratio of its density to that of all is about

    ψ(k) + ψ(n) − ψ(c) − ψ(m).

It needs no model, so it sees regions of any shape, and misses what is finer than neighbours are apart.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import digamma

from vwkde._coordinates.normal_scores import fit_normal_scores
from vwkde._data.validation import Array
from vwkde._models.neighbours import MOST_COLUMNS
from vwkde.information._opinions import is_continuous

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_NEIGHBOURS = 3
_INSIDE = 1 - 1e-12
"""Part of the distance to a neighbour within which rows are closer than it."""


def by_class_neighbours(codes: Ints, values: Array) -> Floats | None:
    """Return log ratios at the rows; None in many columns, or if values are equal in many rows."""
    counts = np.bincount(codes)
    if values.shape[1] > MOST_COLUMNS or counts.min() <= _NEIGHBOURS or not is_continuous(values):
        return None
    weight = np.ones(len(values))
    points = fit_normal_scores(values, values, (weight, weight))(values)
    radius = np.empty(len(codes))
    for code in range(len(counts)):
        own = codes == code
        radius[own] = KDTree(points[own]).query(points[own], [_NEIGHBOURS + 1])[0][:, 0]
    closer = KDTree(points).query_ball_point(points, radius * _INSIDE, return_length=True)
    return np.asarray(digamma(_NEIGHBOURS) + digamma(len(codes)) - digamma(counts[codes]) - digamma(closer))
