"""The work of the commands of `vwkde inspect`: fit, save, run and evaluate, with progress bars and short errors."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
import typer
from numpy.typing import NDArray

from vwkde.cli.console import bars, say
from vwkde.cli.endings import end, interruptible, reported_failures, stop
from vwkde.cli.inspect_summaries import print_evaluation, print_overview, told_of_bad
from vwkde.inspection.data.layouts import Item, Layout
from vwkde.inspection.data.masks import MaskError, MaskFile
from vwkde.inspection.data.pictures import Failure, Pictures
from vwkde.inspection.data.sizes import size_for_all
from vwkde.inspection.model.files.model import locked_model
from vwkde.inspection.model.filters.interpolation import scaled
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.report import write_overview, write_report
from vwkde.inspection.report.content import Report
from vwkde.inspection.runs.folder import json_text, keep_own_model, opened_folder, write_results
from vwkde.inspection.runs.output import REPORT, SCORES, check_writable, writing
from vwkde.inspection.runs.own_model import MODEL, check_own_model, own_model_entry
from vwkde.inspection.runs.records import RunRecord
from vwkde.inspection.runs.run import run_images
from vwkde.inspection.runs.summary import Summary

Shape = tuple[int, int]

_HALF = 0.5
"""Share of a pixel of a scaled mask that must be ignored."""
_PATIENCE = 3600.0
"""Seconds to wait while other programs change a model file: they may add many images."""


@dataclass(frozen=True)
class Settings:
    """How a model is fitted."""

    features: str
    rate: float
    seed: int
    engine: Literal["auto", "dask"] = "auto"
    ignore: NDArray[np.bool_] | None = None
    note: str = ""
    device: str | None = None
    size: Shape | None = None
    align: bool = False
    colour: bool = False

    def inspector(self) -> SurfaceInspector:
        """Return an inspector that is not fitted yet."""
        return SurfaceInspector(
            features=self.features,
            false_reject_rate=self.rate,
            ignore=self.ignore,
            size=self.size,
            align=self.align,
            colour=self.colour,
            random_state=self.seed,
            engine=self.engine,
            device=self.device,
        )


def size_of(text: str | None, layout: Layout) -> Shape | None:
    """Return the size to which images are scaled, and say so if it was not asked for; None if they have one size."""
    if text is not None:
        return parsed_size(text)
    with interruptible("Nothing was learnt or written."), bars():
        shape = size_for_all(layout.good)
    if shape is not None:
        say(
            f"The images differ in size: all are scaled to {shape[1]} × {shape[0]} pixels. --size sets another.",
            err=True,
        )
    return shape


def parsed_size(text: str | None) -> Shape | None:
    """Return the height and width of a text such as 640x480."""
    if text is None:
        return None
    width, by, height = text.lower().replace("×", "x").partition("x")
    if not (by and width.strip().isdecimal() and height.strip().isdecimal()):
        raise ValueError(
            f"The '--size' option must be a width and a height, for example 640x480. Got {text!r} instead."
        )
    return int(height), int(width)


def ignored(ignore: Path | None, roi: Path | None, shape: Shape | None = None) -> NDArray[np.bool_] | None:
    """Return which pixels are not inspected, from the files of masks; None if all are.

    If images are scaled to a shape, so are the masks.
    """
    masks = [MaskFile(ignore).read()] if ignore is not None else []
    masks += [~MaskFile(roi).read()] if roi is not None else []
    if len({mask.shape for mask in masks}) > 1:
        raise MaskError(f"{ignore} and {roi}: the two masks must have the size of the images. Make them equal.")
    if not masks:
        return None
    mask = np.any(masks, axis=0)
    return mask if shape is None else scaled(mask.astype(np.float32), shape) > _HALF


def fit(layout: Layout, settings: Settings, if_stopped: str) -> tuple[SurfaceInspector, list[Failure]]:
    """Learn the good images of a data set; also return the images that could not be used."""
    inspector = settings.inspector()
    pictures = Pictures(layout.good, alike=settings.size is None, colour=settings.colour)
    with interruptible(if_stopped), reported_failures(pictures), bars():
        inspector.fit(pictures, note=settings.note)
    return inspector, pictures.failures


def add(inspector: SurfaceInspector, layout: Layout, if_stopped: str) -> list[Failure]:
    """Add the good images of a data set; return the images that could not be used."""
    pictures = pictures_for(inspector, layout.good)
    with interruptible(if_stopped), reported_failures(pictures), bars():
        inspector.add(pictures)
    return pictures.failures


def pictures_for(inspector: SurfaceInspector, items: Sequence[Item]) -> Pictures:
    """Return image files that a fitted inspector can use."""
    shape = inspector.accepted_shape
    return Pictures(items, shape, alike=shape is not None, colour=inspector.colour)


def calibrate(inspector: SurfaceInspector, items: tuple[Item, ...]) -> list[Failure]:
    """Let known bad images move the threshold, and say what they did; return the images that could not be used."""
    pictures = pictures_for(inspector, items)
    with interruptible("The threshold was not changed."), reported_failures(pictures), bars():
        inspector.calibrate(pictures)
    say(told_of_bad(inspector.calibration_))
    return pictures.failures


def save(inspector: SurfaceInspector, path: Path) -> None:
    """Write a model file."""
    with interruptible(f"{path} was not written."), writing(path):
        inspector.save(path)


@contextmanager
def changed(path: Path) -> Iterator[SurfaceInspector]:
    """Give the inspector of a model file, to be changed, and write it back; no other program changes the file then."""
    SurfaceInspector.load(path)  # a bad file is reported before a lock is made next to it
    check_writable(path.parent)
    with interruptible(f"{path} was not changed."), locked_model(path, _PATIENCE):
        inspector = SurfaceInspector.load(path)
        before = inspector.changes_
        yield inspector
        if inspector.changes_ != before:
            save(inspector, path)


def run(
    inspector: SurfaceInspector, items: tuple[Item, ...], output: Path, source: str, model: str, labelled: bool = False
) -> tuple[RunRecord, list[Failure]]:
    """Judge images, and write the report; also return the images that could not be used."""
    pictures = pictures_for(inspector, items)
    with interruptible(f"The results in {output} are incomplete."), reported_failures(pictures), bars():
        result = run_images(inspector, pictures, output, source, model, labelled)
        write_report(output, Report(result.record, inspector, result.pictures))
    return result.record, pictures.failures


def stop_if_stopped(record: RunRecord, folder: Path) -> None:
    """End here if not all images were checked."""
    if record.stopped:
        done = len(record.entries)
        stop(f"{done} of {record.expected_images} images were checked; only these are in {folder / SCORES}")


def evaluate(
    layouts: Mapping[str, Layout],
    inspector: SurfaceInspector | None,
    output: Path,
    model: str,
    settings: Settings,
    as_json: bool,
    force: bool = False,
) -> None:
    """Test one model, or fit and test one for each data set, and print the figures.

    A model file that no evaluation wrote into its folder is replaced only with `force`.
    """
    folders = {name: output / name if len(layouts) > 1 else output for name in layouts}
    if inspector is None:
        settings.inspector().check_parameters()
        for folder in folders.values():
            check_own_model(folder, force)
    records: dict[str, RunRecord] = {}
    failures: list[Failure] = []
    with opened_folder(output):
        for name, layout in layouts.items():
            folder = folders[name]
            records[name], failed = _evaluate_one(name, layout, inspector, folder, model, settings, force)
            failures += failed
            stop_if_stopped(records[name], folder)
        if len(layouts) > 1:
            summary = Summary(records)
            write_results(output, summary.to_json())
            write_overview(output, summary.evaluations)
    _print(records, output, as_json)
    end(failures)


def _evaluate_one(
    name: str,
    layout: Layout,
    inspector: SurfaceInspector | None,
    folder: Path,
    model: str,
    settings: Settings,
    force: bool,
) -> tuple[RunRecord, list[Failure]]:
    failures: list[Failure] = []
    with opened_folder(folder):
        if inspector is None:
            if settings.size is None:
                settings = replace(settings, size=size_of(None, layout))
            inspector, failures = fit(layout, settings, f"There are no results in {folder}.")
            _save_own(inspector, folder, force)
        record, failed = run(inspector, layout.test, folder, name, model, labelled=True)
    return record, [*failures, *failed]


def _save_own(inspector: SurfaceInspector, folder: Path, force: bool) -> None:
    """Write the model of an evaluation, unless another program has changed the file during the fit."""
    with locked_model(folder / MODEL):
        check_own_model(folder, force)
        save(inspector, folder / MODEL)
        keep_own_model(folder)


def _print(records: Mapping[str, RunRecord], output: Path, as_json: bool) -> None:
    only = next(iter(records.values())) if len(records) == 1 else None
    if as_json:
        record = only.to_json() if only else Summary(records).to_json()
        typer.echo(json_text(own_model_entry(output) | record))
        return
    if only is None:
        print_overview(Summary(records))
    elif only.evaluation is not None:
        print_evaluation(only.evaluation)
    say(f"Report: {output / REPORT}")
