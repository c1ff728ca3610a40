"""Runs become numbers: time, memory and error over the repetitions of a kind, a method and a size."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from vwkde.bench.growth.kinds import KINDS, truth_of
from vwkde.bench.growth.measured import Run


@dataclass(frozen=True)
class Cell:
    """One method on one kind at one size, over the repetitions.

    `seconds` is a median, `memory` in MiB the largest. `error` is the root mean square of (value − KL)/floor, and
    `bias` its mean. `covered` counts the intervals with the truth, and `misled` those without it that came without a
    warning. `problems` are those of the repetitions without a value.
    """

    kind: str
    method: str
    rows: int
    asked: int
    answered: int
    seconds: float | None
    memory: float | None
    error: float | None
    bias: float | None
    covered: int
    misled: int
    problems: tuple[str, ...]


def summary(runs: list[Run]) -> list[Cell]:
    """Return the cells of all kinds, methods and sizes, in the order of the runs."""
    grouped: dict[tuple[str, str, int], list[Run]] = {}
    for run in runs:
        grouped.setdefault((run.task.kind, run.task.method, run.task.rows), []).append(run)
    return [_cell(*key, group) for key, group in grouped.items()]


def _cell(kind: str, method: str, rows: int, runs: list[Run]) -> Cell:
    truth = truth_of(kind)
    given = [run for run in runs if run.value is not None]
    errors = (np.array([run.value for run in given], dtype=np.float64) - truth.kl) / truth.floor(rows)
    memory = [run.memory for run in given if run.memory is not None]
    missed = [run for run in given if not run.covers(truth.kl)]
    return Cell(
        kind,
        method,
        rows,
        asked=len(runs),
        answered=len(given),
        seconds=float(np.median([run.seconds for run in given])) if given else None,
        memory=max(memory, default=None),
        error=float(np.sqrt(np.mean(errors**2))) if given else None,
        bias=float(errors.mean()) if given else None,
        covered=len(given) - len(missed),
        misled=sum(not run.warnings for run in missed),
        problems=tuple(dict.fromkeys(run.problem for run in runs if run.problem)),
    )


def describe_kinds(kinds: tuple[str, ...], sizes: tuple[int, ...]) -> dict[str, Any]:
    """Return what the kinds are, with their truths and floors, ready for JSON."""
    made = {name: KINDS[name]() for name in kinds}
    truths = {name: truth_of(name) for name in kinds}
    return {
        name: {"title": kind.title, "columns": kind.columns, **asdict(truths[name])}
        | {"floors": {str(rows): truths[name].floor(rows) for rows in sizes}}
        for name, kind in made.items()
    }
