"""Peak memory of one KL at 100,000 rows per sample, and the time that `import vwkde` takes.

Run with `python benchmarks/memory.py [--rows 100000] [--columns 10]`.
"""

import argparse
import resource
import subprocess
import sys
from time import perf_counter

import numpy as np


def peak() -> float:
    """Return the peak memory of this process, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=10)
    options = parser.parse_args()

    times = []
    for _ in range(5):
        start = perf_counter()
        subprocess.run([sys.executable, "-c", "import vwkde"], check=True)
        times.append(perf_counter() - start)
    print(f"import vwkde, interpreter included: {min(times):.2f} s")

    import vwkde

    random = np.random.default_rng(0)
    p, q = random.normal(size=(options.rows, options.columns)), random.normal(0.3, 1, (options.rows, options.columns))
    vwkde.kl_divergence(p[:500], q[:500])
    before, start = peak(), perf_counter()
    estimate = vwkde.kl_divergence(p, q)
    print(
        f"KL at {options.rows:,} rows per sample, {options.columns} columns: {estimate.value:.3f} nats "
        f"(truth {0.045 * options.columns:.3f}) in {perf_counter() - start:.0f} s, "
        f"peak {peak() - before:.0f} MiB over inputs and libraries"
    )


if __name__ == "__main__":
    main()
