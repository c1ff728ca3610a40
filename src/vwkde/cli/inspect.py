"""The commands of `vwkde inspect`: learn a surface from good images, check others, and measure how well it works."""

from contextlib import closing, suppress
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from vwkde._compute.cluster import connected
from vwkde._runtime.extras import require
from vwkde.cli.console import bars, complain, say
from vwkde.cli.endings import end, interruptible
from vwkde.cli.inspect_options import Align, Colour, Device, Size
from vwkde.cli.once import Commands
from vwkde.cli.options import Seed
from vwkde.cli.outputs import Force, check_model_file
from vwkde.inspection.model.parameters import RECOMMENDED
from vwkde.inspection.server.limits import LONGEST_SECONDS, MOST_MEBIBYTES, MOST_SECONDS

if TYPE_CHECKING:
    from vwkde.inspection.model.inspector import SurfaceInspector
    from vwkde.inspection.runs.records import RunRecord

_MOST_LINES = 20
"""Maximum number of rejected images that are printed one by one."""

app = Commands(
    help="Find defects in surfaces, from good images alone. Start with `fit`, then `check`.", no_args_is_help=True
)

# The readers themselves report unreadable files in one line; hence `readable=False`.
Good = Annotated[
    Path,
    typer.Argument(metavar="GOOD", readable=False, help="A folder of good images, or a data set that has some."),
]
Images = Annotated[
    Path, typer.Argument(metavar="IMAGES", readable=False, help="An image, a folder of images, or a data set.")
]
Root = Annotated[
    Path, typer.Argument(metavar="ROOT", readable=False, help="A data set with labels, or a folder of several.")
]
Model = Annotated[Path, typer.Option("-m", "--model", help="The model file, written by `fit`.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only print which images would be used.")]
Features = Annotated[
    str,
    typer.Option(
        help="What is measured: combined (texture and single marks), trained (these, and networks trained on made-up "
        "defects: minutes), texture, multiscale, gradient (the paper's), backbone (layers of a pretrained network), or "
        "onnx:FILE (those of another)."
    ),
]
Rate = Annotated[
    float,
    typer.Option(help="Share of good images that may be rejected. Needs 1/rate − 1 good images."),
]
Run = Annotated[Path, typer.Option("-o", "--output", help="Folder for scores, pictures and report.html.")]
ForceModel = Annotated[
    bool, typer.Option("--force", help="Replace model.vwkde in the folder even if no evaluation wrote it.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the contents of results.json.")]
Cluster = Annotated[
    str | None, typer.Option("--dask", metavar="ADDRESS", help="Compare images on the workers of this Dask scheduler.")
]


@app.command()
def fit(
    good: Good,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file to write, for example part.vwkde.")],
    features: Features = RECOMMENDED,
    rate: Rate = 0.05,
    hold_out: Annotated[
        float | None,
        typer.Option(help="Share of the good images to leave out, so that `eval` can test them.", show_default=False),
    ] = None,
    ignore: Annotated[
        Path | None, typer.Option(metavar="MASK", help="An image that is black except where nothing is inspected.")
    ] = None,
    roi: Annotated[
        Path | None, typer.Option(metavar="MASK", help="An image that is black except where images are inspected.")
    ] = None,
    bad: Annotated[
        Path | None, typer.Option(metavar="BAD", help="A folder of known bad images, as for `calibrate`.")
    ] = None,
    size: Size = None,
    align: Align = False,
    colour: Colour = False,
    note: Annotated[str, typer.Option(help="A text for the model card, such as part, camera and light.")] = "",
    seed: Seed = 0,
    dry_run: DryRun = False,
    force: Force = False,
    dask: Cluster = None,
    device: Device = None,
) -> None:
    """Learn a surface from good images, and write a model file.

    The good images also set the threshold: the score above which an
    image is rejected. Images with the same pixels count once.
    """
    from vwkde.cli import inspect_work as work
    from vwkde.inspection.data.layouts import describe
    from vwkde.inspection.data.recognise import recognise
    from vwkde.inspection.runs.inputs import images_to_check

    layout = recognise(good)
    if hold_out is not None:
        layout = layout.divided(hold_out, seed)
    if dry_run:
        say(describe(layout))
        return
    check_model_file(output, force)
    known_bad = () if bad is None else images_to_check(bad)
    with connected(dask):
        shape = work.size_of(size, layout)
        mask = work.ignored(ignore, roi, shape)
        settings = work.Settings(features, rate, seed, _engine(dask), mask, note, device, shape, align, colour)
        inspector, failures = work.fit(layout, settings, "Nothing was learnt or written.")
        if known_bad:
            failures += work.calibrate(inspector, known_bad)
    work.save(inspector, output)
    count = len(inspector.names_)
    say(f"{count} good images learnt. {threshold(inspector)} Model: {output}")
    end(failures)


@app.command()
def check(
    images: Images,
    model: Model,
    output: Run = Path("run"),
    dry_run: DryRun = False,
    as_json: Json = False,
    dask: Cluster = None,
    device: Device = None,
) -> None:
    """Check images against a model, and write a report.

    Exit status: 0 if all images pass, 1 if some are rejected, 2 if some
    files could not be used.
    """
    from vwkde.cli import inspect_work as work
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.report.content import counted
    from vwkde.inspection.runs.folder import json_text
    from vwkde.inspection.runs.inputs import images_to_check
    from vwkde.inspection.runs.output import REPORT

    items = images_to_check(images)
    if dry_run:
        say(f"{counted(len(items))}, {items[0].name} to {items[-1].name}")
        return
    inspector = SurfaceInspector.load(model, engine=_engine(dask), device=device)
    with connected(dask):
        record, failures = work.run(inspector, items, output, images.absolute().name, model.name)
    counts = record.counts
    if as_json:
        typer.echo(json_text(record.to_json()))
    else:
        _print_rejected(record)
        if record.drift is not None and record.drift.words is not None:
            complain(f"warning: {record.drift.words}", "yellow")
        say(f"{counted(counts.checked)} checked, {counts.rejected} rejected. Report: {output / REPORT}")
    work.stop_if_stopped(record, output)
    end(failures, counts.rejected > 0)


@app.command("eval")
def evaluate(
    root: Root,
    model: Annotated[
        Path | None, typer.Option("-m", "--model", help="The model file, written by `fit`. Default: fit a model first.")
    ] = None,
    output: Run = Path("run"),
    features: Features = RECOMMENDED,
    rate: Rate = 0.05,
    hold_out: Annotated[
        float | None,
        typer.Option(
            help="Share of the good images to test instead of fitting on them. Default: the good test images of the "
            "data set; if it has none, half of the good images or, with a model, those that it did not learn.",
            show_default=False,
        ),
    ] = None,
    size: Size = None,
    colour: Colour = False,
    seed: Seed = 0,
    dry_run: DryRun = False,
    force: ForceModel = False,
    as_json: Json = False,
    dask: Cluster = None,
    device: Device = None,
) -> None:
    """Measure how well defects are found in labelled images.

    With -m, this model is tested, and --features and --rate are ignored.
    Without -m, a model is first fitted on good images of the data set,
    and kept as model.vwkde next to the report; another file of that name
    is not replaced. If ROOT contains several data sets, each gets its
    own model.

    No image is both learnt and tested. Labels do not affect scores or
    threshold. Exit status: 0, or 2 if some files could not be used.
    """
    from vwkde.cli import inspect_work as work
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.data.layouts import describe, unlike_names
    from vwkde.inspection.data.recognise import recognise, recognise_all
    from vwkde.inspection.data.trials import with_model, without_model
    from vwkde.inspection.runs.own_model import MODEL

    inspector = None if model is None else SurfaceInspector.load(model, engine=_engine(dask), device=device)
    if inspector is not None:
        learnt = dict(zip(inspector.names_, inspector.fingerprints_, strict=True))
        layouts = {root.absolute().name: with_model(recognise(root), learnt, hold_out, seed)}
    else:
        layouts = {name: without_model(layout, hold_out, seed) for name, layout in recognise_all(root).items()}
    if dry_run:
        say("\n\n".join(f"{name}\n{describe(layout)}" for name, layout in layouts.items()))
        return
    for layout in layouts.values():
        if (words := unlike_names(layout)) is not None:
            complain(f"warning: {words}", "yellow")
    with connected(dask):
        shape = work.parsed_size(size)
        settings = work.Settings(features, rate, seed, _engine(dask), device=device, size=shape, colour=colour)
        work.evaluate(layouts, inspector, output, model.name if model else MODEL, settings, as_json, force)


@app.command()
def demo(
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for images, models and reports.")] = Path(
        "demo-inspect"
    ),
    seed: Seed = 0,
    force: ForceModel = False,
    as_json: Json = False,
) -> None:
    """Make synthetic surfaces, learn the good images, find the defects in others, and write reports."""
    from vwkde.cli import inspect_work as work
    from vwkde.cli.inspect_demo import write_surfaces
    from vwkde.inspection.data.recognise import recognise_all
    from vwkde.inspection.runs.own_model import MODEL

    surfaces, run = output / "surfaces", output / "run"
    with interruptible("The demonstration is incomplete."), bars():
        write_surfaces(surfaces, seed)
    if not as_json:
        say(f"Images: {surfaces}. Running: vwkde inspect eval {surfaces} -o {run}")
    settings = work.Settings(RECOMMENDED, 0.05, seed)
    work.evaluate(recognise_all(surfaces), None, run, MODEL, settings, as_json, force)


@app.command()
def add(more_good: Good, model: Model) -> None:
    """Add good images to a model, and update its threshold.

    An image that the model knows is not added again. Several programs
    can add to one model: each waits for the others. See `history` and
    `undo` for what was added.
    """
    from vwkde.cli import inspect_work as work
    from vwkde.inspection.data.recognise import recognise

    layout = recognise(more_good)
    with work.changed(model) as inspector:
        before = len(inspector.names_)
        failures = work.add(inspector, layout, f"{model} was not changed.")
    count = len(inspector.names_)
    say(f"{count - before} good images added, {count} in total. {threshold(inspector)} Model: {model}")
    end(failures)


@app.command()
def undo(model: Model) -> None:
    """Take back the last addition of good images to a model, by whatever program."""
    from vwkde.cli import inspect_work as work

    with work.changed(model) as inspector, interruptible(f"{model} was not changed."), bars():
        inspector.undo()
    count, names = len(inspector.names_), inspector.changes_[-1].names
    say(f"{len(names)} good images taken back, {count} left. {threshold(inspector)} Model: {model}")


@app.command()
def history(model: Model, as_json: Json = False) -> None:
    """Print who added good images to a model, when, and what was taken back."""
    import json

    from vwkde.inspection import SurfaceInspector

    changes = SurfaceInspector.load(model).changes_
    if as_json:
        typer.echo(json.dumps([change.to_dict() for change in changes], indent=1))
        return
    for change in changes:
        say(f"{change.when}  {change.kind}  {change.who}  {len(change.names)} images: {', '.join(change.names)}")
    if not changes:
        say("No images were added since the fit.")


@app.command()
def serve(
    model: Model,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 means all addresses of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 means any free port.")] = 8000,
    read_only: Annotated[bool, typer.Option("--read-only", help="Do not allow adding images to the model.")] = False,
    most: Annotated[int, typer.Option("--max-upload", min=1, help="Size limit of an upload, in MiB.")] = MOST_MEBIBYTES,
    seconds: Annotated[
        float,
        typer.Option("--max-seconds", min=1, max=LONGEST_SECONDS, help="Time limit of a check, in seconds."),
    ] = MOST_SECONDS,
    token: Annotated[
        str | None,
        typer.Option(
            help="Secret that clients must know. Default: the variable VWKDE_TOKEN; else a new one is made, unless "
            "only this machine can reach the server and it has no other --name.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        list[str] | None,
        typer.Option(help="Another name of the server for clients, such as that of a proxy; can be repeated."),
    ] = None,
) -> None:
    """Check images in the browser: serve a page, and an API for programs.

    If other machines can reach the server, or a proxy with a --name
    lets them in, clients need a token: open the printed link. Nothing
    is encrypted; for that, put a proxy with TLS in front of it.
    """
    for package in ("fastapi", "uvicorn", "python_multipart"):
        require(package, f"The server needs {package}", "inspect")
    from vwkde.inspection import SurfaceInspector
    from vwkde.inspection.server import listening
    from vwkde.inspection.server.app import make_app
    from vwkde.inspection.server.token_guard import choose_token
    from vwkde.inspection.server.workers import Allowance

    inspector = SurfaceInspector.load(model)
    listener = listening.listen(host, port)
    private = listening.is_private(listener, name or ())
    secret = choose_token(token, private)
    web = make_app(
        inspector,
        path=model,
        read_only=read_only,
        host=host,
        names=name or (),
        token=secret,
        most_bytes=most * 2**20,
        allowance=Allowance(seconds),
    )
    if not private:
        changing = "check images" if read_only else "check images and change the model"
        complain(f"warning: everyone who has the link can {changing}; nothing is encrypted without a proxy.", "yellow")
    with suppress(KeyboardInterrupt), closing(web.state.served.station) as station:
        station.warm_up()
        where = listening.address(listener, secret)
        say(f"{model.name}, {len(inspector.names_)} good images: {where} (stop with Ctrl-C)")
        listening.make_server(web).run(sockets=[listener])


def _engine(dask: str | None) -> Literal["auto", "dask"]:
    return "auto" if dask is None else "dask"


def _print_rejected(record: "RunRecord") -> None:
    rejected = [image for image in record.images if image.rejected]
    for image in rejected[:_MOST_LINES]:
        say(f"NG {image.image}: {image.score:.3g} nats, p = {image.p_value:.3g}")
    if len(rejected) > _MOST_LINES:
        say(f"… and {len(rejected) - _MOST_LINES} more")


def threshold(inspector: "SurfaceInspector") -> str:
    """Say above which score images are rejected."""
    threshold = inspector.calibration_.threshold
    if not isfinite(threshold):
        return "There is no threshold: no image will be rejected."
    return f"Images with a score above {threshold:.3g} nats are rejected."
