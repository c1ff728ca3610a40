"""`vwkde bench growth`: its options, the plan that they make, and what it prints and writes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vwkde.cli.console import bars, say, screen
from vwkde.cli.endings import interruptible
from vwkde.inspection.runs.output import check_writable

if TYPE_CHECKING:
    from vwkde.bench.growth import Plan

_PANEL = "Options of growth"
_NAMES: dict[str, Any] = {"rich_help_panel": _PANEL, "show_default": False}

Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="Kinds of data, such as ring,mixtures; can be repeated. Default: all seven.", **_NAMES),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        "--method",
        help="Estimators, such as default,nn; can be repeated. Default: vwkde's two and five peers.",
        **_NAMES,
    ),
]
Rows = Annotated[
    list[str] | None,
    typer.Option(help="Rows per sample; can be repeated. Default: 1000,4000,16000,64000.", **_NAMES),
]
Repetitions = Annotated[
    int | None, typer.Option(min=1, help="Samples of each kind and size. Default: 3.", rich_help_panel=_PANEL)
]
FirstSeed = Annotated[
    int | None,
    typer.Option("--seed", min=0, help="Seed of the first repetition. Default: 10000.", rich_help_panel=_PANEL),
]
Seconds = Annotated[
    float | None, typer.Option(min=1, help="Longest time of an estimate. Default: 300.", rich_help_panel=_PANEL)
]
Memory = Annotated[
    float | None,
    typer.Option(min=0.5, help="Most memory of a process in GiB, on Linux. Default: 4.", rich_help_panel=_PANEL),
]


def make_plan(quick: bool, n_threads: int | None, options: dict[str, Any]) -> "Plan":
    """Return what is measured: the usual plan or the quick one, with the options that were given."""
    from vwkde.bench.growth import QUICK, Limits, Plan

    given = {name: value for name, value in options.items() if value is not None}
    limits = Limits(**{name: given.pop(name) for name in ("seconds", "memory") if name in given})
    if "rows" in given:
        given["rows"] = [_whole_number(text) for text in given["rows"]]
    changed: dict[str, Any] = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
    return replace(QUICK if quick else Plan(), limits=limits, n_threads=n_threads, **changed)


def measure(plan: "Plan", output: Path, as_json: bool) -> None:
    """Run a plan or go on with it, print its tables or JSON, and write numbers and a picture."""
    from vwkde.bench.growth import record, run_growth
    from vwkde.bench.growth.picture import save_growth
    from vwkde.bench.growth.study import check
    from vwkde.bench.growth.summary import summary
    from vwkde.bench.growth.tables import tables

    check(plan)
    check_writable(output)
    numbers, picture = output / "growth.json", output / "growth.svg"
    with interruptible(f"{numbers} has the measurements so far; the same command goes on"), bars():
        known = record.unfinished(numbers, plan)
        runs = run_growth(plan, known, lambda runs: record.write(numbers, record.to_dict(plan, runs)))
    cells = summary(runs)
    save_growth(picture, cells)
    if as_json:
        typer.echo(json.dumps(record.to_dict(plan, runs), indent=2, ensure_ascii=False))
    else:
        for table in tables(cells):
            screen.print(table)
    say(f"Picture: {picture}", err=as_json)


def _whole_number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"--rows must be whole numbers such as 1000,4000. Got {text!r} instead.")
    return int(text)
