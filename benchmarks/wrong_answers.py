"""Confident wrong answers: errors, coverage and warnings of scenarios in which estimates were once wrong.

`python benchmarks/wrong_answers.py [--only WORD …] [--items 1 9 …] [--repetitions 30] [--seed 1000] [--jobs N]
[--without-slow] [--source OTHER/src] [--json FILE] [--minutes M]` runs them, one thread and one process per task, and
prints a table. With `--json` every answer is written to the file; those that it has already are not computed again, so
a run that was stopped (by `--minutes`, too) can go on later. `--source` measures the package of another tree.

`python benchmarks/wrong_answers.py --compare before.json after.json` prints two such files side by side in Markdown.

The columns: mean error ± its standard error, root mean squared error, share of intervals that contain the truth, their
median width, share of width zero, share of answers with warnings, share refused with an error, and "misleads": the
share that is wrong (interval without the truth, or number outside the right range), without a warning or an error.
"""

import argparse
import json
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from running import Record, Task, add_options, keep, prepare, read_store, run_tasks


def run_task(task: Task) -> Record:
    from scenarios import all_scenarios

    name, seed = task
    return all_scenarios()[name].run(seed)


def crashed(task: Task) -> Record:
    return {"name": task[0], "seed": task[1], "error": "Crash", "seconds": 0.0, "warnings": {}, "warned": False}


def summary(scenario: dict[str, Any], records: list[Record]) -> dict[str, Any]:
    """Return the measures of one scenario."""
    answered = [record for record in records if "error" not in record]
    value, low, high = (np.array([record[name] for record in answered]) for name in ("value", "low", "high"))
    lowest, highest = scenario["right"]
    silent = np.array([not record["warned"] for record in answered], dtype=bool)
    result: dict[str, Any] = {
        "n": len(records),
        "refused": (len(records) - len(answered)) / max(1, len(records)),
        "errors": dict(Counter(record["error"] for record in records if "error" in record)),
        "warned": np.mean(~silent) if answered else np.nan,
        "warnings": dict(Counter(name for record in answered for name in record["warnings"])),
        "seconds": np.mean([record["seconds"] for record in records]) if records else np.nan,
    }
    if not answered:
        return result | {"misleads": 0.0}
    result["value"] = value.mean()
    if scenario["measure"] == "level":
        return result | {f"p ≤ {level}": np.mean(value <= level + 1e-9) for level in (0.05, 0.1)}
    wrong = (value < lowest) | (value > highest)
    if np.isfinite(highest) or lowest < highest:
        error = value - np.clip(value, lowest, highest)
        result |= {"error": error.mean(), "error of it": error.std() / np.sqrt(len(error))}
        result["RMSE"] = np.sqrt(np.mean(error**2))
    if scenario["measure"] == "interval":
        covers = (low <= highest) & (lowest <= high)
        wrong = ~covers
        width = high - low
        result |= {"covers": covers.mean(), "width": np.median(width), "width zero": np.mean(width == 0)}
    elif lowest == highest:  # a number without an interval does not say how far off it may be
        return result
    return result | {"misleads": np.sum(wrong & silent) / len(records)}


def shown(name: str, value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if name in ("covers", "width zero", "refused", "misleads", "p ≤ 0.05", "p ≤ 0.1"):
        return f"{value:.0%}"
    if isinstance(value, dict):
        return " ".join(f"{key.removesuffix('Warning')} {count}" for key, count in value.items())
    return f"{value:.3f}" if name == "RMSE" or abs(value) < 10 else f"{value:.4g}"


def cells(result: dict[str, Any]) -> dict[str, str]:
    """Return what the table shows of one scenario."""
    one = {name: shown(name, result.get(name)) for name in ("value", "RMSE", "covers", "width", "width zero")}
    if "error" in result:
        one["error"] = f"{result['error']:+.3f} ± {result['error of it']:.3f}"
    if "p ≤ 0.1" in result:
        one["covers"] = "; ".join(f"{name}: {shown(name, result[name])}" for name in ("p ≤ 0.05", "p ≤ 0.1"))
    one["warned"] = shown("warnings", result["warnings"] | result["errors"])
    return one | {name: shown(name, result.get(name)) for name in ("refused", "misleads", "seconds")}


def right_answer(scenario: dict[str, Any]) -> str:
    lowest, highest = scenario["right"]
    if scenario["measure"] == "level":
        return "uniform"
    return f"{lowest:.4g}" if lowest == highest else f"{lowest:.3g} to {highest:.3g}"


def results_of(store: dict[str, Any]) -> dict[str, dict[str, Any]]:
    grouped: dict[str, list[Record]] = {name: [] for name in store["scenarios"]}
    for record in store["records"]:
        grouped[record["name"]].append(record)
    return {name: summary(store["scenarios"][name], records) for name, records in grouped.items() if records}


def print_table(store: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"Confident wrong answers; {store['source']}")
    names = ("value", "error", "RMSE", "covers", "width", "width zero", "refused", "misleads", "warned", "seconds")
    for column in ("item", "scenario", "truth", *names, "n"):
        table.add_column(column, justify="left" if column in ("scenario", "warned") else "right")
    for name, result in results_of(store).items():
        scenario, shown_cells = store["scenarios"][name], cells(result)
        label = name + (" *" if scenario["fresh"] else "")
        row = [shown_cells.get(column, "") for column in names]
        table.add_row(str(scenario["item"]), label, right_answer(scenario), *row, str(result["n"]))
    console = Console(width=210)
    console.print(table)
    console.print("* not one of the reported cases")


def print_comparison(before: dict[str, Any], after: dict[str, Any]) -> None:
    """Print two runs side by side; what both have in common is shown once."""
    first, second = results_of(before), results_of(after)
    names = ("value", "error", "RMSE", "covers", "width", "misleads", "warned")
    print("| item | scenario | truth | reported |", *(f" {name} |" for name in names), sep="")
    print("|---|---|---|---|" + "---|" * len(names))
    for name, scenario in after["scenarios"].items():
        if name not in first or name not in second:
            continue
        old, new = cells(first[name]), cells(second[name])
        pairs = [_pair(old.get(column, ""), new.get(column, "")) for column in names]
        label = [str(scenario["item"]), name, right_answer(scenario), scenario["reported"] or "(fresh)"]
        print("| " + " | ".join([*label, *pairs]) + " |")


def _pair(old: str, new: str) -> str:
    return old if old == new else f"{old or '–'} → {new or '–'}"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="*", default=None, help="words that the names must contain")
    parser.add_argument("--items", nargs="*", type=int, default=None)
    parser.add_argument("--repetitions", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1_000)
    add_options(parser)
    parser.add_argument("--without-slow", action="store_true")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--compare", nargs=2, type=Path, default=None, metavar=("BEFORE", "AFTER"))
    return parser.parse_args()


def main() -> None:
    options = parse()
    if options.compare:
        print_comparison(*(json.loads(path.read_text()) for path in options.compare))
        return
    prepare(options)
    chosen = select(options)
    if options.list:
        print("\n".join(f"{each.item:>2} {'fresh' if each.fresh else '     '} {name}" for name, each in chosen.items()))
        return
    measure(chosen, options)


def select(options: argparse.Namespace) -> dict[str, Any]:
    """Return the scenarios that were asked for and can run here."""
    from scenarios import all_scenarios

    chosen = {}
    for name, scenario in all_scenarios().items():
        if options.only is not None and not any(word in name for word in options.only):
            continue
        if (options.items is not None and scenario.item not in options.items) or (
            options.without_slow and scenario.slow
        ):
            continue
        if scenario.needs and find_spec(scenario.needs) is None:
            print(f"left out: {name}, which needs {scenario.needs}: pip install {scenario.needs}", file=sys.stderr)
            continue
        chosen[name] = scenario
    return chosen


def measure(chosen: dict[str, Any], options: argparse.Namespace) -> None:
    store = read_store(options.json)
    described = store.setdefault("scenarios", {})
    for name, each in chosen.items():
        words = {"item": each.item, "fresh": each.fresh, "reported": each.reported, "measure": each.measure}
        described.setdefault(name, words | {"right": list(each.right())})
    done = {(record["name"], record["seed"]) for record in store["records"]}
    tasks: list[Task] = [
        (name, options.seed + repetition)
        for name, each in sorted(chosen.items(), key=lambda pair: not pair[1].slow)  # the longest first
        for repetition in range(each.repetitions * options.repetitions)
    ]
    tasks = [task for task in tasks if task not in done]
    keep(run_tasks(run_task, tasks, options, crashed), store, options.json, len(tasks))
    print_table(store)


if __name__ == "__main__":
    main()
