"""A zoo of random two-sample problems whose log ratio is known at every row: how far from the truth estimators are.

`python benchmarks/zoo.py [--problems START COUNT] [--repetitions R] [--estimators NAME …] [--questions NAME …]
[--rows N …] [--json FILE] [--minutes M] [--jobs N] [--source OTHER/src]` puts estimators before problems and prints
tables. Seeds below 10,000 are for tuning; report on others. With `--rows` every sample has that many rows; with several
numbers, such as `--rows 1000 16000`, tables show for each kind of problem what more rows bring. With `--json` every
answer is kept, and a run that was stopped goes on.

Estimators: `default`, the names of `vwkde.methods()`, `NAME-guide`, the simple peers, `oracle`, which knows the ratio,
`methods`, `peers`, `all`, and any function `package.module:function` of two arrays that returns a number, or something
with `value` and `interval`.
Questions: the divergences, `posterior` and `weights`.

`python benchmarks/zoo.py --summary FILE …` prints the tables of such files, in Markdown with `--markdown`.

The floor is √(Var_p(log r)/n + Var_q(r)/m), the scatter of an estimator that knows the ratio to first order. See
docs/zoo.md.
"""

import argparse
import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

from running import Task, add_options, keep, prepare, read_store, run_tasks, write_store


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", nargs=2, type=int, default=[0, 100], metavar=("START", "COUNT"))
    parser.add_argument("--repetitions", type=int, default=1)
    parser.add_argument("--estimators", nargs="+", default=["default"], metavar="NAME")
    parser.add_argument("--questions", "--divergences", nargs="+", default=["kl"], metavar="NAME")
    parser.add_argument(
        "--rows",
        nargs="+",
        type=int,
        default=[None],
        metavar="N",
        help="rows of each sample, instead of those of the problem; several numbers are compared",
    )
    add_options(parser)
    parser.add_argument("--summary", nargs="+", type=Path, default=None, metavar="FILE")
    parser.add_argument("--markdown", action="store_true", help="tables for a page")
    parser.add_argument(
        "--details", action="store_true", help="tables by kind of every question, not only of the first"
    )
    parser.add_argument("--worst", type=int, default=0, metavar="COUNT", help="list the largest errors, too")
    return parser.parse_args()


def main() -> None:
    options = parse()
    sys.path.append("")  # functions of other people are found from here
    prepare(options)
    if options.summary:
        stores = {path.stem: json.loads(path.read_text()) for path in options.summary}
    else:
        stores = {"": measure(options)}
    show(stores, options)


def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Run what a file of answers does not have yet, and return all of it."""
    from zoo_runs.questions import QUESTIONS
    from zoo_runs.summary import by_rows, summary
    from zoo_runs.tasks import crashed, run_task

    store = read_store(options.json)
    tasks = missing(store, options)
    keep(run_tasks(run_task, tasks, options, crashed), store, options.json, len(tasks))
    summaries = {name: summary(sized, QUESTIONS) for name, sized in by_rows({"": store}).items()}
    write_store(options.json, store | {"summary": summaries})
    return store


def missing(store: dict[str, Any], options: argparse.Namespace) -> list[Task]:
    """Return the tasks that are not done, each problem's description first."""
    from zoo_runs.entrants import names_of
    from zoo_runs.questions import check_questions

    check_questions(options.questions)
    names, start, count = names_of(options.estimators), *options.problems
    described = {
        (record["problem"], record.get("asked_rows")) for record in store["records"] if "description" in record
    }
    done = {
        (record["problem"], record.get("asked_rows"), record["repetition"], record["estimator"], question)
        for record in store["records"]
        if "estimator" in record
        for question in [*record["answers"], *record["not_asked"]]
    }
    tasks: list[Task] = []
    for seed, rows in product(range(start, start + count), options.rows):
        tasks += [] if (seed, rows) in described else [(seed, 0, None, (), rows)]
        for repetition, name in product(range(options.repetitions), names):
            left = tuple(each for each in options.questions if (seed, rows, repetition, name, each) not in done)
            tasks += [(seed, repetition, name, left, rows)] if left else []
    return tasks


def show(stores: dict[str, dict[str, Any]], options: argparse.Namespace) -> None:
    from rich.console import Console

    from zoo_runs.growth import growth_tables
    from zoo_runs.summary import by_rows
    from zoo_runs.tables import tables

    console = Console(width=200)
    sized = by_rows(stores)
    for table in tables(sized, options.markdown, options.details, options.worst):
        console.print(table)
    for store in stores.values():
        for table in growth_tables(by_rows({"": store}), options.markdown):
            console.print(table)


if __name__ == "__main__":
    main()
