"""What a run leaves behind: a table of scores, the same as JSON, and a picture of every image with its map.

A folder can be used again: what an earlier run left there goes, since its pictures would be taken for those of the new
one. Only files that a run wrote are ever replaced or removed; `results.json`, which is the first file to be written,
tells which these are.
"""

import csv
import io
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from hashlib import sha256
from math import isfinite
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._runtime.files import whole_file, write_text
from vwkde.inspection.data.images import encode_png
from vwkde.inspection.data.pictures import Failure
from vwkde.inspection.model.inspector import Inspection
from vwkde.inspection.model.map_colours import map_colours

SCORES, RESULTS, OVERLAYS, REPORT = "scores.csv", "results.json", "overlays", "report.html"
FORMAT = "vwkde-inspection-run"
"""By this `results.json` is known to be of a run."""
COMPLETE, STOPPED, RUNNING = "complete", "stopped", "running"
"""States of a run: all images were looked at, some were when it was stopped, it is under way or was killed."""
_COLUMNS = ("image", "verdict", "score", "p_value", "threshold", "nearest_good", "boxes", "milliseconds", "error")
_LABEL = "label"
"""A column more, where it is known which images are good."""
_DIGITS = {"score": 6, "p_value": 6, "threshold": 6, "milliseconds": 1}
"""Digits after the point that are written."""
_STRONGEST = 0.65
"""Opacity of the map's colours."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What formulas begin with in spreadsheets."""
_LONGEST_NAME = 200
"""Bytes that the name of a picture may have."""

Row = dict[str, Any]


class OutputError(ValueError):
    """Something cannot be written; the message is one line that begins with its name."""


class RunFolder:
    """The folder of one run over images of these names, filled image by image."""

    def __init__(self, folder: Path, names: Sequence[str], about: Mapping[str, Any]) -> None:
        self.folder = folder
        self.rows: list[Row] = []
        """What was found so far."""
        self._about = dict(about)
        self._overlays = _overlay_names(names)
        self._expected = len(names)
        planned = list(self._overlays.values())
        open_folder(folder, planned)
        self._write_results(RUNNING, {"overlays": planned, "images": []})

    def add(self, picture: NDArray[np.uint8], found: Inspection, label: str | None = None) -> Row:
        """Write the picture of an image with its map, and keep what was found."""
        overlay = self._overlays[found.name]
        path = self.folder / overlay
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            with whole_file(path) as file:
                file.write(encode_png(picture))
        row = _row(found) | {"overlay": overlay} | ({_LABEL: label} if label else {})
        self.rows.append(row)
        return row

    def write(self, failures: Sequence[Failure], state: str = COMPLETE, **more: Any) -> dict[str, Any]:
        """Write the table and the JSON, the worst images first, and return what the JSON holds."""
        self.rows.sort(key=lambda row: -row["score"])
        errors = [{"image": plain(each.name), "verdict": "ERROR", "error": plain(each.reason)} for each in failures]
        rows = [*self.rows, *errors]
        with writing(self.folder / SCORES):
            write_text(self.folder / SCORES, scores_table(rows))
        counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("OK", "NG", "ERROR")}
        when = {"finished": datetime.now().astimezone().isoformat(timespec="seconds")}
        # A picture may have been written just before the run was stopped, and its row not.
        planned = {} if state == COMPLETE else {"overlays": list(self._overlays.values())}
        images = {"images": [_json_row(row) for row in rows]}
        return self._write_results(state, when | {"counts": counts} | more | planned | images)

    def _write_results(self, state: str, more: Mapping[str, Any]) -> dict[str, Any]:
        record = {"format": FORMAT, "state": state, "expected_images": self._expected, **self._about, **more}
        write_results(self.folder, record)
        return record


def write_results(folder: Path, record: Mapping[str, Any]) -> None:
    """Write `results.json`."""
    with writing(folder / RESULTS):
        write_text(folder / RESULTS, to_json(record) + "\n")


def to_json(record: Mapping[str, Any]) -> str:
    """Return a record as the JSON that is written and printed."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1)


def without_overlays(paths: Iterable[Path]) -> list[Path]:
    """Return the files that do not lie where a run keeps its pictures."""
    known: dict[Path, bool] = {}

    def is_kept(folder: Path) -> bool:
        if folder not in known:
            known[folder] = folder.name == OVERLAYS and _read_results(folder.parent) is not None
        return known[folder]

    return [path for path in paths if not any(map(is_kept, path.absolute().parents))]


def open_folder(folder: Path, planned: Iterable[str] = ()) -> None:
    """Make a folder for a run and remove what an earlier one left there.

    That it cannot be written to, or holds files of others in places that are `planned` to be used, is an error.
    """
    check_writable(folder)
    earlier = _read_results(folder)
    if earlier is not None:
        with writing(folder):
            _remove_earlier(folder, earlier)
    not_ours = () if earlier is not None else (SCORES, RESULTS, REPORT)
    for name in (*not_ours, *planned):
        if os.path.lexists(folder / name):
            raise OutputError(f"{folder / name}: is there already, and no run of vwkde wrote it. Name another folder.")


@contextmanager
def opened_folder(folder: Path) -> Iterator[None]:
    """Open a folder for work that ends in a record; until then, and if it never does, the folder tells so."""
    open_folder(folder)
    write_results(folder, {"format": FORMAT, "state": RUNNING, "images": []})
    try:
        yield
    finally:
        left = _read_results(folder) or {}
        if left.get("state") == RUNNING:
            with suppress(OutputError):
                write_results(folder, left | {"state": STOPPED})


def check_writable(folder: Path) -> None:
    """Make a folder, unless it is there, and find out whether files can be written to it."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder) as file:
            file.write(b"a file")


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Tell what goes wrong in writing a file or folder by its name."""
    try:
        yield
    except (FileExistsError, NotADirectoryError):
        blocking = next((each for each in (path, *path.parents) if each.exists() and not each.is_dir()), path)
        raise OutputError(f"{blocking}: is a file, but a folder is needed there. Name another.") from None
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}.") from None


def finite(value: float) -> float | None:
    """Return a number as JSON holds it: none for a threshold that is infinite."""
    return value if isfinite(value) else None


def plain(text: str) -> str:
    """Return a text of which every character can be written and shown: names of files can hold any bytes."""
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


def scores_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV, with the columns that every table of scores has."""
    rows = list(rows)
    columns = (*_COLUMNS, _LABEL) if any(_LABEL in row for row in rows) else _COLUMNS
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(_flat(row) for row in rows)
    return text.getvalue()


def draw_overlay(image: NDArray[np.float32], inspection: Inspection) -> NDArray[np.uint8]:
    """Return the image in gray, coloured where the map exceeds its threshold."""
    colours = map_colours(inspection.log_ratio, inspection.map_threshold)
    opacity = _STRONGEST * (colours[..., 3:] / 255)
    mixed = (1 - opacity) * (255 * image[..., None]) + opacity * colours[..., :3]
    return np.rint(np.clip(mixed, 0, 255)).astype(np.uint8)


def _row(each: Inspection) -> dict[str, Any]:
    return {
        "image": plain(each.name),
        "verdict": each.verdict,
        "score": each.score,
        "p_value": each.p_value,
        "threshold": each.threshold,
        "nearest_good": plain(each.nearest),
        "boxes": [[box.top, box.left, box.bottom, box.right] for box in each.boxes],
        "milliseconds": each.milliseconds,
    }


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as a table holds it: boxes as top:left:bottom:right, one after the other."""
    boxes = " ".join(":".join(map(str, box)) for box in row.get("boxes", []))
    return {name: _defused(value) for name, value in _rounded(row).items()} | {"boxes": boxes}


def _defused(value: Any) -> Any:
    """Return a text that no spreadsheet takes for a formula, whatever the name of a file begins with."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


def _json_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row as JSON holds it."""
    found = _rounded(row)
    return {name: finite(value) if isinstance(value, float) else value for name, value in found.items()}


def _rounded(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: round(value, _DIGITS[name]) if name in _DIGITS else value for name, value in row.items()}


def _overlay_names(names: Sequence[str]) -> dict[str, str]:
    """Return where the picture of each image goes, below the folder: named like the image, and no two alike."""
    taken: set[str] = set()
    found: dict[str, str] = {}
    for name in names:
        path = PurePosixPath("".join(each if each.isprintable() else "_" for each in name))
        digest = path.with_name(sha256(os.fsencode(name)).hexdigest())
        choices = (path.with_suffix(""), path) if len(path.name.encode()) <= _LONGEST_NAME else ()
        stem = next((str(each) for each in choices if str(each).casefold() not in taken), str(digest))
        taken.add(stem.casefold())
        found[name] = f"{OVERLAYS}/{stem}.png"
    return found


def _read_results(folder: Path) -> dict[str, Any] | None:
    """Return what an earlier run says of itself; nothing if there was none."""
    try:
        record = json.loads((folder / RESULTS).read_bytes())
    except (OSError, ValueError):
        return None
    return record if isinstance(record, dict) and record.get("format") == FORMAT else None


def _remove_earlier(folder: Path, record: Mapping[str, Any]) -> None:
    """Remove the pictures, table and report of an earlier run, and folders that are empty then."""
    inside = (folder / OVERLAYS).resolve()
    named = [*record.get("overlays", []), *(row.get("overlay") for row in record.get("images", []))]
    pictures = [folder / name for name in named if isinstance(name, str)]
    pictures = [path for path in pictures if path.parent.resolve().is_relative_to(inside) and path.suffix == ".png"]
    for path in (*pictures, folder / SCORES, folder / REPORT):
        path.unlink(missing_ok=True)
    parents = {parent for path in pictures for parent in path.parents if parent.resolve().is_relative_to(inside)}
    for parent in sorted(parents, key=lambda each: -len(each.parts)):
        with suppress(OSError):
            parent.rmdir()
