"""Whether a direction of X is a linear function of Y: then the information of densities is infinite."""

import numpy as np

from vwkde._coordinates.whitening import whiten_blocks
from vwkde._models.gaussian import THINNEST
from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._pairing import Paired


def is_exact(paired: Paired) -> bool:
    """Return whether some combination of columns of X equals one of columns of Y and takes many values.

    A discrete column in both X and Y is no such case: its entropy is finite.
    """
    with without(DegenerateDataWarning):  # it is raised by the fit
        whitening, split = whiten_blocks(paired.joint, np.ones(len(paired.x)), paired.x.shape[1], None)
    points = whitening(paired.joint)
    if len(points) < 2 * points.shape[1]:
        return False  # so few rows make any columns linear functions of others
    values, vectors = np.linalg.eigh(np.cov(points.T))
    shared = points[:, :split] @ vectors[:split, values < THINNEST]
    return any(len(np.unique(np.round(column, 9))) > 0.5 * len(points) for column in shared.T)
