"""Weighted Gaussian log kernel sums, computed by the engine of the resources."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vwkde._compute.engines.engine import Engine, LogSums
from vwkde._compute.resources import DEFAULT_RESOURCES, Resources

MAX_ERROR = 1e-6
"""Default relative error that a kernel sum may have where that saves time: far below what samples can tell."""


def log_kernel_sums(
    queries: NDArray[np.floating],
    points: NDArray[np.floating],
    bandwidth: float | ArrayLike,
    *,
    log_weight: ArrayLike | None = None,
    leave_one_out: bool | NDArray[np.intp] = False,
    max_error: float = MAX_ERROR,
    resources: Resources = DEFAULT_RESOURCES,
) -> NDArray[np.float64]:
    """Return log Σ_j exp(log_weight_j − ‖x_i − y_j‖² / 2h²) for every query x_i, summed over the points y_j.

    Parameters
    ----------
    queries, points
        Arrays (n, d) and (m, d). The sums run in float32 if both are float32, else in float64.
    bandwidth
        h, or several values: they share one pass over the distances and, in steps of √2, one exponential.
    log_weight
        One log weight per point (m,), or several columns (m, k), which also share the pass.
    leave_one_out
        Whether the queries are the points, or the first of them, and each sum leaves out its own point. If they are
        other points, the number of each.
    max_error
        Largest relative error of a sum, in addition to rounding, for engines that can save time by it. Sums are exact
        if it is zero, and with any other engine.
    resources
        Engine, device and memory.

    Returns
    -------
    ndarray of float64
        Shape (n,). Several bandwidths add a leading axis, several columns of weights a last axis. A sum whose weights
        are all zero is −inf.
    """
    dtype = np.float32 if queries.dtype == points.dtype == np.float32 else np.float64
    bandwidths = np.asarray(bandwidth, dtype=np.float64)
    weights = np.zeros(len(points)) if log_weight is None else np.asarray(log_weight, dtype=np.float64)
    excluded = np.arange(len(queries) if leave_one_out else 0) if isinstance(leave_one_out, bool) else leave_one_out
    _check(queries, points, bandwidths, weights, excluded)
    sums = _log_sums(resources.engine, max_error)(
        np.ascontiguousarray(queries, dtype=dtype),
        np.ascontiguousarray(points, dtype=dtype),
        np.atleast_1d(bandwidths),
        weights.reshape(len(points), -1),
        excluded,
        resources.memory_budget,
        resources.device,
    )
    return sums.reshape((*bandwidths.shape, len(queries), *weights.shape[1:]))


def _log_sums(engine: Engine, max_error: float) -> LogSums:
    """Return the function that computes the sums: exact ones, or within the error if the engine can."""
    if engine.log_sums_within is None or not max_error > 0:
        return engine.log_sums
    return partial(engine.log_sums_within, error=max_error)


def _check(
    queries: NDArray[np.floating],
    points: NDArray[np.floating],
    bandwidths: NDArray[np.float64],
    weights: NDArray[np.float64],
    excluded: NDArray[np.intp],
) -> None:
    if queries.ndim != 2 or points.ndim != 2 or queries.shape[1] != points.shape[1] or not len(points):
        raise ValueError(
            f"queries and points must have shapes (n, d) and (m, d), m > 0. Got {queries.shape} and {points.shape}."
        )
    if not ((bandwidths > 0) & (bandwidths < np.inf)).all():
        raise ValueError(f"The bandwidth must be positive and finite. Got {bandwidths} instead.")
    if weights.ndim not in (1, 2) or len(weights) != len(points) or not (weights < np.inf).all():
        raise ValueError(f"log_weight must have one number below infinity for each of the {len(points)} points.")
    if len(excluded) and (len(excluded) != len(queries) or excluded.max() >= len(points)):
        raise ValueError("With leave_one_out, the queries must be points: all of them, the first ones, or those given.")
