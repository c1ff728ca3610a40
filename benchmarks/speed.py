"""Weighted Gaussian log kernel sums against the peers, and the fit against its bare linear algebra, in one run.

Run with `python benchmarks/speed.py [--rows 20000] [--threads 1 2]`. Rates are in 1e9 kernel evaluations per second,
the best of several runs; ratios are ours over theirs. Peers that are not installed are left out.
"""

import argparse
import os
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import joblib
import numpy as np
from rich.console import Console
from rich.table import Table

SLOW_PEER_QUERIES = 1_000
"""Queries given to peers that need minutes for all of them; their time grows in proportion to the queries."""


def rate(work: Callable[[], Any], evaluations: float, seconds: float = 1.0) -> float:
    """Return the best rate of several runs, after one to warm up, within about so many seconds."""
    times = [timed(work) for _ in range(1 if timed(work) > seconds else 3)]
    while sum(times) < seconds:
        times.append(timed(work))
    return evaluations / min(times) / 1e9


def timed(work: Callable[[], Any]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def torch_rate(x: np.ndarray, y: np.ndarray, h: float, weight: np.ndarray, threads: int) -> float:
    """The faster of several tile shapes: mm, clamp, exp, and a product with the weights."""
    import torch

    torch.set_num_threads(threads)
    queries, points = (torch.from_numpy(data / (h * np.sqrt(2)).astype(data.dtype)) for data in (x, y))
    w = torch.from_numpy(weight.astype(x.dtype))
    norms = (points * points).sum(1)

    def work(rows: int, columns: int) -> Any:
        total = torch.zeros(len(queries), dtype=queries.dtype)
        for i in range(0, len(queries), rows):
            q = queries[i : i + rows]
            own = (q * q).sum(1, keepdim=True)
            for j in range(0, len(points), columns):
                exponent = torch.addmm(norms[j : j + columns] + own, q, points[j : j + columns].T, beta=-1, alpha=2)
                total[i : i + rows] += exponent.clamp_(min=-80.0).exp_() @ w[j : j + columns]
        return torch.log(total)

    shapes = ((256, 1_024), (1_024, 2_048), (512, len(points)), (2_000, len(points)))
    return max(rate(lambda shape=shape: work(*shape), x.shape[0] * y.shape[0]) for shape in shapes)


def jax_rate(x: np.ndarray, y: np.ndarray, h: float, weight: np.ndarray, threads: int) -> float:  # noqa: ARG001
    """A compiled block of queries at a time; the number of threads was set when the process started."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    scale = 1 / (h * np.sqrt(2))

    @jax.jit
    def block(q: Any, points: Any, w: Any) -> Any:
        exponent = 2 * q @ points.T - (points * points).sum(1) - (q * q).sum(1)[:, None]
        return jnp.log(jnp.exp(exponent) @ w)

    points, w = jnp.asarray((y * scale).astype(x.dtype)), jnp.asarray(weight.astype(x.dtype))
    queries = jnp.asarray((x * scale).astype(x.dtype))

    def work(rows: int) -> None:
        for i in range(0, len(x), rows):
            block(queries[i : i + rows], points, w).block_until_ready()

    sizes = [size for size in (250, 1_000, 4_000) if len(x) % size == 0] or [len(x)]
    return max(rate(lambda size=size: work(size), x.shape[0] * y.shape[0]) for size in sizes)


def cdist_rate(x: np.ndarray, y: np.ndarray, h: float, weight: np.ndarray) -> float:
    """The expression as people write it, on the whole matrix."""
    from scipy.spatial.distance import cdist

    return rate(lambda: np.log(np.exp(-(cdist(x, y) ** 2) / (2 * h**2)) @ weight), x.shape[0] * y.shape[0])


def blocked_cdist_rate(x: np.ndarray, y: np.ndarray, h: float, weight: np.ndarray) -> float:
    """The same written with care: squared distances, in blocks, in place."""
    from scipy.spatial.distance import cdist

    def work() -> None:
        for i in range(0, len(x), 50):
            exponent = cdist(x[i : i + 50], y, "sqeuclidean")
            exponent *= -1 / (2 * h**2)
            np.log(np.exp(exponent, out=exponent) @ weight)

    x = x[:SLOW_PEER_QUERIES]
    return rate(work, x.shape[0] * y.shape[0])


def scikit_learn_rate(x: np.ndarray, y: np.ndarray, h: float, weight: np.ndarray | None) -> float:
    from sklearn.neighbors import KernelDensity

    model = KernelDensity(bandwidth=h).fit(y, sample_weight=weight)
    queries = x[: SLOW_PEER_QUERIES // 4]
    return rate(lambda: model.score_samples(queries), queries.shape[0] * y.shape[0])


def sums(rows: int, threads: int) -> None:
    from threadpoolctl import threadpool_limits

    from vwkde.resources import Resources
    from vwkde.sums import log_kernel_sums

    table = Table(title=f"Weighted log kernel sums, N = M = {rows:,}, {threads} thread(s): 1e9 evaluations/s (ratio)")
    names = ("vwkde", "torch", "jax", "cdist + exp", "same, blocked", "KernelDensity", "same, weighted")
    for column in ("D, dtype", *names):
        table.add_column(column, justify="right")
    for dimension in (4, 20):
        for dtype in (np.float64, np.float32):
            random = np.random.default_rng(0)
            x, y = (random.normal(size=(rows, dimension)).astype(dtype) for _ in range(2))
            weight = random.exponential(size=rows)
            h = rows ** (-1 / (dimension + 4))
            log_weight = np.log(weight)
            with threadpool_limits(threads):
                ours = rate(
                    lambda: log_kernel_sums(x, y, h, log_weight=log_weight, resources=Resources(n_threads=threads)),  # noqa: B023
                    rows * rows,
                )
                rates: dict[str, float | None] = {"vwkde": ours}
                for name, peer in (("torch", torch_rate), ("jax", jax_rate)):
                    try:
                        rates[name] = peer(x, y, h, weight, threads)
                    except ImportError:
                        rates[name] = None
                rates["cdist + exp"] = cdist_rate(x, y, h, weight)
                rates["same, blocked"] = blocked_cdist_rate(x, y, h, weight)
                rates["KernelDensity"] = scikit_learn_rate(x, y, h, None)
                rates["same, weighted"] = scikit_learn_rate(x, y, h, weight)
            cells = [f"{r:.3g} ({ours / r:.1f}×)" if r else "not installed" for r in rates.values()]
            table.add_row(f"{dimension}, {np.dtype(dtype).name}", *cells)
    Console(width=140).print(table)


def fit(rows: int = 2_000, dimension: int = 20, basis: int = 3_000) -> None:
    """Time `DensityRatio.fit` beside the rank-k update and the Cholesky factor that it cannot do without."""
    from scipy.linalg.blas import dsyrk
    from scipy.linalg.lapack import dpotrf

    from vwkde import DensityRatio
    from vwkde.datasets import isotropic

    p, q = isotropic(dimension).sample(rows)
    design = np.random.default_rng(0).normal(size=(2 * rows, basis))

    def bare() -> None:
        normal = dsyrk(1.0, design.T, lower=1)
        normal[np.diag_indices(basis)] += basis
        dpotrf(normal, lower=1, overwrite_a=1)

    estimator = DensityRatio(max_basis=basis)
    pairs = [(1 / rate(bare, 1e9, 2.0), 1 / rate(lambda: estimator.fit(p, q), 1e9, 2.0)) for _ in range(2)]
    floor, ours = (min(times) for times in zip(*pairs, strict=True))
    Console().print(
        f"Fit, {rows:,} rows per sample, D = {dimension}, {basis:,} basis points: {ours:.2f} s; "
        f"bare dsyrk + Cholesky {floor:.2f} s; ratio {ours / floor:.2f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--threads", type=int, nargs="+", default=sorted({1, joblib.cpu_count()}))
    options = parser.parse_args()
    if len(options.threads) == 1:
        sums(options.rows, options.threads[0])
        return
    fit()
    for threads in options.threads:  # a process each, because some peers read their number of threads at the start
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
        environment = os.environ | {name: str(threads) for name in names}
        if threads == 1:
            environment["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        command = [sys.executable, __file__, "--rows", str(options.rows), "--threads", str(threads)]
        if threads < joblib.cpu_count() and sys.platform == "linux":
            command = ["taskset", "-c", ",".join(map(str, range(threads))), *command]
        os.spawnvpe(os.P_WAIT, command[0], command, environment)


if __name__ == "__main__":
    main()
