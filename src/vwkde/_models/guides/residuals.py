"""What a least-squares regression leaves unexplained between two samples: it shows whether a guide is worth trying."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from vwkde._data.sample import Sample

Floats = NDArray[np.float64]

RIDGE = 1e-9
"""A ridge for features that depend on each other, as a share of the sum of their squares."""


def unexplained(p_features: Floats, q_features: Floats, samples: tuple[Sample, Sample]) -> tuple[Floats, Floats]:
    """Return the residuals of a least-squares regression of the samples, 1 and −1, on features."""
    features = np.concatenate([p_features, q_features])
    features = np.column_stack([np.ones(len(features)), features])
    share = np.concatenate([shares(sample) for sample in samples])
    side = np.repeat([1.0, -1.0], [len(p_features), len(q_features)])
    weighted = (share[:, None] * features).T
    products = weighted @ features
    products.flat[:: len(products) + 1] += RIDGE * np.trace(products)
    coefficients = solve(products, weighted @ side, assume_a="pos")
    p, q = np.split(share * (side - features @ coefficients), [len(p_features)])
    return p, q


def shares(sample: Sample) -> Floats:
    """Return the share of each row in its sample's weight."""
    return np.asarray(sample.weight / sample.weight.sum())
