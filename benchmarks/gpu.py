"""Kernel sums, whole KL estimates and image comparison on a CUDA GPU, compared with the limits of the GPU.

Run with `python benchmarks/gpu.py [--rows 1000000] [--profile]`. Samples start and end in the host's memory, and
everything in between is timed. Errors are against sums in double precision. The peer is a plain torch version: `cdist`
and `logsumexp` in chunks, timed on some of the queries only, since its time is proportional to their number.
"""

import argparse
import cProfile
import pstats
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl
from rich.console import Console
from rich.table import Table

import vwkde
from vwkde._compute.engines import ENGINES
from vwkde._compute.resources import Resources
from vwkde._compute.sums import log_kernel_sums
from vwkde._compute.sums.batches import make_batch, mutual_mean_log_sums
from vwkde.bench.growth.kinds import KINDS, Kind

SINGLE = Resources(ENGINES["triton"], device="cuda")
PEER_QUERIES = 16_384
CHECKED = 10_000
"""Queries whose sums are computed again in double precision."""
WARM_UP = 30_000
"""Rows of each sample of a first estimate, which is not timed."""
IMAGES, PATCHES, FEATURES = 500, 900, 4


def timed(work: Callable[[], Any], repeats: int = 3) -> float:
    """Return the median time of several runs, after one warm-up run."""
    times = []
    for _ in range(repeats + 1):
        torch.cuda.synchronize()
        start = perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(perf_counter() - start)
    return float(np.median(times[1:]))


@triton.jit
def exponentials(out, ROUNDS: tl.constexpr, SIZE: tl.constexpr):
    """Compute exponentials of numbers that stay in registers."""
    places = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    numbers = places.to(tl.float32) * 1e-9
    for _ in range(ROUNDS):
        numbers = tl.exp2(numbers - 1.0)
    tl.store(out + places, numbers)


def limits() -> dict[str, str]:
    programs, size, rounds, n = 132 * 32, 1024, 4096, 8192
    out = torch.empty(programs * size, device="cuda")
    seconds = timed(lambda: exponentials[(programs,)](out, ROUNDS=rounds, SIZE=size))
    rates = {"exponentials, float32": f"{programs * size * rounds / seconds:.2e} /s"}
    a = torch.randn(n, n, device="cuda")
    for name, matrix, fast in (("TF32", a, True), ("float32", a, False), ("float64", a.double(), False)):
        torch.backends.cuda.matmul.allow_tf32 = fast
        rates[f"matrix product, {name}"] = (
            f"{2 * n**3 / timed(lambda matrix=matrix: matrix @ matrix) / 1e12:.0f} TFLOP/s"
        )
    torch.backends.cuda.matmul.allow_tf32 = False
    return rates


def peer_rate(x: np.ndarray, y: np.ndarray, bandwidth: float) -> float:
    """Return the pairs per second of chunked torch, with the best of several chunk sizes."""
    queries, points = torch.as_tensor(x[:PEER_QUERIES], device="cuda"), torch.as_tensor(y, device="cuda")

    def work(chunk: int) -> None:
        for block in queries.split(chunk):
            torch.logsumexp(torch.cdist(block, points).square_().mul_(-0.5 / bandwidth**2), dim=1)

    return max(len(queries) * len(points) / timed(lambda chunk=chunk: work(chunk), 1) for chunk in (512, 2_048, 8_192))


def sums(rows: int, columns: int) -> dict[str, str]:
    random = np.random.default_rng(columns)
    x, y = (random.normal(size=(rows, columns)).astype(np.float32) for _ in range(2))
    log_weight = random.normal(size=rows)
    bandwidth = rows ** (-1 / (columns + 4))
    log_sums = log_kernel_sums(x, y, bandwidth, log_weight=log_weight, resources=SINGLE)
    seconds = timed(lambda: log_kernel_sums(x, y, bandwidth, log_weight=log_weight, resources=SINGLE))
    own = timed(lambda: log_kernel_sums(y, y, bandwidth, log_weight=log_weight, leave_one_out=True, resources=SINGLE))
    some = np.append(random.choice(rows, min(rows, CHECKED), replace=False), np.argmax((x**2).sum(axis=1)))
    exact = log_kernel_sums(
        x[some].astype(np.float64), y.astype(np.float64), bandwidth, log_weight=log_weight, resources=SINGLE
    )
    peer = peer_rate(x, y, bandwidth)
    return {
        "time": f"{seconds:.3f} s",
        "each left out": f"{own:.3f} s",
        "pairs": f"{rows**2 / seconds:.2e} /s",
        "largest |Δ log|": f"{np.abs(log_sums[some] - exact).max():.1e}",
        "chunked torch": f"{peer:.2e} /s",
        "times faster": f"{rows**2 / seconds / peer:.1f}",
    }


def whole_estimate(rows: int, profile: bool) -> dict[str, str]:
    random = np.random.default_rng(0)
    p, q = (random.normal(mean, 1, size=(rows, 16)).astype(np.float32) for mean in (0.0, 0.1))
    vwkde.kl_divergence(p[:WARM_UP], q[:WARM_UP], method="vwkde-mb", device="cuda")  # compiles the kernels
    estimate, seconds = timed_estimate(p, q, profile, method="vwkde-mb")
    return {
        "time": f"{seconds:.2f} s",
        "KL": f"{estimate.value:.4f} ± {estimate.standard_error:.4f}",
        "true KL": f"{16 * 0.1**2 / 2:.4f}",
        "bandwidth": f"{estimate.diagnostics['bandwidth']:.3f}",
        "engine": f"{estimate.diagnostics['engine']}, {estimate.diagnostics['device']}",
    }


def default_estimate(kind: Kind, rows: int, profile: bool) -> dict[str, str]:
    vwkde.kl_divergence(*kind.sample(WARM_UP, 1), device="cuda")
    estimate, seconds = timed_estimate(*kind.sample(rows, 0), profile)
    return {
        "time": f"{seconds:.2f} s",
        "KL": f"{estimate.value:.4f}, 95 % interval {estimate.interval[0]:.4f} to {estimate.interval[1]:.4f}",
        "true KL": f"{kind.truth().kl:.4f}",
    }


def timed_estimate(p: np.ndarray, q: np.ndarray, profile: bool, **settings: Any) -> tuple[vwkde.Estimate, float]:
    profiler = cProfile.Profile()
    if profile:
        profiler.enable()
    start = perf_counter()
    estimate = vwkde.kl_divergence(p, q, device="cuda", **settings)
    seconds = perf_counter() - start
    profiler.disable()
    if profile:
        pstats.Stats(profiler).sort_stats("tottime").print_stats(30)
    return estimate, seconds


def images() -> dict[str, str]:
    samples = np.random.default_rng(0).normal(size=(IMAGES, PATCHES, FEATURES)).astype(np.float32)
    batch = make_batch(samples, np.zeros(FEATURES), 0.4)
    log_sums = mutual_mean_log_sums(batch, resources=SINGLE)
    seconds = timed(lambda: mutual_mean_log_sums(batch, resources=SINGLE))
    few = mutual_mean_log_sums(make_batch(samples[:8], np.zeros(FEATURES), 0.4))
    return {
        "time": f"{seconds:.3f} s",
        "pairs of patches": f"{(IMAGES * PATCHES) ** 2 / seconds:.2e} /s",
        "largest |Δ log| against the CPU": f"{np.abs(log_sums[:8, :8] - few).max():.1e}",
    }


def show(title: str, figures: dict[str, str]) -> None:
    table = Table(title=title, show_header=False, title_justify="left", width=100)
    for name, figure in figures.items():
        table.add_row(name, figure)
    Console(width=100).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--profile", action="store_true", help="show where the whole estimate spends its time")
    options = parser.parse_args()
    show(f"{torch.cuda.get_device_name()}: its limits", limits())
    for columns in (16, 4):
        show(f"{options.rows:,} × {options.rows:,} pairs, D = {columns}, float32", sums(options.rows, columns))
    title = f"KL by vwkde-mb, {options.rows:,} rows per sample, D = 16, 3,000 basis points, end to end"
    show(title, whole_estimate(options.rows, options.profile))
    for name in ("gaussians", "ring"):
        kind = KINDS[name]()
        title = f"KL by the default, {options.rows:,} rows per sample: {kind.title}"
        show(title, default_estimate(kind, options.rows, options.profile))
    show(f"{IMAGES} × {IMAGES} images of {PATCHES} patches, {FEATURES}-D", images())


if __name__ == "__main__":
    main()
