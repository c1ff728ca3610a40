"""The same work by other libraries, where they are installed: kernel sums and KL divergences."""

from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel

Array = NDArray[np.floating]
Sums = Callable[[Array, Array, float, NDArray[np.float64]], Callable[[], Any]]
"""Takes queries, points, bandwidth and weights; returns what computes log Σ_j w_j exp(−‖x_i − y_j‖² / 2h²)."""

_FEW = 50
"""Queries per block, so that a block of distances stays in the cache."""
_TILE = 1_024, 2_048
"""Queries and points per tile in PyTorch: the fastest of several tile sizes."""


def peers_of_sums() -> Iterator[tuple[str, Sums]]:
    """Yield the name of each installed peer, and its kernel sums."""
    yield "SciPy cdist, blocked", _cdist
    yield "scikit-learn KernelDensity", _kernel_density
    if find_spec("torch"):
        yield "PyTorch, tiled", _torch
    if find_spec("jax"):
        yield "JAX, compiled", _jax


def peers_of_kl() -> Iterator[tuple[str, Callable[[Array, Array], float]]]:
    """Yield the name of each installed peer, and its estimator of the KL divergence of two samples."""
    yield "SciPy gaussian_kde", _gaussian_kde
    if find_spec("universal_divergence"):
        yield "universal-divergence", _universal
    if find_spec("infomeasure"):
        yield "infomeasure", _infomeasure


def _cdist(x: Array, y: Array, h: float, weight: NDArray[np.float64]) -> Callable[[], Any]:
    from scipy.spatial.distance import cdist

    def work() -> None:
        for rows in parallel.split(len(x), _FEW):
            exponent = cdist(x[rows], y, "sqeuclidean")
            exponent *= -1 / (2 * h**2)
            np.log(np.exp(exponent, out=exponent) @ weight)

    return work


def _kernel_density(x: Array, y: Array, h: float, weight: NDArray[np.float64]) -> Callable[[], Any]:
    from sklearn.neighbors import KernelDensity

    model = KernelDensity(bandwidth=h).fit(y, sample_weight=weight)
    return lambda: model.score_samples(x)


def _torch(x: Array, y: Array, h: float, weight: NDArray[np.float64]) -> Callable[[], Any]:
    import torch

    queries, points = (torch.from_numpy(data / (h * np.sqrt(2)).astype(data.dtype)) for data in (x, y))
    w = torch.from_numpy(weight.astype(x.dtype))
    norms = (points * points).sum(1)
    rows, columns = _TILE

    def work() -> Any:
        total = torch.zeros(len(queries), dtype=queries.dtype)
        for i in range(0, len(queries), rows):
            q = queries[i : i + rows]
            own = (q * q).sum(1, keepdim=True)
            for j in range(0, len(points), columns):
                exponent = torch.addmm(norms[j : j + columns] + own, q, points[j : j + columns].T, beta=-1, alpha=2)
                total[i : i + rows] += exponent.clamp_(min=-80.0).exp_() @ w[j : j + columns]
        return torch.log(total)

    return work


def _jax(x: Array, y: Array, h: float, weight: NDArray[np.float64]) -> Callable[[], Any]:
    jax: Any = import_module("jax")
    jnp = jax.numpy
    jax.config.update("jax_enable_x64", True)

    def form(q: Any, points: Any, w: Any) -> Any:
        exponent = 2 * q @ points.T - (points * points).sum(1) - (q * q).sum(1)[:, None]
        return jnp.log(jnp.exp(exponent) @ w)

    block = jax.jit(form)
    queries, points = (jnp.asarray((data / (h * np.sqrt(2))).astype(data.dtype)) for data in (x, y))
    w = jnp.asarray(weight.astype(x.dtype))

    def work() -> None:
        for rows in parallel.split(len(x), _TILE[0]):
            block(queries[rows], points, w).block_until_ready()

    return work


def _gaussian_kde(p: Array, q: Array) -> float:
    from scipy.stats import gaussian_kde

    return float(np.mean(gaussian_kde(p.T).logpdf(p.T) - gaussian_kde(q.T).logpdf(p.T)))


def _universal(p: Array, q: Array) -> float:
    import universal_divergence

    return float(universal_divergence.estimate(p, q))


def _infomeasure(p: Array, q: Array) -> float:
    import infomeasure

    return float(infomeasure.kld(p, q, approach="metric", base="e"))
