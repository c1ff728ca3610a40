"""The file of a run: every measurement, so that a run that was stopped goes on, and what they add up to."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vwkde._runtime.files import write_text
from vwkde.bench.growth.measured import Run
from vwkde.bench.growth.study import Plan
from vwkde.bench.growth.summary import describe_kinds, summary
from vwkde.bench.report import machine_here


def to_dict(plan: Plan, runs: list[Run]) -> dict[str, Any]:
    """Return all numbers of a run, what they add up to, and the machine."""
    return {
        **_conditions(plan),
        "finished": len(runs) == len(list(plan.tasks())),
        "kinds": describe_kinds(plan.kinds, plan.rows),
        "summary": [asdict(cell) for cell in summary(runs)],
        "runs": [run.to_dict() for run in runs],
    }


def write(path: Path, record: dict[str, Any]) -> None:
    """Write the file as a whole."""
    write_text(path, json.dumps(record, indent=2, ensure_ascii=False) + "\n")


def unfinished(path: Path, plan: Plan) -> list[Run]:
    """Return the runs of a file if the same plan was stopped there, on the same machine.

    A plan that came to its end is run anew: what is measured may have changed.
    """
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["finished"] or {name: record[name] for name in _conditions(plan)} != _conditions(plan):
            return []
        return [Run.from_dict(run) for run in record["runs"]]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _conditions(plan: Plan) -> dict[str, Any]:
    """Return what must be the same for a run to go on, as JSON has it."""
    return json.loads(json.dumps({**machine_here(plan.n_threads), "plan": asdict(plan)}))
