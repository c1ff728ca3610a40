"""The commands of `vwkde inspect`: learn a surface from good images, check others, measure how well that goes."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

import typer

from vwkde._compute.cluster import connected
from vwkde.cli.console import bars, errors
from vwkde.inspection.data.images import MOST_MEBIBYTES

if TYPE_CHECKING:
    from vwkde.inspection.data.layouts import Item, Layout
    from vwkde.inspection.data.pictures import Failure, Pictures
    from vwkde.inspection.model.inspector import SurfaceInspector
    from vwkde.inspection.runs.run import RunResult

Engine = Literal["auto", "dask"]
Settings = tuple[str, float, int, Engine]
"""Features, rate of false rejects, seed and engine of an inspector."""

FINDING, ERROR, INTERRUPTED = 1, 2, 130
"""Exit status when an image fails, when something went wrong, and after Ctrl-C."""
MODEL = "model.vwkde"
"""The model file that an evaluation leaves in its folder."""
_MOST_LINES = 20
"""Rejected images that are printed one by one."""

app = typer.Typer(help="Find defects in surfaces, from good images alone.", no_args_is_help=True)

# What cannot be read is told by the readers themselves, in one line; hence `readable=False`.
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
Seed = Annotated[int, typer.Option(help="Seeds every random choice.")]
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
    from vwkde.inspection.data.layouts import describe, recognise

    layout = recognise(good)
    if hold_out is not None:
        layout = layout.divided(hold_out, seed)
    if dry_run:
        typer.echo(describe(layout))
        return
    _check_place(output)
    with connected(dask):
        settings = features, rate, seed, _engine(dask)
        inspector, failures = _fitted(layout, settings, "Nothing was learnt, and nothing written.")
    _save(inspector, output)
    count = len(inspector.names_)
    typer.echo(f"{count} good images learnt; score above which an image fails: {_nats(inspector)}. {output}")
    _exit(failures)


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
    from vwkde.inspection.model.inspector import SurfaceInspector
    from vwkde.inspection.runs.folder import REPORT, to_json

    items = _items(images)
    if dry_run:
        typer.echo(f"{len(items)} images, {items[0].name} to {items[-1].name}")
        return
    inspector = SurfaceInspector.load(model, engine=_engine(dask))
    with connected(dask):
        outcome, failures = _run(inspector, items, output, images.absolute().name, model.name)
    counts = outcome.record["counts"]
    if as_json:
        typer.echo(to_json(outcome.record))
    else:
        _print_rejected(outcome)
        checked = counts["OK"] + counts["NG"]
        typer.echo(f"{checked} images checked, {counts['NG']} rejected. {output / REPORT}")
    _exit_if_stopped(outcome, output)
    _exit(failures, counts["NG"] > 0)


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
    from vwkde.inspection.data.layouts import describe, recognise, recognise_all
    from vwkde.inspection.data.trials import with_model, without_model
    from vwkde.inspection.model.inspector import SurfaceInspector

    inspector = None if model is None else SurfaceInspector.load(model, engine=_engine(dask))
    if inspector is not None:
        learnt = dict(zip(inspector.names_, inspector.fingerprints_, strict=True))
        found = {root.absolute().name: with_model(recognise(root), learnt, hold_out, seed)}
    else:
        found = {name: without_model(layout, hold_out, seed) for name, layout in recognise_all(root).items()}
    if dry_run:
        typer.echo("\n\n".join(f"{name}\n{describe(layout)}" for name, layout in found.items()))
        return
    with connected(dask):
        settings = features, rate, seed, _engine(dask)
        _evaluate(found, inspector, output, model.name if model else MODEL, settings, as_json)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for images, models and reports.")] = Path(
        "demo-inspect"
    ),
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """Make synthetic surfaces with defects, learn the good ones, find the defects, and write the reports."""
    from vwkde.cli.inspect_demo import write_surfaces
    from vwkde.inspection.data.layouts import recognise_all

    surfaces, run = output / "surfaces", output / "run"
    with _interruptible("The demonstration was stopped."), bars():
        write_surfaces(surfaces, seed)
    if not as_json:
        typer.echo(f"Images: {surfaces}. What follows is: vwkde inspect eval {surfaces} --features texture -o {run}")
    _evaluate(recognise_all(surfaces), None, run, MODEL, ("texture", 0.05, seed, "auto"), as_json)


@app.command()
def add(more_good: Good, model: Model) -> None:
    """Add good images to a model; the threshold follows."""
    from vwkde.inspection.data.layouts import recognise
    from vwkde.inspection.data.pictures import Pictures
    from vwkde.inspection.model.inspector import SurfaceInspector

    inspector = SurfaceInspector.load(model)
    _check_place(model)
    before = len(inspector.names_)
    pictures = Pictures(recognise(more_good).good, inspector.image_shape)
    with _interruptible(f"{model} is as it was."), _told(pictures), bars():
        inspector.add(pictures)
    _save(inspector, model)
    count = len(inspector.names_)
    typer.echo(f"{count - before} good images added, {count} in all; threshold {_nats(inspector)}. {model}")
    _exit(pictures.failures)


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
    from vwkde.inspection.data.extra import require

    for package in ("fastapi", "uvicorn", "python_multipart"):
        require(package)
    from vwkde.inspection.model.inspector import SurfaceInspector
    from vwkde.inspection.server import app

    inspector = SurfaceInspector.load(model)
    listener = app.listen(host, port)
    web = app.make_app(inspector, path=model, read_only=read_only, host=host, most_bytes=most * 2**20)
    if not app.is_private(listener):
        changing = "check images" if read_only else "check images and change the model"
        errors.print(f"warning: whoever can reach this machine can {changing}.", style="yellow")
    typer.echo(f"{model.name}, {len(inspector.names_)} good images: {app.address(listener)} (stop with Ctrl-C)")
    with suppress(KeyboardInterrupt):
        app.make_server(web).run(sockets=[listener])


def _items(images: Path) -> "tuple[Item, ...]":
    """Return the images to check: of a data set those to test, of a folder all but masks and pictures of runs."""
    from vwkde.inspection.data.images import find_images
    from vwkde.inspection.data.layouts import Item, LayoutError, UnknownLayoutError, recognise_all
    from vwkde.inspection.data.masks import MaskFile
    from vwkde.inspection.runs.folder import without_overlays

    if images.is_file():
        return (Item(images, images.name, None, None),)
    masks: set[Path] = set()
    with suppress(UnknownLayoutError):
        layouts = recognise_all(images).values()
        if all(layout.kind in ("mvtec", "dagm-2") and layout.test for layout in layouts):
            return tuple(item for layout in layouts for item in layout.test)
        masks = {item.mask.path for layout in layouts for item in layout.test if isinstance(item.mask, MaskFile)}
    found = [path for path in without_overlays(find_images(images, recursive=True)) if path.absolute() not in masks]
    if not found:
        raise LayoutError(f"{images}: there are only masks, or pictures of earlier runs. Name a folder of images.")
    return tuple(Item(path, path.relative_to(images).as_posix(), None, None) for path in found)


def _fitted(layout: "Layout", settings: Settings, if_stopped: str) -> "tuple[SurfaceInspector, list[Failure]]":
    from vwkde.inspection.data.pictures import Pictures

    inspector = _unfitted(*settings)
    pictures = Pictures(layout.good)
    with _interruptible(if_stopped), _told(pictures), bars():
        inspector.fit(pictures)
    return inspector, pictures.failures


def _unfitted(features: str, rate: float, seed: int, engine: Engine) -> "SurfaceInspector":
    from vwkde.inspection.model.inspector import SurfaceInspector

    return SurfaceInspector(features, false_reject_rate=rate, random_state=seed, engine=engine)


def _run(
    inspector: "SurfaceInspector",
    items: "tuple[Item, ...]",
    output: Path,
    source: str,
    model: str,
    labelled: bool = False,
) -> "tuple[RunResult, list[Failure]]":
    from vwkde.inspection.data.pictures import Pictures
    from vwkde.inspection.runs.run import run_images

    pictures = Pictures(items, inspector.image_shape)
    with _interruptible(f"What {output} holds is not complete."), _told(pictures), bars():
        outcome = run_images(inspector, pictures, output, source, model, labelled)
    return outcome, pictures.failures


def _evaluate(
    layouts: "dict[str, Layout]",
    inspector: "SurfaceInspector | None",
    output: Path,
    model: str,
    settings: Settings,
    as_json: bool,
) -> None:
    """Test one model, or one for each data set that is fitted first, and tell the figures."""
    from vwkde.cli.inspect_summaries import print_evaluation, print_overview, write_summary
    from vwkde.inspection.runs.folder import REPORT, opened_folder, to_json

    if inspector is None:
        _unfitted(*settings).check_parameters()
    outcomes: dict[str, RunResult] = {}
    failures: list[Failure] = []
    with opened_folder(output):
        for name, layout in layouts.items():
            folder = output / name if len(layouts) > 1 else output
            with opened_folder(folder):
                judge = inspector
                if judge is None:
                    judge, failed = _fitted(layout, settings, f"There are no results in {folder}.")
                    failures += failed
                    _save(judge, folder / model)
                outcomes[name], failed = _run(judge, layout.test, folder, name, model, labelled=True)
            failures += failed
            _exit_if_stopped(outcomes[name], folder)
        record = next(iter(outcomes.values())).record if len(layouts) == 1 else write_summary(output, outcomes)
    if as_json:
        typer.echo(to_json(record))
    else:
        (print_evaluation if len(layouts) == 1 else print_overview)(outcomes)
        typer.echo(f"Open {output / REPORT}")
    _exit(failures)


def _engine(dask: str | None) -> Engine:
    return "auto" if dask is None else "dask"


def _print_rejected(outcome: "RunResult") -> None:
    rejected = [row for row in outcome.record["images"] if row["verdict"] == "NG"]
    for row in rejected[:_MOST_LINES]:
        typer.echo(f"NG {row['image']}: {row['score']:.3g} nats, p = {row['p_value']:.3g}")
    if len(rejected) > _MOST_LINES:
        typer.echo(f"… and {len(rejected) - _MOST_LINES} more")


def _check_place(path: Path) -> None:
    """Find out before long work whether its result can be written."""
    from vwkde.inspection.runs.folder import OutputError, check_writable

    if path.is_dir():
        raise OutputError(f"{path}: is a folder. Name a file, for example {path / 'part.vwkde'}.")
    check_writable(path.parent)


def _save(inspector: "SurfaceInspector", path: Path) -> None:
    from vwkde.inspection.runs.folder import writing

    with _interruptible(f"{path} was not written."), writing(path):
        inspector.save(path)


@contextmanager
def _interruptible(words: str) -> Iterator[None]:
    """Tell in one line what Ctrl-C left."""
    try:
        yield
    except KeyboardInterrupt:
        _stop(words)


def _stop(words: str) -> NoReturn:
    errors.print(f"stopped: {words}", style="yellow", markup=False, soft_wrap=True)
    raise typer.Exit(INTERRUPTED)


def _exit_if_stopped(outcome: "RunResult", folder: Path) -> None:
    from vwkde.inspection.runs.folder import SCORES

    if outcome.stopped:
        done = len(outcome.record["images"])
        _stop(f"{done} of {outcome.record['expected_images']} images were checked; only these are in {folder / SCORES}")


@contextmanager
def _told(pictures: "Pictures") -> Iterator[None]:
    """Tell in the end, whatever happens, which images could not be used."""
    try:
        yield
    finally:
        for failure in pictures.failures:
            errors.print(f"error: {failure.reason}", style="red", markup=False, soft_wrap=True)


def _exit(failures: "list[Failure]", finding: bool = False) -> None:
    if failures:
        raise typer.Exit(ERROR)
    if finding:
        raise typer.Exit(FINDING)


def _nats(inspector: "SurfaceInspector") -> str:
    return f"{inspector.calibration_.threshold:.3g} nats"
