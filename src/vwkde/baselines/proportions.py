"""The proportions of a mixture of known components, by maximum likelihood: the problem that KLIEP solves."""

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

Floats = NDArray[np.float64]

_TOLERANCE = 1e-7
"""Largest distance, in nats, of the mean log likelihood from its maximum."""
_MOST_STEPS = 1_000
_JITTER = 1e-10
"""Added to curvatures of one: strongly overlapping kernels leave some directions almost flat."""
_SMALLEST_STEP = 1e-6
_FARTHEST = 0.1
"""Share of its likelihood that every row keeps in one step: farther away the quadratic model is not valid."""
_SUFFICIENT = 1e-4
"""Share of the predicted descent that a step must achieve."""


def mixture_proportions(parts: Floats) -> Floats:
    """Return the weights w ≥ 0 with sum one that maximise the mean of log (parts · w) over the rows.

    Sequential quadratic programming (as in Kim, Carbonetto, Stephens and Anitescu, A fast algorithm for maximum
    likelihood estimation of mixture proportions using sequential quadratic programming, JCGS 2020), until the
    likelihood is certain to be within the tolerance of its maximum: since it is concave, it is below the maximum by
    at most max_l mean_i parts_il / (parts · w)_i − 1.
    """
    weights = np.full(parts.shape[1], 1 / parts.shape[1])
    for _ in range(_MOST_STEPS):
        shares = parts / (parts @ weights)[:, None]
        gains = shares.mean(axis=0)
        if gains.max() - 1 <= _TOLERANCE:
            return weights
        weights = _step(parts, weights, shares, gains)
        weights /= weights.sum()
    raise RuntimeError(f"KLIEP did not converge in {_MOST_STEPS} steps. Use a larger 'width'.")


def _step(parts: Floats, weights: Floats, shares: Floats, gains: Floats) -> Floats:
    """Return better weights: the minimum of the quadratic model, or weights on the way to it.

    The objective is Σ w − mean log (parts · w), whose minimum over w ≥ 0 has the sum one. If the model fails, it is one
    step of expectation and maximisation.
    """
    curvature = shares.T @ shares / len(shares)
    diagonal = np.diag(curvature)
    raised = np.maximum(diagonal, 1) * (1 + _JITTER)
    scale = 1 / np.sqrt(raised)
    root = np.linalg.cholesky((curvature + np.diag(raised - diagonal)) * np.outer(scale, scale))
    target = solve_triangular(root, scale * (2 * gains - 1 + (raised - diagonal) * weights), lower=True)
    try:
        direction = scale * nnls(root.T, target)[0] - weights
    except RuntimeError:
        return weights * gains
    now, slope, step = _excess(parts, weights), float((1 - gains) @ direction), 1.0
    change = (parts @ direction) / (parts @ weights)
    while step >= _SMALLEST_STEP:
        candidate = weights + step * direction
        is_near = 1 + step * change.min() >= _FARTHEST
        if is_near and _excess(parts, candidate) <= now + _SUFFICIENT * step * slope:
            return candidate
        step /= 2
    return weights * gains


def _excess(parts: Floats, weights: Floats) -> float:
    with np.errstate(divide="ignore"):
        return float(weights.sum() - np.log(parts @ weights).mean())
