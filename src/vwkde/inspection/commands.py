"""The commands of `vwkde inspect`: learn a surface from good images, check others, add good ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vwkde._console import bars, errors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from vwkde.inspection.inspector import Inspection, SurfaceInspector
    from vwkde.inspection.layouts import Item
    from vwkde.inspection.run_folder import Failure

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

    layout = recognise(good)
    if dry_run:
        typer.echo(describe(layout))
        return
    names, images, failures = _read_all(layout.good)
    if not names:
        raise ValueError(f"{good}: no good images that can be read. Name a folder that holds some.")
    with bars():
        inspector = SurfaceInspector(features, false_reject_rate=rate).fit(images, names)
    inspector.save(output)
    _tell(failures)
    typer.echo(f"{len(names)} good images learnt; score above which an image fails: {_nats(inspector)}. {output}")
    _exit(failures)


@app.command()
def check(
    images: Images,
    model: Model,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for scores and pictures.")] = Path("run"),
    dry_run: DryRun = False,
) -> None:
    """Check images: 0 if all pass, 1 if some fail, 2 if some could not be read."""
    from vwkde.inspection.inspector import SurfaceInspector
    from vwkde.inspection.run_folder import SCORES, write_run

    items = _items(images)
    if dry_run:
        typer.echo(f"{len(items)} images, {items[0].name} to {items[-1].name}")
        return
    inspector = SurfaceInspector.load(model)
    with bars():
        inspections, failures = _check_all(inspector, items, output)
    write_run(output, inspections, failures)
    for found in sorted(inspections, key=lambda each: -each.score):
        if found.rejected:
            typer.echo(f"NG {found.name}: {found.score:.3g} nats, p = {found.p_value:.3g}")
    _tell(failures)
    rejected = sum(found.rejected for found in inspections)
    typer.echo(f"{len(inspections)} images checked, {rejected} rejected. {output / SCORES}")
    _exit(failures, rejected > 0)


@app.command()
def add(more_good: Good, model: Model) -> None:
    """Add good images to a model; the threshold follows."""
    from vwkde.inspection.inspector import SurfaceInspector
    from vwkde.inspection.layouts import recognise

    inspector = SurfaceInspector.load(model)
    names, images, failures = _read_all(recognise(more_good).good)
    with bars():
        inspector.add(images, names)
    inspector.save(model)
    _tell(failures)
    typer.echo(f"{len(names)} good images added, {len(inspector.names_)} in all; threshold {_nats(inspector)}. {model}")
    _exit(failures)


def _items(images: Path) -> "tuple[Item, ...]":
    from vwkde.inspection.images import find_images
    from vwkde.inspection.layouts import Item

    if images.is_file():
        return (Item(images, images.name, None, None),)
    found = find_images(images, recursive=True)
    return tuple(Item(path, path.relative_to(images).as_posix(), None, None) for path in found)


def _read_all(items: "tuple[Item, ...]") -> "tuple[list[str], list[NDArray[np.float32]], list[Failure]]":
    """Return the names and pixels of the images that can be read, and what is wrong with the others."""
    from vwkde.inspection.images import ImageError, read_image
    from vwkde.inspection.run_folder import Failure

    names, images, failures = [], [], []
    for item in items:
        try:
            images.append(read_image(item.path))
            names.append(item.name)
        except ImageError as error:
            failures.append(Failure(item.name, str(error)))
    return names, images, failures


def _check_all(
    inspector: "SurfaceInspector", items: "tuple[Item, ...]", output: Path
) -> "tuple[list[Inspection], list[Failure]]":
    """Return what was found about each image, its picture being written, and what is wrong with the others."""
    from vwkde._progress import track
    from vwkde.inspection.images import read_image
    from vwkde.inspection.run_folder import Failure, write_overlay

    inspections, failures = [], []
    for item in track(items, "checking images", len(items)):
        try:
            image = read_image(item.path)
            found = inspector.check(image, item.name)
        except ValueError as error:
            failures.append(Failure(item.name, str(error)))
            continue
        write_overlay(output, image, found)
        inspections.append(found)
    return inspections, failures


def _tell(failures: "list[Failure]") -> None:
    for failure in failures:
        errors.print(f"error: {failure.reason}", style="red", markup=False, soft_wrap=True)


def _exit(failures: "list[Failure]", finding: bool = False) -> None:
    if failures:
        raise typer.Exit(ERROR)
    if finding:
        raise typer.Exit(FINDING)


def _nats(inspector: "SurfaceInspector") -> str:
    return f"{inspector.calibration_.threshold:.3g} nats"
