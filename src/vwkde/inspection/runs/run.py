"""A run over images: each is judged, drawn and, on request, compared with its label.

If a run stops early for any reason, the results so far are written and marked as incomplete.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import tee
from math import isfinite
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.progress import track
from vwkde.inspection.data.colours import brightness
from vwkde.inspection.data.errors import ImageError
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.data.pictures import Failure, Pictures
from vwkde.inspection.model.drift_of_good import drift_of_good
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
    """The result of a run: its record, and small pictures of the most interesting images, by image name."""

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
    """Judge images, and write scores, results and pictures into a folder; with `labelled`, compare with labels.

    `source` and `model` are the names of the images and of the model. An interrupt ends the run early and is not
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
        # the result comes first in each pair: checking is what reads the pictures
        for result, (item, image, mask) in track(zip(checked, shown, strict=True), "checking images", len(pictures)):
            if not isfinite(result.score):
                pictures.failures.append(Failure(item.name, f"{item.path}: its score is not finite: not judged."))
                continue
            _keep(run, gallery, item, image, mask, result, labelled)
            if evaluator is not None:
                evaluator.add(item, result, mask)
    except KeyboardInterrupt:
        state = State.STOPPED
    except OutputError as error:
        raise OutputError(f"{error} {_rescued(run, pictures)}") from None
    except Exception:
        _rescued(run, pictures)
        raise
    drift = None if labelled else drift_of_good(inspector.calibration_, [each.score for each in run.images])
    record = run.write(pictures.failures, state, drift=drift)
    if evaluator is not None and not record.stopped and record.images:
        record = run.write(pictures.failures, state, evaluator.evaluate())
    return RunResult(record, gallery.pictures)


def _masked(pictures: Pictures, labelled: bool) -> Iterator[tuple[Item, Singles, Mask | None]]:
    """Yield each image, its pixels and, with labels, its mask; an image with a bad mask is a failure."""
    for item, image in pictures.labelled():
        mask = None
        if labelled and item.defective and item.mask is not None:
            height, width = image.shape[:2]
            try:
                mask = item.mask.draw((height, width))
            except ImageError as error:
                pictures.failures.append(Failure(item.name, str(error)))
                continue
        yield item, image, mask


def _keep(
    run: RunFolder, gallery: Gallery, item: Item, image: Singles, mask: Mask | None, result: Inspection, labelled: bool
) -> None:
    label: Label | None = None
    if labelled:
        label = "defective" if item.defective else "good"
    gray = brightness(image)
    overlay = draw_overlay(gray, result)
    gallery.add(run.add(overlay, result, label), gray, overlay, mask)


def _rescued(run: RunFolder, pictures: Pictures) -> str:
    """Write the results obtained before an error, and return a sentence that says whether this succeeded."""
    done = f"{len(run.images)} of {len(pictures)} images had been checked"
    with suppress(OutputError):
        run.write(pictures.failures, State.STOPPED)
        return f"{done}; their scores are in {run.folder / SCORES}."
    return f"{done}; their scores could not be written either."
