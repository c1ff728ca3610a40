"""Many small tasks on all cores; each result is saved at once, so that a run resumes where it stopped."""

import json
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import joblib

from vwkde._compute.cluster import as_block, connected
from vwkde._compute.parallel import thread_count
from vwkde._runtime.progress import track
from vwkde._runtime.versions import VERSION, versions_here
from vwkde.exceptions import BiasWarning, OverlapWarning

_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "torch")


@dataclass(frozen=True)
class Task:
    """A piece of work with a unique name; `function(*arguments)` returns a value that JSON can store."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The result of a task: its value and its time in seconds, or why it failed."""

    value: Any = None
    seconds: float = 0.0
    error: str | None = None


def run_tasks(
    tasks: list[Task], journal: Path, stage: str, n_jobs: int | None = None, cluster: str | None = None
) -> dict[str, Outcome]:
    """Return the outcomes by the tasks' names; tasks in the journal are not run again, unless they failed.

    The work is done by processes on this machine, or by the workers of the Dask cluster at the address `cluster`.
    """
    done = _read_journal(journal)
    missing = [task for task in tasks if task.name not in done or done[task.name].error]
    with _open_journal(journal) as file, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "A worker stopped")  # another one takes its place
        spread = cluster is not None and missing
        outcomes = _outcomes_of_cluster(missing, cluster) if spread else _outcomes(missing, n_jobs)
        for name, outcome in track(outcomes, stage, len(missing)):
            done[name] = outcome
            file.write(json.dumps({"task": name, **vars(outcome)}) + "\n")
            file.flush()
    return {task.name: done[task.name] for task in tasks}


def values_of(outcomes: Mapping[str, Outcome]) -> dict[str, Any]:
    """Return the values by the tasks' names; raise an error if a task failed."""
    failed = [f"{name}: {outcome.error}" for name, outcome in outcomes.items() if outcome.error]
    if failed:
        raise RuntimeError(
            f"{len(failed)} of {len(outcomes)} tasks failed; the first is {failed[0]}. The results of the others "
            "are kept: fix the cause and run the command again."
        )
    return {name: outcome.value for name, outcome in outcomes.items()}


def _outcomes(tasks: list[Task], n_jobs: int | None) -> Iterable[tuple[str, Outcome]]:
    """Yield the outcomes as they finish, from one process per core with one thread each."""
    jobs = min(n_jobs or thread_count(), len(tasks))
    if jobs <= 1:
        return map(_work, tasks)
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        return parallel(joblib.delayed(_work)(task) for task in tasks)


def _outcomes_of_cluster(tasks: list[Task], address: str | None) -> Iterable[tuple[str, Outcome]]:
    """Yield the outcomes as they finish on a cluster; a task whose worker is lost goes to another."""
    with connected(address) as client:
        from distributed import KilledWorker, as_completed

        names = {client.submit(as_block, _work, task, pure=False): task.name for task in tasks}
        for future in as_completed(list(names)):
            try:
                yield future.result()
            except KilledWorker as error:
                yield names[future], Outcome(error=f"{type(error).__name__}: {error}")


def _work(task: Task) -> tuple[str, Outcome]:
    start = perf_counter()
    try:
        with warnings.catch_warnings():
            # the figures show how biased some estimators are, so warnings are not needed
            warnings.simplefilter("ignore", BiasWarning)
            warnings.simplefilter("ignore", OverlapWarning)
            value = task.function(*task.arguments)
    except Exception as error:  # one failure must not stop the others
        return task.name, Outcome(error=f"{type(error).__name__}: {error}")
    return task.name, Outcome(value, round(perf_counter() - start, 4))


def versions_used(journal: Path) -> list[dict[str, str]]:
    """Return the versions that computed a journal: several entries if it was continued with other versions."""
    used = [entry["versions"] for entry in _entries(journal) if "versions" in entry]
    return [each for place, each in enumerate(used) if each not in used[:place]]


def _read_journal(journal: Path) -> dict[str, Outcome]:
    if not journal.exists():
        return {}
    entries = _entries(journal)
    used = {entry["versions"]["vwkde"] for entry in entries if "versions" in entry}
    if used != {VERSION}:
        raise ValueError(
            f"{journal} was written by vwkde {', '.join(sorted(used)) or 'of no version'}, and this is "
            f"{VERSION}. Remove it, or choose another folder."
        )
    return {entry.pop("task"): Outcome(**entry) for entry in entries if "task" in entry}


def _entries(journal: Path) -> list[dict[str, Any]]:
    return [entry for line in journal.read_text(encoding="utf-8").splitlines() if (entry := _parsed(line))]


def _parsed(line: str) -> dict[str, Any] | None:
    """Return the entry of a line, or None if the line was cut off while being written."""
    try:
        entry: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return entry


def _open_journal(journal: Path) -> Any:
    journal.parent.mkdir(parents=True, exist_ok=True)
    file = journal.open("a", encoding="utf-8")
    file.write("\n" if file.tell() else "")  # the last line may have been cut off, so start a new one
    file.write(json.dumps({"versions": versions_here(*_PACKAGES)}) + "\n")
    return file
