"""Mutual information on tasks with a known truth, beside nearest neighbours (Kraskov and others, k = 5).

Run with `python benchmarks/information.py [--tasks forty|others|grid|labels] [--rows 1000] [--repetitions 1]
[--only NAME …]`.
"""

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.spatial import KDTree
from scipy.special import digamma

import vwkde
from scenarios.mutual_tasks import Floats, Task, forty, grid, labels, others

TASKS: dict[str, Callable[[], Iterator[Task]]] = {"forty": forty, "others": others, "grid": grid, "labels": labels}
_FIRST_SEED = 10_000
"""No choice was made with these seeds. Each task has its own: many of them are maps of one another."""


def kraskov(x: Floats, y: Floats, k: int = 5) -> float:
    """Return the first estimator of Kraskov and others, of columns with variance one."""
    x, y = (each / each.std(axis=0) for each in (x, y))
    joint = np.concatenate([x, y], axis=1)
    radius = KDTree(joint).query(joint, k + 1, p=np.inf)[0][:, -1]
    near = [
        KDTree(each).query_ball_point(each, np.nextafter(radius, 0), p=np.inf, return_length=True) for each in (x, y)
    ]
    return float(digamma(k) + digamma(len(x)) - sum(digamma(count).mean() for count in near))


def measure(task: Task, rows: int, seed: int) -> dict[str, float]:
    x, y = task.draw(rows, np.random.default_rng(seed))
    start = perf_counter()
    estimate = vwkde.mutual_information(x, y)
    seconds = perf_counter() - start
    low, high = estimate.interval
    return {
        "truth": task.truth,
        "value": estimate.value,
        "low": low,
        "high": high,
        "covers": float(low <= task.truth <= high),
        "neighbours": kraskov(x, y),
        "seconds": seconds,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", choices=list(TASKS), default="forty")
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=None)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    table = Table(title=f"mutual information, {options.rows:,} rows, {options.repetitions} repetitions: means")
    for column in ("task", "truth", "vwkde", "interval", "covers", "neighbours", "seconds"):
        table.add_column(column, justify="left" if column == "task" else "right")
    found = []
    for number, task in enumerate(TASKS[options.tasks]()):
        if options.only is not None and not any(word in task.name for word in options.only):
            continue
        seeds = [_FIRST_SEED + 1_000 * repetition + number for repetition in range(options.repetitions)]
        records = [measure(task, options.rows, seed) for seed in seeds]
        found += records
        print(json.dumps({"task": task.name, "records": records}), file=sys.stderr, flush=True)
        mean = {name: float(np.mean([record[name] for record in records])) for name in records[0]}
        table.add_row(
            task.name,
            f"{task.truth:.3f}",
            f"{mean['value']:.3f}",
            f"{mean['low']:.2f} to {mean['high']:.2f}",
            f"{mean['covers']:.0%}",
            f"{mean['neighbours']:.3f}",
            f"{mean['seconds']:.1f}",
        )
    console = Console(width=130)
    console.print(table)
    ours, theirs = (
        np.array([abs(record[name] - record["truth"]) for record in found]) for name in ("value", "neighbours")
    )
    covered = int(sum(record["covers"] for record in found))
    console.print(
        f"mean absolute error {ours.mean():.3f} (neighbours {theirs.mean():.3f}), covered {covered} of {len(found)}, "
        f"largest error {ours.max():.3f}, worst beside neighbours {np.max(ours - theirs):+.3f}"
    )


if __name__ == "__main__":
    main()
