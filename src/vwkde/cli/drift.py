"""The commands of `vwkde drift`: compare two tables, or save a reference and compare others with it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from vwkde._runtime.exports import garbage_left
from vwkde.cli.console import bars, say
from vwkde.cli.endings import end
from vwkde.cli.grouped import Groups, read_labels, read_rows
from vwkde.cli.once import Commands
from vwkde.cli.options import Dates, Header, Json, Missing, Seed, names_in
from vwkde.cli.outputs import Force, check_reference_file, check_report_file

if TYPE_CHECKING:
    from vwkde.monitoring import DriftResult


class _WithDefault(TyperGroup):
    """A group of commands in which `vwkde drift REF CUR` stands for `vwkde drift compare REF CUR`."""

    default = "compare"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Add the name of the command if there is none."""
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [self.default, *args]
        return super().parse_args(ctx, args)


app = Commands(
    cls=_WithDefault,
    help="Find out whether a table has changed: `vwkde drift REF CUR`. The exit status is 1 if it has.",
    no_args_is_help=True,
)

Reference = Annotated[
    Path, typer.Argument(metavar="REF", help="The reference: a CSV, Parquet or NPY file.", show_default=False)
]
Current = Annotated[
    Path, typer.Argument(metavar="CUR", help="The table in question: a file as for REF.", show_default=False)
]
Level = Annotated[float, typer.Option(help="Share of false alarms when nothing changes, from 0.0001 to 0.5.")]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write a report to this HTML file.", show_default=False)
]
Columns = Annotated[
    list[str] | None,
    typer.Option(help="Columns to use, for example a,b,c. Default: all that measure something.", show_default=False),
]


@app.command()
def compare(
    reference: Reference,
    current: Current,
    output: Output = None,
    level: Level = 0.05,
    columns: Columns = None,
    groups: Groups = None,
    missing: Missing = "indicator",
    dates: Dates = "drop",
    header: Header = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compare a table with a reference. `vwkde drift REF CUR` is enough."""
    with garbage_left():
        from vwkde.monitoring import drift
        from vwkde.monitoring._reference import is_reference

    if output is not None:
        check_report_file(output, (reference, current), force)
    if is_reference(reference):
        raise ValueError(f"{reference}: a saved reference. Compare tables with it by `vwkde drift check`.")
    names = names_in(columns)
    tables = [read_rows(path, names, header, groups) for path in (reference, current)]
    labels = tuple(read_labels(path, groups, header) for path in (reference, current)) if groups else None
    reading: dict[str, Any] = {"missing": missing, "dates": dates}
    with bars():
        result = drift(*tables, level=level, groups=labels, random_state=seed, **reading)
    _finish(result, output, as_json)


@app.command()
def fit(
    reference: Reference,
    output: Annotated[Path, typer.Option("-o", "--output", help="The file to write, for example ref.model.")],
    columns: Columns = None,
    groups: Groups = None,
    missing: Missing = "indicator",
    dates: Dates = "drop",
    header: Header = None,
    seed: Seed = 0,
    force: Force = False,
) -> None:
    """Save a table as reference, to compare others with it by `check`."""
    with garbage_left():
        from vwkde.monitoring import DriftReference

    check_reference_file(output, (reference,), force)
    table = read_rows(reference, names_in(columns), header, groups)
    labels = read_labels(reference, groups, header) if groups else None
    reading: dict[str, Any] = {"missing": missing, "dates": dates}
    kept = DriftReference.fit(table, groups=labels, random_state=seed, **reading)
    replaced = " in place of an earlier one" if output.exists() else ""
    kept.save(output)
    columns_kept = kept.frame.table.num_columns
    say(f"{kept.rows:,} rows of {columns_kept} columns: reference written to {output}{replaced}", err=True)


@app.command()
def check(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The reference, written by `fit`.")],
    current: Current,
    output: Output = None,
    level: Level = 0.05,
    groups: Groups = None,
    header: Header = None,
    seed: Seed = 0,
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Compare a table with a saved reference. How much changed is measured if there is drift."""
    with garbage_left():
        from vwkde.monitoring import DriftReference

    if output is not None:
        check_report_file(output, (model, current), force)
    reference = DriftReference.load(model)
    chosen = list(reference.frame.labels) if reference.frame.chosen else None
    table = read_rows(current, chosen, header, groups)
    labels = read_labels(current, groups, header) if groups else None
    with bars():
        result = reference.check(table, level=level, groups=labels, random_state=seed)
    _finish(result, output, as_json)


def _finish(result: "DriftResult", output: Path | None, as_json: bool) -> None:
    """Print the answers, write the report, and end with status 1 if there is drift."""
    from vwkde._runtime.files import write_text

    if output is not None:
        write_text(output, result.to_html())
        say(f"report written to {output}", err=True)
    say(json.dumps(result.to_dict(), indent=2) if as_json else str(result))
    end([], finding=result.has_drifted)
