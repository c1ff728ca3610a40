"""The limits of this machine: matrix products and exponentials, the two operations that kernel sums consist of."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vwkde._compute import parallel
from vwkde.bench.measurement import best_time

_SIDE = {"cpu": 1_500, "cuda": 8_192}
_BLOCK = 2**14
"""Exponentials computed at a time: the numbers stay in a core's first-level cache."""
_REPEATS = 200


@dataclass(frozen=True)
class Limits:
    """Floating-point operations per second in a matrix product, and exponentials per second."""

    device: str
    dtype: str
    operations: float
    exponentials: float

    def pairs(self, columns: int) -> float:
        """Return the kernels per second if nothing else took time: 2·D operations and one exponential each."""
        return 1 / (2 * columns / self.operations + 1 / self.exponentials)


def measure_limits(dtype: str, device: str = "cpu") -> Limits:
    """Return the limits of a device; for the CPU, with all threads that may be used."""
    product, exponentials, count = _on_cores(dtype) if device == "cpu" else _on_gpu(dtype, device)
    side = _SIDE["cpu" if device == "cpu" else "cuda"]
    return Limits(device, dtype, 2 * side**3 / best_time(product), count / best_time(exponentials))


def _on_cores(dtype: str) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    matrix = np.random.default_rng(0).normal(size=(_SIDE["cpu"], _SIDE["cpu"])).astype(dtype)
    threads = parallel.thread_count()
    out = np.empty_like(matrix)

    def exponentials(_: int) -> None:
        numbers = np.linspace(-20, 0, _BLOCK).astype(dtype)
        result = np.empty_like(numbers)
        for _ in range(_REPEATS):
            np.exp(numbers, out=result)

    def on_all() -> None:
        parallel.run(exponentials, range(threads))

    return lambda: np.matmul(matrix, matrix, out=out), on_all, threads * _REPEATS * _BLOCK


def _on_gpu(dtype: str, device: str) -> tuple[Callable[[], Any], Callable[[], Any], int]:
    import torch

    kind = getattr(torch, dtype)
    matrix = torch.randn((_SIDE["cuda"], _SIDE["cuda"]), dtype=kind, device=device)
    count = matrix.numel()

    def synchronised(work: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            work()
            torch.cuda.synchronize(device)

        return run

    return synchronised(lambda: matrix @ matrix), synchronised(lambda: torch.exp(matrix)), count
