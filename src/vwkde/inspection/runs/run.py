"""A run over images: each is judged, pictured and, where its label counts, compared with it.

Whatever stops a run half-way, what was found until then is written, and marked as incomplete.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import tee
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.progress import track
from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.data.pictures import Failure, Pictures
from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.runs.evaluator import Evaluator
from vwkde.inspection.runs.folder import RunFolder
from vwkde.inspection.runs.gallery import Gallery, Pair
from vwkde.inspection.runs.output import SCORES, OutputError
from vwkde.inspection.runs.overlays import draw_overlay
from vwkde.inspection.runs.records import Label, ModelInfo, RunRecord, State

Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RunResult:
    """What came of a run: its record, and small pictures of the images most worth looking at, by their names."""

    record: RunRecord
    pictures: Mapping[str, Pair]


def run_images(
    inspector: SurfaceInspector,
    pictures: Pictures,
    folder: Path,
    source: str,
    model: str,
    labelled: bool = False,
) -> RunResult:
    """Judge images, and write scores, results and pictures into a folder; `labelled`: compare with their labels.

    `source` and `model` are what the images and the model are called. An interrupt ends the run early, and is not
    raised again.
    """
    names = [item.name for item in pictures.items]
    run = RunFolder(folder, names, source, ModelInfo.of(inspector, model))
    gallery = Gallery()
    evaluator = Evaluator(inspector.false_reject_rate) if labelled else None
    state = State.COMPLETE
    try:
        ahead, shown = tee(_masked(pictures, labelled))
        checked = inspector.check_all((item.name, image) for item, image, _ in ahead)
        # a result before its picture: the checks are what takes the pictures in
        for found, (item, image, mask) in track(zip(checked, shown, strict=True), "checking images", len(pictures)):
            _keep(run, gallery, item, image, mask, found, labelled)
            if evaluator is not None:
                evaluator.add(item, found, mask)
    except KeyboardInterrupt:
        state = State.STOPPED
    except OutputError as error:
        raise OutputError(f"{error} {_rescued(run, pictures)}") from None
    except Exception:
        _rescued(run, pictures)
        raise
    record = run.write(pictures.failures, state)
    if evaluator is not None and not record.stopped and record.images:
        record = run.write(pictures.failures, state, evaluator.evaluate())
    return RunResult(record, gallery.pictures)


def _masked(pictures: Pictures, labelled: bool) -> Iterator[tuple[Item, Singles, Mask | None]]:
    """Yield what is known of each image, its pixels and, if labels count, its mask; a bad mask spoils its image."""
    for item, image in pictures.labelled():
        mask = None
        if labelled and item.defective and item.mask is not None:
            height, width = image.shape
            try:
                mask = item.mask.draw((height, width))
            except ImageError as error:
                pictures.failures.append(Failure(item.name, str(error)))
                continue
        yield item, image, mask


def _keep(
    run: RunFolder, gallery: Gallery, item: Item, image: Singles, mask: Mask | None, found: Inspection, labelled: bool
) -> None:
    label: Label | None = None
    if labelled:
        label = "defective" if item.defective else "good"
    overlay = draw_overlay(image, found)
    gallery.add(run.add(overlay, found, label), image, overlay, mask)


def _rescued(run: RunFolder, pictures: Pictures) -> str:
    """Write what was found before something went wrong, and tell whether that was possible."""
    done = f"{len(run.images)} of {len(pictures)} images had been checked"
    with suppress(OutputError):
        run.write(pictures.failures, State.STOPPED)
        return f"{done}; their scores are in {run.folder / SCORES}."
    return f"{done}; their scores could not be written either."
