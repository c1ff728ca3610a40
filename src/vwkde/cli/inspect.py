"""The commands of `vwkde inspect`: learn a surface from good images, check others, measure how well that goes."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vwkde._compute.cluster import connected
from vwkde._runtime.extras import require
from vwkde.cli.console import bars, errors
from vwkde.cli.endings import end, interruptible
from vwkde.cli.options import Seed
from vwkde.inspection.server.limits import MOST_MEBIBYTES

if TYPE_CHECKING:
    from vwkde.inspection.model.inspector import SurfaceInspector
    from vwkde.inspection.runs.records import RunRecord

_MOST_LINES = 20
"""Rejected images that are printed one by one."""

app = typer.Typer(help="Find defects in surfaces, from good images alone.", no_args_is_help=True)

# What cannot be read is reported by the readers themselves, in one line; hence `readable=False`.
Good = Annotated[
    Path, typer.Argument(metavar="GOOD", readable=False, help="A folder of good images, or a data set with some.")
]
Images = Annotated[
    Path, typer.Argument(metavar="IMAGES", readable=False, help="An image, a folder of images, or a data set.")
]
Root = Annotated[
    Path, typer.Argument(metavar="ROOT", readable=False, help="A data set with labels, or a folder of several.")
]
Model = Annotated[Path, typer.Option("-m", "--model", help="The model file that `fit` wrote.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what was recognised, and do nothing.")]
Features = Annotated[str, typer.Option(help="What is measured in each patch: gradient or texture.")]
Rate = Annotated[float, typer.Option(help="Share of good images that may be rejected.")]
Run = Annotated[Path, typer.Option("-o", "--output", help="Folder for scores, pictures and report.html.")]
Json = Annotated[bool, typer.Option("--json", help="Print what results.json holds.")]
Cluster = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Let the workers of this Dask scheduler compare images.")
]


@app.command()
def fit(
    good: Good,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the model file.")],
    features: Features = "gradient",
    rate: Rate = 0.05,
    hold_out: Annotated[
        float | None,
        typer.Option(help="Share of the good images not to learn, for `eval` to test.", show_default=False),
    ] = None,
    seed: Seed = 0,
    dry_run: DryRun = False,
    dask: Cluster = None,
) -> None:
    """Learn a surface from good images, and write a model file."""
    from vwkde.cli import inspect_work as work
    from vwkde.inspection.data.layouts import describe
    from vwkde.inspection.data.recognise import recognise

    layout = recognise(good)
    if hold_out is not None:
        layout = layout.divided(hold_out, seed)
    if dry_run:
        typer.echo(describe(layout))
        return
    work.check_place(output)
    with connected(dask):
        settings = work.Settings(features, rate, seed, _engine(dask))
        inspector, failures = work.fit(layout, settings, "Nothing was learnt, and nothing written.")
    work.save(inspector, output)
    count = len(inspector.names_)
    typer.echo(f"{count} good images learnt; score above which an image fails: {_nats(inspector)}. {output}")
    end(failures)


@app.command()
def check(
    images: Images,
    model: Model,
    output: Run = Path("run"),
    dry_run: DryRun = False,
    as_json: Json = False,
    dask: Cluster = None,
) -> None:
    """Check images: 0 if all pass, 1 if some fail, 2 if some could not be read."""
    from vwkde.cli import inspect_work as work
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.runs.folder import json_text
    from vwkde.inspection.runs.inputs import images_to_check
    from vwkde.inspection.runs.output import REPORT

    items = images_to_check(images)
    if dry_run:
        typer.echo(f"{len(items)} images, {items[0].name} to {items[-1].name}")
        return
    inspector = SurfaceInspector.load(model, engine=_engine(dask))
    with connected(dask):
        record, failures = work.run(inspector, items, output, images.absolute().name, model.name)
    counts = record.counts
    if as_json:
        typer.echo(json_text(record.to_json()))
    else:
        _print_rejected(record)
        typer.echo(f"{counts.checked} images checked, {counts.rejected} rejected. {output / REPORT}")
    work.stop_if_stopped(record, output)
    end(failures, counts.rejected > 0)


@app.command("eval")
def evaluate(
    root: Root,
    model: Annotated[
        Path | None, typer.Option("-m", "--model", help="The model file that `fit` wrote. Without it: fit first.")
    ] = None,
    output: Run = Path("run"),
    features: Features = "gradient",
    rate: Rate = 0.05,
    hold_out: Annotated[
        float | None,
        typer.Option(
            help="Share of the good images to test and not to fit on. By default all good images that the data set "
            "has for testing or, where it has none, half of them; with a model, those that it did not learn.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 0,
    dry_run: DryRun = False,
    as_json: Json = False,
    dask: Cluster = None,
) -> None:
    """Measure on labelled images how well defects are found.

    With -m that model is tested; --features and --rate are its own.
    Without -m a model is fitted first, on good images of the data set,
    and kept as model.vwkde beside the report; where ROOT holds several
    data sets, one for each.

    No image is both learnt and tested. Labels have no part in scores
    or threshold. Exit status: 0, or 2 if some files could not be used.
    """
    from vwkde.cli import inspect_work as work
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.data.layouts import describe
    from vwkde.inspection.data.recognise import recognise, recognise_all
    from vwkde.inspection.data.trials import with_model, without_model

    inspector = None if model is None else SurfaceInspector.load(model, engine=_engine(dask))
    if inspector is not None:
        learnt = dict(zip(inspector.names_, inspector.fingerprints_, strict=True))
        layouts = {root.absolute().name: with_model(recognise(root), learnt, hold_out, seed)}
    else:
        layouts = {name: without_model(layout, hold_out, seed) for name, layout in recognise_all(root).items()}
    if dry_run:
        typer.echo("\n\n".join(f"{name}\n{describe(layout)}" for name, layout in layouts.items()))
        return
    with connected(dask):
        settings = work.Settings(features, rate, seed, _engine(dask))
        work.evaluate(layouts, inspector, output, model.name if model else work.MODEL, settings, as_json)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for images, models and reports.")] = Path(
        "demo-inspect"
    ),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make synthetic surfaces with defects, learn the good ones, find the defects, and write the reports."""
    from vwkde.cli import inspect_work as work
    from vwkde.cli.inspect_demo import write_surfaces
    from vwkde.inspection.data.recognise import recognise_all

    surfaces, run = output / "surfaces", output / "run"
    with interruptible("The demonstration was stopped."), bars():
        write_surfaces(surfaces, seed)
    if not as_json:
        typer.echo(f"Images: {surfaces}. What follows is: vwkde inspect eval {surfaces} --features texture -o {run}")
    work.evaluate(recognise_all(surfaces), None, run, work.MODEL, work.Settings("texture", 0.05, seed), as_json)


@app.command()
def add(more_good: Good, model: Model) -> None:
    """Add good images to a model; the threshold follows."""
    from vwkde.cli import inspect_work as work
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.data.recognise import recognise

    inspector = SurfaceInspector.load(model)
    work.check_place(model)
    before = len(inspector.names_)
    failures = work.add(inspector, recognise(more_good), f"{model} is as it was.")
    work.save(inspector, model)
    count = len(inspector.names_)
    typer.echo(f"{count - before} good images added, {count} in all; threshold {_nats(inspector)}. {model}")
    end(failures)


@app.command()
def serve(
    model: Model,
    host: Annotated[
        str, typer.Option(help="Address to listen at; 0.0.0.0 is every one of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 is any that is free.")] = 8000,
    read_only: Annotated[bool, typer.Option("--read-only", help="Let nobody add images to the model.")] = False,
    most: Annotated[int, typer.Option("--max-upload", min=1, help="Largest upload, in MiB.")] = MOST_MEBIBYTES,
) -> None:
    """Check images in the browser: a page, and an API for programs, on this machine."""
    for package in ("fastapi", "uvicorn", "python_multipart"):
        require(package, f"The server needs {package}", "inspect")
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.server import listening
    from vwkde.inspection.server.app import make_app

    inspector = SurfaceInspector.load(model)
    listener = listening.listen(host, port)
    web = make_app(inspector, path=model, read_only=read_only, host=host, most_bytes=most * 2**20)
    if not listening.is_private(listener):
        changing = "check images" if read_only else "check images and change the model"
        errors.print(f"warning: whoever can reach this machine can {changing}.", style="yellow")
    typer.echo(f"{model.name}, {len(inspector.names_)} good images: {listening.address(listener)} (stop with Ctrl-C)")
    with suppress(KeyboardInterrupt):
        listening.make_server(web).run(sockets=[listener])


def _engine(dask: str | None) -> Literal["auto", "dask"]:
    return "auto" if dask is None else "dask"


def _print_rejected(record: "RunRecord") -> None:
    rejected = [image for image in record.images if image.rejected]
    for image in rejected[:_MOST_LINES]:
        typer.echo(f"NG {image.image}: {image.score:.3g} nats, p = {image.p_value:.3g}")
    if len(rejected) > _MOST_LINES:
        typer.echo(f"… and {len(rejected) - _MOST_LINES} more")


def _nats(inspector: "SurfaceInspector") -> str:
    return f"{inspector.calibration_.threshold:.3g} nats"
