"""The commands of `vwkde inspect`: learn a surface from good images, check others, add good ones."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vwkde._console import bars, errors

if TYPE_CHECKING:
    from vwkde.inspection.inspector import Inspection, SurfaceInspector
    from vwkde.inspection.layouts import Item
    from vwkde.inspection.pictures import Failure, Pictures

FINDING, ERROR = 1, 2
"""Exit status when an image fails, and when something went wrong."""

app = typer.Typer(help="Find defects in surfaces, from good images alone.", no_args_is_help=True)

Good = Annotated[Path, typer.Argument(metavar="GOOD", help="A folder of good images, or a data set with some.")]
Images = Annotated[Path, typer.Argument(metavar="IMAGES", help="An image, a folder of images, or a data set.")]
Model = Annotated[Path, typer.Option("-m", "--model", help="The model file that `fit` wrote.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what was recognised, and do nothing.")]


@app.command()
def fit(
    good: Good,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to write the model file.")],
    features: Annotated[str, typer.Option(help="What is measured in each patch: gradient.")] = "gradient",
    rate: Annotated[float, typer.Option(help="Share of good images that may be rejected.")] = 0.05,
    dry_run: DryRun = False,
) -> None:
    """Learn a surface from good images, and write a model file."""
    from vwkde.inspection.inspector import SurfaceInspector
    from vwkde.inspection.layouts import describe, recognise
    from vwkde.inspection.pictures import Pictures

    layout = recognise(good)
    if dry_run:
        typer.echo(describe(layout))
        return
    pictures = Pictures(layout.good)
    with _told(pictures), bars():
        inspector = SurfaceInspector(features, false_reject_rate=rate).fit(pictures)
    inspector.save(output)
    count = len(inspector.names_)
    typer.echo(f"{count} good images learnt; score above which an image fails: {_nats(inspector)}. {output}")
    _exit(pictures.failures)


@app.command()
def check(
    images: Images,
    model: Model,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for scores and pictures.")] = Path("run"),
    dry_run: DryRun = False,
) -> None:
    """Check images: 0 if all pass, 1 if some fail, 2 if some could not be read."""
    from vwkde.inspection.inspector import SurfaceInspector
    from vwkde.inspection.pictures import Pictures
    from vwkde.inspection.run_folder import SCORES, write_run

    items = _items(images)
    if dry_run:
        typer.echo(f"{len(items)} images, {items[0].name} to {items[-1].name}")
        return
    inspector = SurfaceInspector.load(model)
    pictures = Pictures(items, inspector.image_shape)
    with _told(pictures), bars():
        inspections = _check_all(inspector, pictures, output)
    failures = pictures.failures
    write_run(output, inspections, failures)
    for found in sorted(inspections, key=lambda each: -each.score):
        if found.rejected:
            typer.echo(f"NG {found.name}: {found.score:.3g} nats, p = {found.p_value:.3g}")
    rejected = sum(found.rejected for found in inspections)
    typer.echo(f"{len(inspections)} images checked, {rejected} rejected. {output / SCORES}")
    _exit(failures, rejected > 0)


@app.command()
def add(more_good: Good, model: Model) -> None:
    """Add good images to a model; the threshold follows."""
    from vwkde.inspection.inspector import SurfaceInspector
    from vwkde.inspection.layouts import recognise
    from vwkde.inspection.pictures import Pictures

    inspector = SurfaceInspector.load(model)
    before = len(inspector.names_)
    pictures = Pictures(recognise(more_good).good, inspector.image_shape)
    with _told(pictures), bars():
        inspector.add(pictures)
    inspector.save(model)
    count = len(inspector.names_)
    typer.echo(f"{count - before} good images added, {count} in all; threshold {_nats(inspector)}. {model}")
    _exit(pictures.failures)


def _items(images: Path) -> "tuple[Item, ...]":
    from vwkde.inspection.images import find_images
    from vwkde.inspection.layouts import Item

    if images.is_file():
        return (Item(images, images.name, None, None),)
    found = find_images(images, recursive=True)
    return tuple(Item(path, path.relative_to(images).as_posix(), None, None) for path in found)


def _check_all(inspector: "SurfaceInspector", pictures: "Pictures", output: Path) -> "list[Inspection]":
    """Return what was found about each image, its picture being written."""
    from vwkde._progress import track
    from vwkde.inspection.run_folder import write_overlay

    inspections = []
    for name, image in track(pictures, "checking images", len(pictures)):
        found = inspector.check(image, name)
        write_overlay(output, image, found)
        inspections.append(found)
    return inspections


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
