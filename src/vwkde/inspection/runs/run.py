"""A run over images: each is judged, pictured and, where its label counts, compared with it.

Whatever stops a run half-way, what was found until then is written, and told to be no more than that.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import tee
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde import __version__
from vwkde._runtime.progress import track
from vwkde.inspection.data.images import ImageError
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.data.pictures import Failure, Pictures
from vwkde.inspection.model.inspector import Inspection, SurfaceInspector
from vwkde.inspection.report import write_report
from vwkde.inspection.report.content import Report
from vwkde.inspection.report.gallery import Gallery
from vwkde.inspection.runs.evaluation import DEFECTIVE, GOOD, Evaluation, Evaluator
from vwkde.inspection.runs.folder import (
    COMPLETE,
    SCORES,
    STOPPED,
    OutputError,
    RunFolder,
    draw_overlay,
    finite,
    plain,
)

Singles = NDArray[np.float32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class RunResult:
    """What came of a run: what `results.json` holds, and what labels say, if they were asked."""

    record: dict[str, Any]
    evaluation: Evaluation | None

    @property
    def stopped(self) -> bool:
        """Whether some images were not looked at."""
        return bool(self.record["state"] != COMPLETE)


def run_images(
    inspector: SurfaceInspector,
    pictures: Pictures,
    folder: Path,
    source: str,
    model: str,
    labelled: bool = False,
) -> RunResult:
    """Judge images and write all that is to be told of them into a folder; `labelled`: compare with their labels.

    `source` and `model` are what the images and the model are called. An interrupt ends the run early, and is not
    raised again.
    """
    about = {"vwkde": __version__, "source": plain(source), "model": _about(inspector, model)}
    run = RunFolder(folder, [item.name for item in pictures.items], about)
    gallery = Gallery()
    evaluator = Evaluator(inspector.false_reject_rate) if labelled else None
    state = COMPLETE
    try:
        ahead, shown = tee(_masked(pictures, labelled))
        checked = inspector.check_all((item.name, image) for item, image, _ in ahead)
        # a result before its picture: the checks are what takes the pictures in
        for found, (item, image, mask) in track(zip(checked, shown, strict=True), "checking images", len(pictures)):
            _keep(run, gallery, item, image, mask, found, labelled)
            if evaluator is not None:
                evaluator.add(item, found, mask)
    except KeyboardInterrupt:
        state = STOPPED
    except OutputError as error:
        raise OutputError(f"{error} {_rescued(run, pictures)}") from None
    except Exception:
        _rescued(run, pictures)
        raise
    record = run.write(pictures.failures, state)
    evaluation = None
    if evaluator is not None and state == COMPLETE and run.rows:
        evaluation = evaluator.evaluate()
        record = run.write(pictures.failures, state, metrics=evaluation.to_dict())
    write_report(folder, Report(record, inspector, gallery.pictures, evaluation))
    return RunResult(record, evaluation)


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
    label = (DEFECTIVE if item.defective else GOOD) if labelled else None
    overlay = draw_overlay(image, found)
    gallery.add(run.add(overlay, found, label), image, overlay, mask)


def _rescued(run: RunFolder, pictures: Pictures) -> str:
    """Write what was found before something went wrong, and tell whether that was possible."""
    done = f"{len(run.rows)} of {len(pictures)} images had been checked"
    with suppress(OutputError):
        run.write(pictures.failures, STOPPED)
        return f"{done}; their scores are in {run.folder / SCORES}."
    return f"{done}; their scores could not be written either."


def _about(inspector: SurfaceInspector, model: str) -> dict[str, Any]:
    return {
        "file": plain(model),
        "good_images": len(inspector.names_),
        "features": inspector.features_name,
        "false_reject_rate": inspector.false_reject_rate,
        "threshold": finite(inspector.calibration_.threshold),
        "map_threshold": finite(inspector.map_calibration_.threshold),
    }
