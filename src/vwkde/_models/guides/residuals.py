"""What a least-squares regression leaves unexplained between two samples: it shows whether a guide is worth trying."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve

from vwkde._data.sample import Sample

Floats = NDArray[np.float64]
Both = tuple[Floats, Floats]
Samples = tuple[Sample, Sample]

RIDGE = 1e-9
"""A ridge for features that depend on each other, as a share of the sum of their squares."""


def unexplained(p_features: Floats, q_features: Floats, samples: Samples) -> Both:
    """Return the residuals of a least-squares regression of the samples, 1 and −1, on features, times the shares."""
    features = p_features, q_features
    left = _left_by(_regression(features, samples), features)
    p, q = (shares(sample) * each for sample, each in zip(samples, left, strict=True))
    return p, q


def error_elsewhere(features: Both, samples: Samples, other_features: Both, other_samples: Samples) -> float:
    """Return the mean squared error, at other samples, of a least-squares regression between two samples."""
    left = _left_by(_regression(features, samples), other_features)
    return float(sum(shares(sample) @ each**2 for sample, each in zip(other_samples, left, strict=True)))


def shares(sample: Sample) -> Floats:
    """Return the share of each row in its sample's weight."""
    return np.asarray(sample.weight / sample.weight.sum())


def _regression(features: Both, samples: Samples) -> Floats:
    """Return the coefficients, that of a constant first, of a regression in which both samples count equally."""
    both, side = _with_constant(np.concatenate(features)), _sides(features)
    weighted = (np.concatenate([shares(sample) for sample in samples])[:, None] * both).T
    products = weighted @ both
    products.flat[:: len(products) + 1] += RIDGE * np.trace(products)
    return np.asarray(solve(products, weighted @ side, assume_a="pos"))


def _left_by(coefficients: Floats, features: Both) -> Both:
    left = _sides(features) - _with_constant(np.concatenate(features)) @ coefficients
    p, q = np.split(left, [len(features[0])])
    return p, q


def _sides(features: Both) -> Floats:
    return np.repeat([1.0, -1.0], [len(features[0]), len(features[1])])


def _with_constant(features: Floats) -> Floats:
    return np.column_stack([np.ones(len(features)), features])
