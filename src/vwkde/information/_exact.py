"""Linear functions: of Y in X, which make the information of densities infinite, and of Z in X, which add nothing."""

import numpy as np
from scipy.linalg import qr
from scipy.special import ndtri

from vwkde._coordinates.whitening import whiten_blocks
from vwkde._data.ranks import mean_ranks
from vwkde._data.validation import Array
from vwkde._models.gaussian import THINNEST
from vwkde._runtime.warn import without
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._pairing import Paired

_ROUNDING = 1e-9
"""Spread of what is left of a column, relative to the column, that rounding explains."""
_TINY = np.finfo(np.float64).tiny


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


def linear_information(x: Array, y: Array) -> float:
    """Return the mutual information of normal distributions with the correlations of the normal scores of X and Y."""
    scores = [ndtri(mean_ranks(each) / (len(x) + 1)) for each in (x, y)]
    blocks = [np.atleast_2d(np.cov(each.T)) for each in (*scores, np.concatenate(scores, axis=1))]
    x_log, y_log, both_log = (np.linalg.slogdet(block)[1] for block in blocks)
    return float(0.5 * (x_log + y_log - both_log)) if np.isfinite(both_log) else np.inf


def beyond(z: Array, x: Array) -> Array:
    """Return the columns of X that are no linear functions of Z and of others in X: given Z, they say as much."""
    if len(x) < 2 * (x.shape[1] + z.shape[1]):
        return x  # so few rows make any column a linear function of others
    spread = x.std(axis=0)
    scaled = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    known = np.column_stack([np.ones(len(z)), (z - z.mean(axis=0)) / np.maximum(z.std(axis=0), _TINY)])
    left = scaled - known @ np.linalg.lstsq(known, scaled)[0]
    triangle, order = qr(left, mode="r", pivoting=True)
    kept = np.abs(np.diag(triangle)) > _ROUNDING * np.sqrt(len(x))
    return x[:, np.sort(order[: len(kept)][kept])]
