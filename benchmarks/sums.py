"""Kernel sums of many rows on the CPU: exact ones and those within 1e-6, in one run.

Run with `python benchmarks/sums.py [--rows 20000 100000 1000000] [--columns 1 2 3 5] [--threads N]`. Each line is a
standard normal sample, every row left out of its own sum, with Scott's bandwidth and half of it. Beyond `--exact` rows,
100,000 by default, exact sums are computed at some rows only, and their time is what all rows would take.
"""

import argparse
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.parallel import at_most
from vwkde._compute.sums import log_kernel_sums

Floats = NDArray[np.float64]

_SOME = 2_000
"""Rows at which exact sums are computed if all would take too long."""
_WARM = 6_000
"""Rows of a first call, which compiles; enough for every way to compute."""


def timed(work: Callable[[], Floats]) -> tuple[Floats, float, float]:
    """Return a result with the seconds that passed and those that all cores together worked."""
    wall, cpu = perf_counter(), process_time()
    result = work()
    return result, perf_counter() - wall, process_time() - cpu


def line(rows: int, columns: int, factor: float, most_exact: int) -> str:
    x = np.random.default_rng(rows + columns).normal(size=(rows, columns))
    bandwidth = factor * rows ** (-1 / (columns + 4))
    some = rows if rows <= most_exact else _SOME
    found, wall, cpu = timed(lambda: log_kernel_sums(x, x, bandwidth, leave_one_out=True))
    exact, exact_wall, exact_cpu = timed(
        lambda: log_kernel_sums(x[:some], x, bandwidth, leave_one_out=True, max_error=0)
    )
    scale = rows / some
    worst = np.abs(found[:some] - exact).max()
    return (
        f"{rows:>9,} {columns:>3} {factor:>6} {wall:>9.2f} {cpu:>9.2f} {scale * exact_wall:>9.2f} "
        f"{scale * exact_cpu:>9.2f} {scale * exact_cpu / cpu:>8.1f} {worst:>9.1e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000, 1_000_000])
    parser.add_argument("--columns", type=int, nargs="+", default=[1, 2, 3, 5])
    parser.add_argument("--exact", type=int, default=100_000, help="most rows with exact sums at each")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()

    print("     rows  cols  × Scott  seconds   CPU s   exact: s   CPU s   CPU ratio  largest |Δ log|")
    with at_most(options.threads):
        for columns in options.columns:
            line(_WARM, columns, 1.0, _WARM), line(_WARM, columns, 0.1, _WARM)
        for rows in options.rows:
            for columns in options.columns:
                for factor in (1.0, 0.5):
                    print(line(rows, columns, factor, options.exact), flush=True)


if __name__ == "__main__":
    main()
