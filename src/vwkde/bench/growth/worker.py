"""The process of one measurement: `python -m vwkde.bench.growth.worker TASK THREADS`, both as JSON, prints the result.

A small sample of the same kind is estimated first, so that loading and compiling count neither as time nor as memory.
"""

import json
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from vwkde._compute.parallel import at_most
from vwkde.bench.growth.kinds import KINDS
from vwkde.bench.growth.measured import Run, Task
from vwkde.bench.growth.methods import estimator

WARM_UP = 200
"""Rows of the first sample."""


def measure(task: Task, n_threads: int | None) -> Run:
    """Return the estimate with its time and memory, or the error that it ended with."""
    kind, estimate = KINDS[task.kind](), estimator(task.method)
    with threadpool_limits(n_threads), at_most(n_threads), warnings.catch_warnings(record=True) as caught:
        with suppress(Exception):  # what cannot be done with the rows that count is reported below
            estimate(*kind.sample(WARM_UP, task.seed), task.seed)
        samples = kind.sample(task.rows, task.seed)
        warnings.simplefilter("always")
        caught.clear()
        _forget_peak()
        before, start = peak_memory(), perf_counter()
        try:
            answer = estimate(*samples, task.seed)
        except Exception as error:
            return Run(task, problem=" ".join(f"{type(error).__name__}: {error}".split()))
        seconds, peak = perf_counter() - start, peak_memory()
    grown = None if peak is None or before is None else peak - before
    kinds = tuple(sorted({each.category.__name__ for each in caught}))
    return _checked(Run(task, seconds, grown, peak, answer.value, *_ends(answer), kinds))


def peak_memory() -> float | None:
    """Return the peak memory of this process in MiB, or None where the system does not tell."""
    with suppress(OSError, StopIteration):  # exact on Linux, where the peak of getrusage may be that of the parent
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 2**10
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def _forget_peak() -> None:
    """Let the peak start again from the present memory, where the system can."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _ends(answer: Any) -> tuple[float | None, float | None]:
    """Return the ends of the interval: JSON has no infinity."""
    low, high = answer.interval
    return (low if np.isfinite(low) else None), (high if np.isfinite(high) else None)


def _checked(run: Run) -> Run:
    if run.value is not None and np.isfinite(run.value):
        return run
    return Run(run.task, problem=f"The value is {run.value}")


if __name__ == "__main__":
    print(json.dumps(measure(Task(*json.loads(sys.argv[1])), json.loads(sys.argv[2])).to_dict()))
