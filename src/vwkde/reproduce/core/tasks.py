"""Many small pieces of work on all cores, each kept as soon as it is done, so that a run resumes where it stopped."""

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
    """A piece of work: `function(*arguments)` returns what JSON can hold. The name tells it from all others."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What a task gave: its value and how long it took, or why it failed."""

    value: Any = None
    seconds: float = 0.0
    error: str | None = None


def run_tasks(
    tasks: list[Task], journal: Path, stage: str, n_jobs: int | None = None, cluster: str | None = None
) -> dict[str, Outcome]:
    """Return the outcomes by the tasks' names; those the journal already has are not done again, unless they failed.

    The work is done by processes of this machine, or by the workers of the Dask cluster at an address.
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
    """Return the values by the tasks' names; what needs them all cannot be made if a task failed."""
    failed = [f"{name}: {outcome.error}" for name, outcome in outcomes.items() if outcome.error]
    if failed:
        raise RuntimeError(
            f"{len(failed)} of {len(outcomes)} tasks failed; the first is {failed[0]}. The others are kept: run the "
            "command again when the cause is mended."
        )
    return {name: outcome.value for name, outcome in outcomes.items()}


def _outcomes(tasks: list[Task], n_jobs: int | None) -> Iterable[tuple[str, Outcome]]:
    """Yield the outcomes as they come, from as many processes as there are cores, each with one thread."""
    jobs = min(n_jobs or thread_count(), len(tasks))
    if jobs <= 1:
        return map(_work, tasks)
    with joblib.parallel_config("loky", inner_max_num_threads=1):
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        return parallel(joblib.delayed(_work)(task) for task in tasks)


def _outcomes_of_cluster(tasks: list[Task], address: str | None) -> Iterable[tuple[str, Outcome]]:
    """Yield the outcomes as they come from a cluster; a task whose worker is lost goes to another."""
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
            # that some estimators are biased is what the figures show
            warnings.simplefilter("ignore", BiasWarning)
            warnings.simplefilter("ignore", OverlapWarning)
            value = task.function(*task.arguments)
    except Exception as error:  # one failure must not cost the others
        return task.name, Outcome(error=f"{type(error).__name__}: {error}")
    return task.name, Outcome(value, round(perf_counter() - start, 4))


def versions_used(journal: Path) -> list[dict[str, str]]:
    """Return what computed the outcomes of a journal: one entry, or several if it went on elsewhere."""
    sessions = [entry["versions"] for entry in _entries(journal) if "versions" in entry]
    return [each for place, each in enumerate(sessions) if each not in sessions[:place]]


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
    """Return what a line holds; nothing if it was cut off while being written."""
    try:
        found: dict[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        return None
    return found


def _open_journal(journal: Path) -> Any:
    journal.parent.mkdir(parents=True, exist_ok=True)
    file = journal.open("a", encoding="utf-8")
    file.write("\n" if file.tell() else "")  # after a line cut off, the next starts afresh
    file.write(json.dumps({"versions": versions_here(*_PACKAGES)}) + "\n")
    return file
