"""All measurements of a run, from small sizes to large ones; what would take too long is left out, with the reason."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import log
from statistics import median

from vwkde._runtime.progress import track
from vwkde.bench.growth.kinds import KINDS
from vwkde.bench.growth.measured import LIMITS, Limits, Run, Task
from vwkde.bench.growth.methods import MEASURED, names
from vwkde.bench.growth.process import run_apart

_PAST_DOUBT = 3.0
"""How many times the limit a time is expected to be where nothing is tried: on a busy machine some runs are slow."""
_FEWEST = 50
"""Rows with which every method can do something."""


@dataclass(frozen=True)
class Plan:
    """What is measured: every method on every kind at every size, once per repetition.

    The seeds start at 10,000: nothing is tuned on these.
    """

    kinds: tuple[str, ...] = tuple(KINDS)
    methods: tuple[str, ...] = tuple(MEASURED)
    rows: tuple[int, ...] = (1_000, 4_000, 16_000, 64_000)
    repetitions: int = 3
    seed: int = 10_000
    limits: Limits = LIMITS
    n_threads: int | None = None

    def tasks(self) -> Iterator[Task]:
        """Yield what is to be measured, small sizes first: a run that is stopped has all of them."""
        for rows in sorted(set(self.rows)):
            for kind in self.kinds:
                for method in self.methods:
                    for repetition in range(self.repetitions):
                        yield Task(kind, method, rows, self.seed + repetition)


QUICK = Plan(("gaussians", "ring", "mixed"), ("default", "boosted-odds", "gaussian-plug-in"), (250, 500), repetitions=1)


def check(plan: Plan) -> None:
    """Raise if the plan names what does not exist, or counts below one."""
    for word, given, known in (("kind", plan.kinds, tuple(KINDS)), ("method", plan.methods, names())):
        unknown = [name for name in given if name not in known]
        if unknown:
            raise ValueError(f"There is no {word} {unknown[0]!r}. Choose among: {', '.join(known)}.")
    few = [rows for rows in plan.rows if rows < _FEWEST]
    if few:
        raise ValueError(f"The numbers of rows must be at least {_FEWEST}. Got {few[0]} instead.")


def run_growth(plan: Plan, known: list[Run], keep: Callable[[list[Run]], None]) -> list[Run]:
    """Measure what a plan asks for.

    Parameters
    ----------
    plan
        What is measured.
    known
        Runs that are not made again.
    keep
        Called with all runs so far after each new one.

    Returns
    -------
    list of Run
        One for every task, in the order of the plan.

    Raises
    ------
    ValueError
        If the plan names what does not exist.
    """
    check(plan)
    done = {run.task: run for run in known}
    tasks = list(plan.tasks())
    runs: list[Run] = []
    for task in track(tasks, "measurements", len(tasks)):
        if task in done:
            runs.append(done[task])
            continue
        reason = reason_to_skip(task, runs, plan.limits)
        skipped = Run(task, problem=reason, over_limit=True)
        runs.append(skipped if reason else run_apart(task, plan.limits, plan.n_threads))
        keep(runs)
    return runs


def reason_to_skip(task: Task, runs: list[Run], limits: Limits) -> str | None:
    """Return why a task would go over a limit, from the runs of the same method on the same kind so far."""
    own = [run for run in runs if (run.task.kind, run.task.method) == (task.kind, task.method)]
    stopped = next((run for run in own if run.over_limit), None)
    if stopped:
        return f"{stopped.problem} at {stopped.task.rows:,} rows"
    if _expected_seconds(own, task.rows) > _PAST_DOUBT * limits.seconds:
        return f"would take over {limits.seconds:g} s"
    return None


def _expected_seconds(own: list[Run], rows: int) -> float:
    """Return the least time to expect: it grows as between the last two sizes, or like the rows if that is less."""
    times: dict[int, list[float]] = {}
    for run in own:
        if run.seconds is not None and run.task.rows < rows:
            times.setdefault(run.task.rows, []).append(run.seconds)
    if len(times) < 2:
        return 0.0
    (before, first), (last, second) = ((size, median(each)) for size, each in sorted(times.items())[-2:])
    power = min(1.0, max(0.0, log(second / first) / log(last / before)))
    return second * (rows / last) ** power
