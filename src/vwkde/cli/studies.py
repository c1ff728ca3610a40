"""The commands that demonstrate and measure the library: `vwkde demo`, `vwkde reproduce`, `vwkde bench`."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from vwkde.cli import growth
from vwkde.cli.console import bars, complain, errors, say, screen
from vwkde.cli.options import Json, Seed, names_in
from vwkde.inspection.runs.output import check_writable

_OPTIONS = {"kinds": "kind", "methods": "method"}
"""Names of options that are not those of their parameters."""


def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the picture.")] = Path("demo"),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Run the paper's 1-D and 20-D examples: compare plain KDE and VWKDE with the truth, and draw a picture."""
    from vwkde._display.matplotlib import require_matplotlib
    from vwkde.cli import demo_picture
    from vwkde.cli.demo import ROWS, run

    check_writable(output)
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
        complain(f"No picture was drawn: {error}", "yellow")
        return
    demo_picture.save_demo(comparisons, output / "demo.png")
    say(f"Picture: {output / 'demo.png'}", err=as_json)


def reproduce(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME…", help="fig1 … fig6, table1, table2, figA1, figA2, or all.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for results, pictures and pages.")] = Path(
        "reproduced"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Run a small part only; takes a minute or two.")] = False,
    jobs: Annotated[int | None, typer.Option(help="Number of processes. Default: the number of cores.")] = None,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Run on the workers of this Dask scheduler.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="DAGM", help="Folder with the classes of DAGM, for table1, table2 and fig6.")
    ] = None,
    classes: Annotated[
        list[str] | None,
        typer.Option(help="Classes to use, such as 1,3; can be repeated. Default: the first six.", show_default=False),
    ] = None,
    images: Annotated[int | None, typer.Option(min=8, help="Maximum number of images of each kind and class.")] = None,
    digits: Annotated[
        Path | None,
        typer.Option(help="MNIST's image file, for unseen defects. Default: scikit-learn's digits."),
    ] = None,
) -> None:
    """Reproduce figures and tables of the paper, and report which claims hold. A stopped run can be continued."""
    from vwkde.reproduce import FIGURES, figure_named
    from vwkde.reproduce import reproduce as reproduce_one
    from vwkde.reproduce.surfaces.deals import choose_surfaces

    wanted = list(FIGURES) if "all" in names else names
    on_images = [name for name in wanted if figure_named(name).on_images]
    if on_images and data is None:
        if "all" not in names:
            raise ValueError(f"{on_images[0]} needs DAGM's images. Give the folder of the classes with --data.")
        errors.print(f"Skipped, as they need images (--data): {', '.join(on_images)}", style="yellow", markup=False)
        wanted = [name for name in wanted if name not in on_images]
    surfaces = None if data is None else choose_surfaces(data, names_in(classes), images, digits, quick)
    check_writable(output)
    for name in wanted:
        with bars():
            folder = reproduce_one(name, output, quick=quick, n_jobs=jobs, cluster=dask, surfaces=surfaces)
        say(f"{name}: {folder / 'README.md'}")


def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME…]", help="Any of sums, fit, kl, inspection; or inspect, or growth."),
    ] = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results and the picture.")] = Path(
        "bench"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes only; takes a minute or two.")] = False,
    engine: Annotated[
        list[str] | None,
        typer.Option(help="Measure only this engine; can be repeated. Default: all available."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Number of threads. Default: the number of cores.")] = None,
    kinds: growth.Kinds = None,
    methods: growth.Methods = None,
    rows: growth.Rows = None,
    repetitions: growth.Repetitions = None,
    seed: growth.FirstSeed = None,
    seconds: growth.Seconds = None,
    memory: growth.Memory = None,
    as_json: Json = False,
) -> None:
    """Measure speed on this machine: time against size, compared with other packages and the limits of the machine.

    With growth: time, memory and error of estimators against the rows, on data of several kinds with a known answer.
    This takes hours; a stopped run can be continued. With inspect: time and memory of the recommended features, for
    200 good images of 512 and of 1024 pixels.
    """
    lists = {"kinds": names_in(kinds), "methods": names_in(methods), "rows": names_in(rows)}
    options = {**lists, "repetitions": repetitions, "seed": seed, "seconds": seconds, "memory": memory}
    if "growth" in (names or ()):
        if names != ["growth"] or engine:
            raise ValueError("growth is measured alone: give no other name, and no --engine, with it.")
        growth.measure(growth.make_plan(quick, threads, options), output, as_json)
        return
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise ValueError(f"--{_OPTIONS.get(given[0], given[0])} is an option of growth: vwkde bench growth.")
    if "inspect" in (names or ()):
        if names != ["inspect"] or engine:
            raise ValueError("inspect is measured alone: give no other name, and no --engine, with it.")
        _time_inspecting(output, quick, threads, as_json)
        return
    _time_tasks(names or [], output, quick, engine, threads, as_json)


def _time_inspecting(output: Path, quick: bool, threads: int | None, as_json: bool) -> None:
    """Time inspection, print its table, and write the numbers."""
    from vwkde.bench import inspecting
    from vwkde.bench.report import machine_here, write_numbers

    check_writable(output)
    with bars():
        measured = inspecting.measure_all(inspecting.QUICK_SIZES if quick else inspecting.SIZES, threads)
    record = machine_here(threads) | {"inspect": [each.to_dict() for each in measured]}
    if as_json:
        typer.echo(json.dumps(record, indent=2))
    else:
        screen.print(inspecting.table(measured))
    write_numbers(output / "inspect.json", record)


def _time_tasks(
    names: list[str], output: Path, quick: bool, engines: list[str] | None, threads: int | None, as_json: bool
) -> None:
    """Time the tasks, print their tables, and write numbers and a picture."""
    from vwkde._display.matplotlib import require_matplotlib
    from vwkde.bench import QUICK, Sizes, run_bench
    from vwkde.bench.report import describe_limits, save_bench, tables, to_dict, write_numbers

    check_writable(output)
    with bars():
        limits, measurements = run_bench(names, engines, QUICK if quick else Sizes(), threads)
    record = to_dict(measurements, limits, threads)
    if as_json:
        typer.echo(json.dumps(record, indent=2))
    else:
        for table in tables(measurements):
            screen.print(table)
        screen.print(describe_limits(limits), soft_wrap=True)
    write_numbers(output / "bench.json", record)
    try:
        require_matplotlib()
    except ImportError as error:
        complain(f"No picture was drawn: {error}", "yellow")
        return
    save_bench(output / "bench.png", measurements)
    say(f"Picture: {output / 'bench.png'}", err=as_json)


def _print_table(rows: list[dict[str, Any]], title: str) -> None:
    table = Table(title=title)
    for name in rows[0]:
        table.add_column(name, justify="left" if name == "example" else "right")
    for row in rows:
        table.add_row(*(value if isinstance(value, str) else f"{value:.3f}" for value in row.values()))
    screen.print(table)
