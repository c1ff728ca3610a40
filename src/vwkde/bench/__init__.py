"""Speed on this machine: `vwkde bench` times each part against peer libraries and the machine's own limits."""

import warnings

from threadpoolctl import threadpool_limits

from vwkde._compute.engines import engines_here
from vwkde._compute.parallel import at_most
from vwkde._runtime.progress import track
from vwkde.bench.limits import Limits, measure_limits
from vwkde.bench.measurement import Measurement
from vwkde.bench.tasks import PRECISIONS, QUICK, TASKS, Bench, Sizes

__all__ = ["QUICK", "Measurement", "Sizes", "run_bench"]


def run_bench(
    names: list[str], engines: list[str] | None, sizes: Sizes, n_threads: int | None = None
) -> tuple[list[Limits], list[Measurement]]:
    """Time the tasks of the benchmark.

    Parameters
    ----------
    names : list of str
        Tasks to time: "sums", "fit", "kl", "inspection". All of them if the list is empty.
    engines : list of str or None
        Engines to time. By default all that are available on this machine.
    sizes : Sizes
        Rows, or good images, at which each task is timed.
    n_threads : int, optional
        Threads to use. By default one per core.

    Returns
    -------
    limits : list of Limits
        What each device can do at most, by precision.
    measurements : list of Measurement
        One for every task, contender and size.

    Raises
    ------
    ValueError
        If a task does not exist, or an engine is not available here.
    """
    unknown = [name for name in names if name not in TASKS]
    if unknown:
        raise ValueError(f"There is no task {unknown[0]!r}. Choose among: {', '.join(TASKS)}.")
    here = engines_here()
    absent = [engine for engine in engines or () if engine not in here]
    if absent:
        raise ValueError(f"The engine {absent[0]!r} cannot be timed here. Choose among: {', '.join(here)}.")
    chosen = {engine: device for engine, device in here.items() if not engines or engine in engines}
    measurements: list[Measurement] = []
    wanted = names or list(TASKS)
    with warnings.catch_warnings(), threadpool_limits(n_threads), at_most(n_threads):
        limits = {
            (device, dtype): measure_limits(dtype, device)
            for device in sorted({"cpu", *chosen.values()})
            for dtype in PRECISIONS
        }
        bench = Bench(chosen, sizes, limits)
        warnings.simplefilter("ignore")  # warnings of the peers do not matter: only time counts
        for name in track(wanted, "tasks", len(wanted)):
            measurements += TASKS[name](bench)
    return list(limits.values()), measurements
