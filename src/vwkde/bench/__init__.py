"""Speed on this machine: `vwkde bench` times the parts beside peers and beside what the machine could do at best."""

import warnings

from threadpoolctl import threadpool_limits

from vwkde._progress import track
from vwkde.bench.limits import Limits, measure_limits
from vwkde.bench.measurement import Measurement
from vwkde.bench.tasks import PRECISIONS, QUICK, TASKS, Bench, Sizes

__all__ = ["QUICK", "Measurement", "Sizes", "run_bench"]


def run_bench(
    names: list[str], engines: list[str] | None, sizes: Sizes, n_threads: int | None = None
) -> tuple[list[Limits], list[Measurement]]:
    """Return the machine's limits and the times of the named tasks, or of all, by the named engines, or by all."""
    unknown = [name for name in names if name not in TASKS]
    if unknown:
        raise ValueError(f"There is no task {unknown[0]!r}. Choose among: {', '.join(TASKS)}.")
    limits = {dtype: measure_limits(dtype, n_threads=n_threads) for dtype in PRECISIONS}
    bench = Bench(tuple(engines or ["numba"]), sizes, limits, n_threads)
    measurements: list[Measurement] = []
    wanted = names or list(TASKS)
    with warnings.catch_warnings(), threadpool_limits(n_threads):
        warnings.simplefilter("ignore")  # peers warn of what they are known for; here only time counts
        for name in track(wanted, "tasks", len(wanted)):
            measurements += TASKS[name](bench)
    return list(limits.values()), measurements
