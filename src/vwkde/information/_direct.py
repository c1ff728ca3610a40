"""Conditional information directly by nearest neighbours, without the difference of two terms.

S. Frenzel and B. Pompe, "Partial mutual information for coupling analysis of multivariate time series", Physical Review
Letters 99, 2007. A box around (x, y, z) that reaches its k-th neighbour has a rows of (X, Z), b of (Y, Z) and c of Z:

    log p(x, y | z) / p(x | z)p(y | z)  ≈  ψ(k) + ψ(c + 1) − ψ(a + 1) − ψ(b + 1).

What Z explains linearly is taken from X and Y first, which changes nothing in truth and makes the boxes smaller. Larger
boxes miss what is finer, so of several scales of Z, the one that sees most is right.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree
from scipy.special import digamma, ndtri

from vwkde._coordinates.axes import white
from vwkde._data.ranks import mean_ranks
from vwkde._data.validation import Array
from vwkde._models.neighbours import MOST_COLUMNS

Floats = NDArray[np.float64]

_FEWEST_ROWS, _MOST_ROWS = 50, 20_000
"""With fewer rows a box is too large; with more, the search takes longer than the fit gains."""
_K = 3
_SCALES = (0.5, 1.0, 2.0)
_SLACK = 1e-10
"""Relative difference between distances that count as equal."""


def direct_information(x: Array, y: Array, z: Array) -> float | None:
    """Return the conditional information of X and Y given Z; None with many columns, or few or very many rows."""
    columns = x.shape[1] + y.shape[1] + z.shape[1]
    if columns > MOST_COLUMNS or not _FEWEST_ROWS <= len(x) <= _MOST_ROWS:
        return None
    known = np.asarray(z, dtype=np.float64)
    given = _beyond_linear(x, known), _beyond_linear(y, known), known
    spaces = [[white(each) for each in given], [white(_scores(each)) for each in given]]
    return max(float(np.mean([_by_boxes(space, scale) for space in spaces])) for scale in _SCALES)


def _beyond_linear(x: Array, z: Floats) -> Floats:
    """Return what is left of X without its linear regression on Z."""
    design = np.column_stack([np.ones(len(z)), white(z)])
    return np.asarray(x - design @ np.linalg.lstsq(design, x.astype(np.float64))[0])


def _scores(x: Floats) -> Floats:
    return np.asarray(ndtri(mean_ranks(x) / (len(x) + 1)))


def _by_boxes(space: list[Floats], scale: float) -> float:
    """Return the mean over all rows, with Z counting `scale` times as much as X and Y in distances."""
    x, y, z = *space[:2], scale * space[2]
    blocks = [np.concatenate(each, axis=1) for each in ((x, y, z), (x, z), (y, z), (z,))]
    joint = KDTree(blocks[0])
    radius = joint.query(blocks[0], _K + 1, p=np.inf)[0][:, -1]
    inside = _others(joint, radius * (1 + _SLACK))
    tied = (inside > _K) | (radius == 0)
    radius = radius * np.where(tied, 1 + _SLACK, 1 - _SLACK)
    a, b, c = (digamma(_others(KDTree(block), radius) + ~tied) for block in blocks[1:])
    return float(np.mean(digamma(np.where(tied, inside, _K)) + c - a - b))


def _others(tree: KDTree, radius: Floats) -> NDArray[np.intp]:
    """Return how many other rows of a tree are within the radius of each row."""
    return np.asarray(tree.query_ball_point(tree.data, radius, p=np.inf, return_length=True)) - 1
