"""The command line: `vwkde kl`, `vwkde ratio`, `vwkde demo`, `vwkde reproduce`, `vwkde bench`, `vwkde inspect`."""

import json
import os
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.table import Table as RichTable

import vwkde
from vwkde.catalogue import is_baseline, methods
from vwkde.cli.console import bars, errors, screen
from vwkde.cli.inspect import ERROR, INTERRUPTED, Seed
from vwkde.cli.inspect import app as inspection_app

BROKEN_PIPE = 141
"""Exit status when nobody reads what is printed, as of a program that the signal ends."""
_LARGE = 2**30
"""Bytes above which a sample stays in its file."""

app = typer.Typer(
    help="Density ratios and divergences from samples, with the leading bias removed.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Numerator = Annotated[Path, typer.Argument(metavar="P", help="Sample of P, the numerator: CSV, Parquet or NPY.")]
Denominator = Annotated[Path, typer.Argument(metavar="Q", help="Sample of Q, the denominator.")]
Method = Annotated[str | None, typer.Option(help=f"One of: {', '.join(methods())}. Default: the best one.")]
Bandwidth = Annotated[str, typer.Option(help="A number, in units of the data's spread, or a rule's name.")]
Columns = Annotated[str | None, typer.Option(help="Use only these columns: a,b,c.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(vwkde.__version__)
        raise typer.Exit


Version = Annotated[
    bool, typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version)
]


@app.callback()
def _common(version: Version = False) -> None:
    del version


@app.command()
def kl(
    numerator: Numerator,
    denominator: Denominator,
    method: Method = None,
    bandwidth: Bandwidth = "auto",
    columns: Columns = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate the KL divergence KL(P ‖ Q) from two samples."""
    p, q = (_sample(path, columns, method) for path in (numerator, denominator))
    with bars():
        estimate = vwkde.kl_divergence(p, q, method=method, random_state=seed, **_given(bandwidth))
    if as_json:
        typer.echo(json.dumps(estimate.to_dict(), indent=2))
    else:
        typer.echo(str(estimate))


@app.command()
def ratio(
    numerator: Numerator,
    denominator: Denominator,
    at: Annotated[Path, typer.Option(metavar="Z", help="Points at which to estimate the ratio.")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write here: CSV, Parquet or NPY.")] = None,
    method: Method = None,
    bandwidth: Bandwidth = "auto",
    columns: Columns = None,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Estimate the log density ratio log p/q at points, and the posterior of P at equal priors."""
    from vwkde._answers.posterior import posterior
    from vwkde._data.tables import check_target, read_table, write_table
    from vwkde.divergences import make_estimator

    if output is not None:
        check_target(output)
    p, q = (_sample(path, columns, method) for path in (numerator, denominator))
    z = read_table(at, _names(columns))
    with bars():
        fitted = make_estimator(method, {"random_state": seed, **_given(bandwidth)}).fit(p, q)
        log_ratio = fitted.log_ratio(z)
    results = {"log_ratio": log_ratio, "posterior": posterior(log_ratio, 0.5)}
    if output is not None:
        write_table(output, results)
        typer.echo(f"{len(log_ratio)} rows written to {output}", err=True)
    if as_json:
        typer.echo(json.dumps({name: values.tolist() for name, values in results.items()}))
    elif output is None:
        np.savetxt(
            sys.stdout, np.column_stack(list(results.values())), "%.8g", ",", header=",".join(results), comments=""
        )


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the picture and the figures.")] = Path(
        "demo"
    ),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Run the paper's 1-D and 20-D examples: truth, plain KDE and VWKDE side by side, and a picture."""
    from vwkde._display.matplotlib import require_matplotlib
    from vwkde.cli import demo_picture
    from vwkde.cli.demo import ROWS, run

    with bars():
        comparisons = list(run(seed))
    rows = [comparison.to_dict() for comparison in comparisons]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
    else:
        _print_table(rows, f"KL divergence in nats, {ROWS:,} points per sample")
    try:
        require_matplotlib()
    except ImportError as error:
        errors.print(f"No picture: {error}", style="yellow", markup=False)
        return
    output.mkdir(parents=True, exist_ok=True)
    demo_picture.save_demo(comparisons, output / "demo.png")
    typer.echo(f"Picture: {output / 'demo.png'}", err=as_json)


app.add_typer(inspection_app, name="inspect")


@app.command()
def reproduce(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="fig1 … fig6, table1, table2, figA1, figA2, or all.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for numbers, pictures and pages.")] = Path(
        "reproduced"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="A small part, in a minute or two.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Processes to use. Default: as many as there are cores.")] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Let the workers of this Dask scheduler do the work.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DAGM", help="Folder with DAGM's classes, for table1, table2 and fig6.")
    ] = None,
    classes: Annotated[str | None, typer.Option(help="Use only these classes: 1,3. Default: the first six.")] = None,
    images: Annotated[
        int | None, typer.Option(min=8, help="Use at most so many images of each kind and class.")
    ] = None,
    digits: Annotated[
        Path | None, typer.Option(help="MNIST's file of images, for unseen defects. Default: scikit-learn's digits.")
    ] = None,
) -> None:
    """Reproduce figures and tables of the paper: numbers, and which claims hold. Goes on where it was stopped."""
    from vwkde.reproduce import FIGURES, figure_named
    from vwkde.reproduce import reproduce as reproduce_one
    from vwkde.reproduce.surfaces.deals import choose_surfaces

    wanted = list(FIGURES) if "all" in names else names
    on_images = [name for name in wanted if figure_named(name).on_images]
    if on_images and data is None:
        if "all" not in names:
            raise ValueError(f"{on_images[0]} needs DAGM's images: give the folder that holds the classes with --data.")
        errors.print(f"Left out for want of images (--data): {', '.join(on_images)}", style="yellow", markup=False)
        wanted = [name for name in wanted if name not in on_images]
    surfaces = None if data is None else choose_surfaces(data, _names(classes), images, digits, quick)
    for name in wanted:
        with bars():
            folder = reproduce_one(name, output, quick=quick, n_jobs=jobs, cluster=dask, surfaces=surfaces)
        typer.echo(f"{name}: {folder / 'README.md'}")


@app.command()
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME…]", help="sums, fit, kl, inspection. Default: all.")
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the numbers and the picture.")] = Path(
        "bench"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes only, in a minute.")] = False,
    engine: Annotated[
        list[str] | None, typer.Option(help="Time only this engine; may be given again. Default: all there are.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use. Default: all cores.")] = None,
    as_json: Json = False,
) -> None:
    """Measure speed on this machine: seconds as they grow with the size, beside peers and the machine's own limits."""
    from vwkde._display.matplotlib import require_matplotlib
    from vwkde.bench import QUICK, Sizes, run_bench
    from vwkde.bench.report import describe_limits, save_bench, tables, to_dict, write_numbers

    with bars():
        limits, measurements = run_bench(names or [], engine, QUICK if quick else Sizes(), threads)
    record = to_dict(measurements, limits, threads)
    if as_json:
        typer.echo(json.dumps(record, indent=2))
    else:
        for table in tables(measurements):
            screen.print(table)
        screen.print(describe_limits(limits), soft_wrap=True)
    output.mkdir(parents=True, exist_ok=True)
    write_numbers(output / "bench.json", record)
    try:
        require_matplotlib()
    except ImportError as error:
        errors.print(f"No picture: {error}", style="yellow", markup=False)
        return
    save_bench(output / "bench.png", measurements)
    typer.echo(f"Picture: {output / 'bench.png'}", err=as_json)


def main() -> None:
    """Run the command line; whatever goes wrong is told in one line, with exit status 2."""
    warnings.showwarning = _print_warning
    try:
        status = app(standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort:
        status = INTERRUPTED
    except BrokenPipeError:
        status = _unheard()
    except SystemExit as stop:  # so do Typer and Rich end when nobody reads
        status = _unheard() if isinstance(stop.__context__, BrokenPipeError) else stop.code
    except Exception as error:
        status = _tell(error)
    raise SystemExit(status or 0)


def _unheard() -> int:
    """Send what is still to be printed nowhere: writing it would fail once more when the program ends."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.__stdout__.fileno() if sys.__stdout__ else 1)
    return BROKEN_PIPE


def _tell(error: Exception) -> int:
    """Print an error in one line; one of usage with the command that explains it."""
    words = error.format_message() if hasattr(error, "format_message") else str(error)
    context = getattr(error, "ctx", None)
    if context is not None:
        if not words:  # no command was given, and the help has been printed
            return ERROR
        words = f"{words.rstrip('.')}. See: {context.command_path} --help"
    line = " ".join(words.split()) or type(error).__name__
    errors.print(f"error: {line}", style="red", markup=False, soft_wrap=True)
    return ERROR


def _sample(path: Path, columns: str | None, method: str | None) -> Any:
    """Return a sample as a table or, where the file is large and the method allows, its path, to be read in parts."""
    from vwkde._data.tables import read_table

    in_parts = path.suffix.lower() in (".npy", ".parquet") and columns is None and not is_baseline(method)
    if in_parts and path.is_file() and path.stat().st_size > _LARGE:
        return path
    return read_table(path, _names(columns))


def _names(columns: str | None) -> list[str] | None:
    return [name.strip() for name in columns.split(",")] if columns else None


def _given(bandwidth: str) -> dict[str, Any]:
    """Return the bandwidth as a parameter, unless it was left to the method."""
    if bandwidth == "auto":
        return {}
    try:
        return {"bandwidth": float(bandwidth)}
    except ValueError:
        return {"bandwidth": bandwidth}


def _print_table(rows: list[dict[str, Any]], title: str) -> None:
    table = RichTable(title=title)
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "example" else "right")
    for row in rows:
        table.add_row(*(value if isinstance(value, str) else f"{value:.3f}" for value in row.values()))
    screen.print(table)


def _print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    errors.print(f"warning: {message}", style="yellow", markup=False, soft_wrap=True)
