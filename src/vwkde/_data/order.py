"""An order of rows that depends on the data alone.

Random choices and block boundaries fall on the same points whatever order, or rotation, the rows arrived in.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def canonical_order(x: Floats) -> NDArray[np.intp]:
    """Return an order of whitened rows that no rotation and no shuffling changes: by distance from the centre.

    Distances are rounded so that equal ones stay equal; coordinates then break the tie.
    """
    distance = np.round(np.einsum("ij,ij->i", x, x), 10)
    order = np.argsort(distance, kind="stable")
    equal = np.diff(distance[order]) == 0
    places = np.flatnonzero(np.append(equal, False) | np.append(False, equal))
    tied = order[places]
    order[places] = tied[np.lexsort((*np.round(x[tied], 10).T, distance[tied]))]
    return order
