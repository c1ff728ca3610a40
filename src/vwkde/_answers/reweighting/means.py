"""The mean of a variable over the target, from its values at weighted rows, with its errors."""

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.reweighting.balancing import make_features
from vwkde._answers.reweighting.weighing import Weighing
from vwkde._data.sample import effective_rows

Floats = NDArray[np.float64]


def mean_over_target(
    y: Floats, weight: Floats, x: Floats, target: tuple[Floats, Floats], weighing: Weighing
) -> tuple[float, float, float]:
    """Return the weighted mean, its standard error, and what the imbalance that is left may cost.

    What the features explain of y varies with the target's rows, and what they do not explain with the weighted rows;
    the error of the weights themselves is of second order (the efficient influence function).
    """
    features = weighing.tilt.features if weighing.tilt else make_features("means", *target, x)
    positive = np.abs(weight)
    f, at_target = features(x), features(target[0])
    value = float(weight @ y / weight.sum())
    coefficients = _regress(y - value, f - weight @ f / weight.sum(), positive)
    explained = at_target @ coefficients
    residual = y - value - (f - weight @ f / weight.sum()) @ coefficients
    lost = effective_rows(positive) / max(effective_rows(positive) - f.shape[1] - 1, 1.0)  # fitted to the same rows
    of_rows = lost * ((weight * residual) ** 2).sum() / weight.sum() ** 2
    of_target = np.cov(explained, aweights=target[1]) / effective_rows(target[1])
    imbalance = weight @ f / weight.sum() - np.average(at_target, axis=0, weights=target[1])
    return value, float(np.sqrt(of_rows + of_target)), float(abs(imbalance @ coefficients))


def _regress(y: Floats, f: Floats, weight: Floats) -> Floats:
    """Return the coefficients of a regression with the ridge that balancing has."""
    share = weight / weight.sum()
    gram = (f * share[:, None]).T @ f
    ridge = f.shape[1] / effective_rows(weight)
    return np.linalg.solve(gram + ridge * np.eye(f.shape[1]), (f * share[:, None]).T @ y)
