"""The files of an earlier run in a folder: listed in its `results.json`, and removed when the folder is used again.

Only files that a run wrote are ever removed. `results.json` is the first file to be written and lists the others.
"""

import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from vwkde.inspection.runs.output import OVERLAYS, REPORT, RESULTS, SCORES
from vwkde.inspection.runs.records import FORMAT


def read_results(folder: Path) -> dict[str, Any] | None:
    """Return the `results.json` of an earlier run; None if there was no run."""
    path = folder / RESULTS
    try:
        record = json.loads(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) and record.get("format") == FORMAT else None


def remove_earlier(folder: Path, record: Mapping[str, Any]) -> None:
    """Remove the pictures, table and report of an earlier run, and the folders that are then empty.

    Nothing is removed through links to other folders.
    """
    inside = folder.resolve() / OVERLAYS
    named = [*record.get("overlays", []), *(row.get("overlay") for row in record.get("images", []))]
    pictures = [folder / name for name in named if isinstance(name, str)]
    pictures = [path for path in pictures if path.parent.resolve().is_relative_to(inside) and path.suffix == ".png"]
    for path in (*pictures, folder / SCORES, folder / REPORT):
        path.unlink(missing_ok=True)
    parents = {parent for path in pictures for parent in path.parents if parent.resolve().is_relative_to(inside)}
    for parent in sorted(parents, key=lambda each: -len(each.parts)):
        with suppress(OSError):
            parent.rmdir()


def without_overlays(paths: Iterable[Path]) -> list[Path]:
    """Return the files that are not in a run's folder of pictures."""
    known: dict[Path, bool] = {}

    def is_kept(folder: Path) -> bool:
        if folder not in known:
            known[folder] = folder.name == OVERLAYS and read_results(folder.parent) is not None
        return known[folder]

    return [path for path in paths if not any(map(is_kept, path.absolute().parents))]
