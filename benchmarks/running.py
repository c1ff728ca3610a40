"""How benchmarks of many tasks run: a process and a thread per task, answers in a file, and a run that can go on."""

import argparse
import json
import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from time import monotonic
from typing import Any

Record = dict[str, Any]
Task = tuple[Any, ...]

_SINGLE_THREADED = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
_SAVE_EVERY = 30.0
"""Seconds between two versions of the file of answers."""
_MOST_CRASHES = 3
"""Times that a task may end its process before it is given up."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that all such benchmarks have."""
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="tasks at a time")
    parser.add_argument("--json", type=Path, default=None, help="file of all answers; those in it are not asked again")
    parser.add_argument("--source", type=Path, default=None, help="measure the package of another tree: OTHER/src")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after this time")


def prepare(options: argparse.Namespace) -> None:
    """Make this process and those it starts single threaded, and let them find the package that is measured."""
    os.environ.update(dict.fromkeys(_SINGLE_THREADED, "1"))
    if options.source:
        sys.path.insert(0, str(options.source.resolve()))


def run_tasks(
    run: Callable[[Task], Record],
    tasks: list[Task],
    options: argparse.Namespace,
    crashed: Callable[[Task], Record],
) -> Iterator[Record]:
    """Yield the records of tasks as they come, and what `crashed` makes of tasks that end their process.

    A process that dies takes others along, so a new pool goes on with the rest.
    """
    until = monotonic() + 60 * options.minutes
    crashes: Counter[Task] = Counter()
    while tasks:
        finished: set[Task] = set()
        with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
            futures = {pool.submit(run, task): task for task in tasks}
            yield from _collect(pool, futures, finished, until)
        if monotonic() > until:
            return
        tasks = [task for task in tasks if task not in finished]
        crashes.update(tasks[: options.jobs])  # those that may have been running
        for task in [task for task in tasks if crashes[task] > _MOST_CRASHES]:
            yield crashed(task)
            tasks.remove(task)


def _collect(
    pool: ProcessPoolExecutor, futures: dict[Future[Record], Task], finished: set[Task], until: float
) -> Iterator[Record]:
    for future in as_completed(futures):
        try:
            record = future.result()
        except BrokenProcessPool:
            return
        finished.add(futures[future])
        yield record
        if monotonic() > until:
            pool.shutdown(wait=False, cancel_futures=True)
            return


def keep(records: Iterable[Record], store: dict[str, Any], path: Path | None, total: int) -> None:
    """Add records to a store as they come, and write it to the file now and then."""
    saved = monotonic()
    for count, record in enumerate(records, start=1):
        store["records"].append(record)
        if monotonic() > saved + _SAVE_EVERY:
            saved = monotonic()
            write_store(path, store)
            print(f"{count} of {total}", file=sys.stderr, flush=True)
    write_store(path, store)


def read_store(path: Path | None) -> dict[str, Any]:
    """Return what a file of answers has, or an empty store that says which package is measured."""
    if path is not None and path.is_file():
        return json.loads(path.read_text())
    import vwkde

    return {"source": f"{Path(vwkde.__file__).parents[2].name}, vwkde {vwkde.__version__}", "records": []}


def write_store(path: Path | None, store: dict[str, Any]) -> None:
    if path is not None:
        partial = path.with_suffix(".part")
        partial.write_text(json.dumps(store))
        partial.replace(path)
