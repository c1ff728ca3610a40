"""An order of rows that depends only on the data.

Random choices and block boundaries fall on the same points in whatever order, or rotation, the rows arrive.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def canonical_order(x: Floats) -> NDArray[np.intp]:
    """Return an order of whitened rows that rotation and shuffling do not change: by distance from the centre.

    Distances are rounded so that equal ones stay equal; coordinates then break ties.
    """
    distance = np.round(np.einsum("ij,ij->i", x, x), 10)
    order = np.argsort(distance)
    equal = np.diff(distance[order]) == 0
    places = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    tied = np.sort(order[places])  # rows that are equal throughout keep their order
    order[places] = tied[np.lexsort((*np.round(x[tied], 10).T, distance[tied]))]
    return order
