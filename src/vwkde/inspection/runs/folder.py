"""The folder of a run: a table of scores, the same as JSON, and a picture of every image with its map.

A folder can be used again. The files of an earlier run are then removed, so that its pictures are not mistaken for
those of the new run.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.files import whole_file, write_text
from vwkde._runtime.versions import VERSION
from vwkde.inspection.data.images import encode_png
from vwkde.inspection.data.names import plain
from vwkde.inspection.data.pictures import Failure
from vwkde.inspection.model.drift_of_good import Drift
from vwkde.inspection.model.files.container import stated_digest
from vwkde.inspection.model.inspection import Inspection
from vwkde.inspection.runs.earlier import read_results, remove_earlier
from vwkde.inspection.runs.evaluation import Evaluation
from vwkde.inspection.runs.output import OVERLAYS, REPORT, RESULTS, SCORES, OutputError, check_writable, writing
from vwkde.inspection.runs.overlays import OverlayNames
from vwkde.inspection.runs.own_model import MODEL, OWN_MODEL, own_model_entry
from vwkde.inspection.runs.records import FORMAT, FailureRecord, ImageRecord, Label, ModelInfo, RunRecord, State
from vwkde.inspection.runs.scores import rounded, scores_table


class RunFolder:
    """The folder of one run over images of these names, filled image by image; others may come later."""

    def __init__(self, folder: Path, names: Sequence[str], source: str, model: ModelInfo) -> None:
        self.folder = folder
        self._images: dict[str, ImageRecord] = {}
        self._overlays = OverlayNames(names)
        planned = self._overlays.paths
        open_folder(folder, planned)
        self._begun = RunRecord(State.RUNNING, len(names), VERSION, plain(source), model, planned)
        write_results(folder, self._begun.to_json())

    @property
    def images(self) -> list[ImageRecord]:
        """The results so far."""
        return list(self._images.values())

    def add(self, picture: NDArray[np.uint8], result: Inspection, label: Label | None = None) -> ImageRecord:
        """Write the picture of an image with its map, and keep the result."""
        is_planned = result.name in self._overlays
        overlay = self._overlays.of(result.name)
        if not is_planned:
            refuse_existing(self.folder / overlay)
        write_picture(self.folder / overlay, picture)
        record = ImageRecord.of(result, overlay, label)
        self._images[result.name] = record
        return record

    def write(
        self,
        failures: Sequence[Failure],
        state: State = State.COMPLETE,
        evaluation: Evaluation | None = None,
        drift: Drift | None = None,
    ) -> RunRecord:
        """Write the table and the JSON, worst images first, and return the record."""
        record = replace(
            self._begun,
            state=state,
            expected_images=max(self._begun.expected_images, len(self._images) + len(failures)),
            overlays=self._overlays.paths,
            finished=datetime.now().astimezone().isoformat(timespec="seconds"),
            images=tuple(rounded(each) for each in sorted(self.images, key=lambda each: -each.score)),
            failures=tuple(map(FailureRecord.of, failures)),
            evaluation=evaluation,
            drift=drift,
        )
        with writing(self.folder / SCORES):
            write_text(self.folder / SCORES, scores_table(each.to_row() for each in record.entries))
        write_results(self.folder, record.to_json())
        return record


def write_picture(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write a picture as PNG, and create the folders above it."""
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(encode_png(pixels))


def write_results(folder: Path, record: Mapping[str, Any]) -> None:
    """Write `results.json`; it still says which model an earlier evaluation wrote there."""
    with writing(folder / RESULTS):
        write_text(folder / RESULTS, json_text(own_model_entry(folder) | dict(record)) + "\n")


def keep_own_model(folder: Path) -> None:
    """Note in `results.json` that the model in the folder was written by this evaluation."""
    write_results(folder, (read_results(folder) or {}) | {OWN_MODEL: stated_digest(folder / MODEL)})


def json_text(record: Mapping[str, Any]) -> str:
    """Return a record as the JSON that is written and printed."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)


def open_folder(folder: Path, planned: Iterable[str] = ()) -> None:
    """Create a folder for a run, and remove the files of an earlier run.

    It is an error if the folder cannot be written to, or if a `planned` file exists that no run wrote.
    """
    check_writable(folder)
    if (folder / OVERLAYS).is_symlink():
        raise OutputError(
            f"{folder / OVERLAYS}: is a link to another folder. Remove the link, or choose another folder."
        )
    earlier = read_results(folder)
    if earlier is not None:
        with writing(folder):
            remove_earlier(folder, earlier)
    not_ours = () if earlier is not None else (SCORES, RESULTS, REPORT)
    for name in (*not_ours, *planned):
        refuse_existing(folder / name)


def refuse_existing(path: Path) -> None:
    """Raise an error if a file exists that no run wrote."""
    if os.path.lexists(path):
        raise OutputError(f"{path}: already exists, and no run of vwkde wrote it. Choose another folder.")


@contextmanager
def opened_folder(folder: Path) -> Iterator[None]:
    """Open a folder for work that ends with a record; until then, `results.json` marks it as incomplete."""
    open_folder(folder)
    write_results(folder, {"format": FORMAT, "state": State.RUNNING, "images": []})
    try:
        yield
    finally:
        left = read_results(folder) or {}
        if left.get("state") == State.RUNNING:
            with suppress(OutputError):
                write_results(folder, left | {"state": State.STOPPED})
