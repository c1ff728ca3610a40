"""The commands `vwkde mi` and `vwkde test`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from vwkde._answers.permutation import check_permutations
from vwkde._runtime.exports import garbage_left
from vwkde.cli.console import bars, say
from vwkde.cli.estimates import Columns, Denominator, Numerator
from vwkde.cli.grouped import Groups, read_labels, read_rows
from vwkde.cli.options import FINDING, Dates, Header, Json, Missing, Seed, names_in


def _names(help_text: str, metavar: str = "A,B") -> Any:
    return typer.Option(metavar=metavar, help=help_text, show_default=False)


def mi(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A CSV, Parquet or NPY file, with X or with all columns.")
    ],
    other: Annotated[
        Path | None, typer.Argument(metavar="[Y]", help="A file with Y, row by row as in FILE.", show_default=False)
    ] = None,
    x: Annotated[list[str] | None, _names("Columns of FILE that are X.")] = None,
    y: Annotated[list[str] | None, _names("Columns that are Y, of the second file if there is one.")] = None,
    given: Annotated[list[str] | None, _names("Columns of FILE that are known: conditional information.")] = None,
    columns: Annotated[list[str] | None, _names("Columns of which every two are compared. Default: all.")] = None,
    lag: Annotated[int, typer.Option(help="For time series: take X this many rows before Y.")] = 0,
    given_lag: Annotated[int, typer.Option(help="For time series: take what is known this many rows before Y.")] = 0,
    blocks: Annotated[
        str | None,
        typer.Option(help="For time series: rows of a block, or auto. Default: auto with a lag.", show_default=False),
    ] = None,
    groups: Groups = None,
    unit: Annotated[str, typer.Option(help="nats or bits.")] = "nats",
    missing: Missing = "refuse",
    dates: Dates = "refuse",
    header: Header = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate mutual information: of X and Y, given other columns, at a lag, or of every two columns of a file."""
    with garbage_left():
        from vwkde.information import conditional_mutual_information, mutual_information, mutual_information_matrix

    of_x, of_y, of_z = names_in(x), names_in(y), names_in(given)
    common: dict[str, Any] = {"unit": unit, "missing": missing, "dates": dates, "random_state": seed}
    common["groups"] = read_labels(file, groups, header) if groups else None
    result: Any
    if other is None and not (of_x or of_y or of_z or lag):
        with bars():
            result = mutual_information_matrix(read_rows(file, names_in(columns), header, groups), **common)
        return _print(result, as_json)
    if columns:
        raise ValueError("--columns compares every two of some columns of one file. Without it, --x and --y say which.")
    if other is None and not (of_x and of_y):
        raise ValueError("Say which columns are X and Y, for example --x a,b --y c, or give two files.")
    first = read_rows(file, of_x, header, groups)
    second = read_rows(other or file, of_y, header, None if other else groups)
    common |= {"lag": lag, "blocks": _number_if_one(blocks)}
    with bars():
        if of_z:
            known = read_rows(file, of_z, header, groups)
            result = conditional_mutual_information(first, second, known, z_lag=given_lag, **common)
        else:
            result = mutual_information(first, second, **common)
    return _print(result, as_json)


def two_samples(
    numerator: Numerator,
    denominator: Denominator,
    level: Annotated[float, typer.Option(help="Report a difference if the p-value is at most this.")] = 0.05,
    permutations: Annotated[int, typer.Option(help="Random permutations of the labels.")] = 499,
    columns: Columns = None,
    groups: Groups = None,
    missing: Missing = "refuse",
    dates: Dates = "refuse",
    header: Header = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Test whether two samples come from one distribution. The exit status is 1 if they differ, 0 if not."""
    with garbage_left():
        from vwkde.two_sample import two_sample_test

    smallest = 1 / (check_permutations(permutations, "vwkde test (--permutations)") + 1)
    if not level < 1:
        raise ValueError(f"--level must be below 1, for example 0.05. Got {level:g} instead.")
    if level < smallest:
        raise ValueError(
            f"--level must be at least {smallest:g}, the smallest p-value of {permutations} permutations. Got "
            f"{level:g} instead; raise it, or raise --permutations."
        )
    samples = numerator, denominator
    p, q = (read_rows(path, names_in(columns), header, groups) for path in samples)
    labels = tuple(read_labels(path, groups, header) for path in samples) if groups else None
    reading: dict[str, Any] = {"missing": missing, "dates": dates}
    with bars():
        result = two_sample_test(p, q, n_permutations=permutations, random_state=seed, groups=labels, **reading)
    differ = result.p_value <= level
    if as_json:
        typer.echo(json.dumps({"differ": differ, "level": level, **result.to_dict()}, indent=2))
    else:
        verdict = "the samples differ" if differ else "no difference found"
        say(f"{verdict} at the level {level:g}\n{result}")
    if differ:
        raise typer.Exit(FINDING)


def _number_if_one(text: str | None) -> int | str | None:
    return int(text) if text is not None and text.lstrip("-").isdigit() else text


def _print(result: Any, as_json: bool) -> None:
    say(json.dumps(result.to_dict(), indent=2) if as_json else str(result))
