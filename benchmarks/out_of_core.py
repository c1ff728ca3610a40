"""Seconds and peak memory for samples that do not fit into memory: two files, a KL, and the ratio at new points.

Run with `python benchmarks/out_of_core.py [--rows 5000000] [--columns 16] [--queries 10000] [--method vwkde-mb]`. The
files are made in a temporary folder, and take 4 bytes per number in float32. The peak is that of the process, libraries
included (VmHWM in /proc/self/status, so Linux only); making the files is not part of it. With `--workers 2` the passes
are Dask tasks on two processes of one thread each, and the peak is that of the calling process.
"""

import argparse
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from time import perf_counter

import numpy as np

import vwkde
from vwkde.divergences import make_estimator

_CHUNK = 100_000
_SHIFT = 0.3


def make_file(path: Path, rows: int, columns: int, shift: float, dtype: str, seed: int) -> None:
    """Write normal numbers around a shift."""
    random = np.random.default_rng(seed)
    out = np.lib.format.open_memmap(path, "w+", dtype, (rows, columns))
    for start in range(0, rows, _CHUNK):
        size = min(_CHUNK, rows - start)
        out[start : start + size] = random.normal(shift, 1, (size, columns))
    out.flush()


def peak() -> float:
    """Return the peak memory of this process, in MiB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def measure(options: argparse.Namespace) -> None:
    """Measure on a Dask cluster or in this process."""
    with ExitStack() as stack:
        if options.workers:
            from distributed import Client, LocalCluster

            cluster = LocalCluster(n_workers=options.workers, threads_per_worker=1, dashboard_address=":0")
            stack.enter_context(cluster)
            stack.enter_context(Client(cluster))
        run(options)


def run(options: argparse.Namespace) -> None:
    """Fit, then compute ratios and the divergence."""
    p, q = (np.load(Path(options.folder) / name, mmap_mode="r") for name in ("p.npy", "q.npy"))
    settings = {"max_held": options.held, "max_basis": options.basis, "engine": "dask" if options.workers else "auto"}
    start = perf_counter()
    ratio = make_estimator(None if options.method == "default" else options.method, settings).fit(p, q)
    print(f"fit: {perf_counter() - start:.0f} s, peak {peak():.0f} MiB", flush=True)
    start = perf_counter()
    ratio.log_ratio(np.random.default_rng(2).normal(size=(options.queries, options.columns)).astype(options.dtype))
    print(f"log ratio at {options.queries:,} points: {perf_counter() - start:.0f} s, peak {peak():.0f} MiB", flush=True)
    start = perf_counter()
    estimate = ratio.divergence("kl")
    print(
        f"KL, averaged over {options.held:,} rows: {estimate.value:.4f} ± {estimate.standard_error:.4f} nats "
        f"(truth {0.5 * _SHIFT**2 * options.columns:.4f}), {perf_counter() - start:.0f} s, peak {peak():.0f} MiB"
    )
    print(f"vwkde {vwkde.__version__}: {p.shape[0]:,} and {q.shape[0]:,} rows, {p.shape[1]} columns, {p.dtype}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=5_000_000)
    parser.add_argument("--columns", type=int, default=16)
    parser.add_argument("--queries", type=int, default=10_000)
    parser.add_argument("--held", type=int, default=10_000, help="Rows of each sample kept in memory.")
    parser.add_argument("--basis", type=int, default=1_000)
    parser.add_argument("--dtype", choices=["float32", "float64"], default="float32")
    parser.add_argument("--method", choices=["kde", "vwkde-mb", "default"], default="vwkde-mb")
    parser.add_argument("--workers", type=int, default=0)
    parser.add_argument("--folder", help="Folder with p.npy and q.npy; they are not made.")
    options = parser.parse_args()
    if options.folder:
        measure(options)
        return
    with tempfile.TemporaryDirectory() as folder:
        for seed, (name, shift) in enumerate((("p.npy", 0.0), ("q.npy", _SHIFT))):
            make_file(Path(folder) / name, options.rows, options.columns, shift, options.dtype, seed)
        subprocess.run([sys.executable, *sys.argv, "--folder", folder], check=True)


if __name__ == "__main__":
    main()
