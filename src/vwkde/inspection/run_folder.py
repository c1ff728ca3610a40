"""What a check leaves behind: a table of scores, the same as JSON, and a picture of every image with its map."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._files import whole_file, write_text
from vwkde.inspection.images import encode_png
from vwkde.inspection.inspector import Inspection
from vwkde.inspection.pictures import Failure

SCORES, RESULTS, OVERLAYS = "scores.csv", "results.json", "overlays"
_COLUMNS = ("image", "verdict", "score", "p_value", "threshold", "nearest_good", "boxes", "milliseconds", "error")
_WARM = np.array([[255, 237, 111], [240, 59, 32], [128, 0, 38]], dtype=np.float64)
"""Colours from the threshold of the map up to twice it and beyond."""
_TINY = float(np.finfo(np.float32).tiny)
_STRONGEST = 0.65
"""Opacity of the map's colours."""


def write_run(folder: Path, inspections: list[Inspection], failures: list[Failure]) -> None:
    """Write the table and the JSON of a run, the worst images first."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = [_row(each) for each in sorted(inspections, key=lambda each: -each.score)]
    rows += [{"image": failure.name, "verdict": "ERROR", "error": failure.reason} for failure in failures]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(_flat(row) for row in rows)
    write_text(folder / SCORES, text.getvalue())
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in ("OK", "NG", "ERROR")}
    record = {"counts": counts, "images": [_finite(row) for row in rows]}
    write_text(folder / RESULTS, json.dumps(record, ensure_ascii=False, allow_nan=False, indent=1) + "\n")


def write_overlay(folder: Path, image: NDArray[np.float32], inspection: Inspection) -> Path:
    """Write an image with its map in colour, named like the image."""
    path = folder / OVERLAYS / f"{Path(inspection.name).with_suffix('')}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write(encode_png(draw_overlay(image, inspection)))
    return path


def draw_overlay(image: NDArray[np.float32], inspection: Inspection) -> NDArray[np.uint8]:
    """Return the image in gray, coloured where the map exceeds its threshold.

    The scale is the same for all images: nothing lights up in a good one because its own largest value is brightest.
    """
    gray = np.repeat(255 * image[..., None], 3, axis=2)
    if np.isfinite(inspection.map_threshold):
        excess = inspection.log_ratio / max(inspection.map_threshold, _TINY) - 1
        level = np.clip(excess, 0, 1)
        colour = np.stack([np.interp(level, [0, 0.5, 1], _WARM[:, channel]) for channel in range(3)], axis=-1)
        opacity = (_STRONGEST * (excess > 0))[..., None]
        gray = (1 - opacity) * gray + opacity * colour
    return np.rint(np.clip(gray, 0, 255)).astype(np.uint8)


def _row(each: Inspection) -> dict[str, Any]:
    return {
        "image": each.name,
        "verdict": each.verdict,
        "score": round(each.score, 6),
        "p_value": round(each.p_value, 6),
        "threshold": round(each.threshold, 6) if np.isfinite(each.threshold) else np.inf,
        "nearest_good": each.nearest,
        "boxes": [[box.top, box.left, box.bottom, box.right] for box in each.boxes],
        "milliseconds": round(each.milliseconds, 1),
    }


def _flat(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as a table holds it: boxes as top:left:bottom:right, one after the other."""
    boxes = " ".join(":".join(map(str, box)) for box in row.get("boxes", []))
    return row | {"boxes": boxes}


def _finite(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row as JSON holds it: no number for a threshold that is infinite."""
    return {name: None if isinstance(value, float) and np.isinf(value) else value for name, value in row.items()}
