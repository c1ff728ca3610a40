"""A KL divergence of rows that Dask distributes, on one process and on several.

Run with `python benchmarks/dask_workers.py [--rows 2000000] [--workers 1 8] [--method vwkde-mb]`. Each worker is a
process with one thread. The rows are drawn by the workers, which keep them in memory. Every cluster computes a small
problem first, so that compiling is not timed. The machine needs a core for each worker, and one for the caller.
"""

import argparse
from time import perf_counter
from typing import Any

import dask.array as da
from distributed import Client
from rich.console import Console
from rich.table import Table

import vwkde

CHUNK = 50_000
SHIFT = 0.3


def samples(rows: int, columns: int) -> tuple[Any, Any]:
    p, q = (
        da.random.default_rng(seed).normal(size=(rows, columns), chunks=(min(rows, CHUNK), columns)) for seed in (0, 1)
    )
    return (p + SHIFT).persist(), q.persist()


def seconds(workers: int, rows: int, columns: int, settings: dict[str, Any]) -> tuple[float, vwkde.Estimate]:
    with Client(n_workers=workers, threads_per_worker=1, dashboard_address=None):
        vwkde.kl_divergence(*samples(20_000, columns), **settings)
        p, q = samples(rows, columns)
        start = perf_counter()
        estimate = vwkde.kl_divergence(p, q, **settings)
        return perf_counter() - start, estimate


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--method", default="vwkde-mb")
    parser.add_argument("--basis", type=int, default=500, help="basis points of the weight of vwkde-mb")
    parser.add_argument("--held", type=int, default=5_000, help="rows of each sample in the caller's memory")
    options = parser.parse_args()
    settings = {"max_held": options.held, "n_threads": 1}
    if options.method != "default":
        settings |= {"method": options.method, "max_basis": options.basis}
    truth = options.columns * SHIFT**2 / 2
    table = Table("workers", "seconds", "times faster", f"KL (the truth is {truth:.3f})")
    first = None
    for workers in options.workers:
        taken, estimate = seconds(workers, options.rows, options.columns, settings)
        first = first or taken
        value = f"{estimate.value:.4f} ± {estimate.standard_error:.4f}"
        table.add_row(f"{workers}", f"{taken:.1f}", f"{first / taken:.1f}", value)
    Console(width=100).print(table)


if __name__ == "__main__":
    main()
