"""The table of scores, `scores.csv`: its columns, and how their values are written."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import TypeVar

T = TypeVar("T")

_DIGITS = {"score": 6, "p_value": 6, "threshold": 6, "milliseconds": 1}
"""Digits after the point in the table."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters of formulas in spreadsheets."""

BoxCorners = tuple[int, int, int, int]
"""Top, left, bottom, right."""


@dataclass(frozen=True)
class ScoreRow:
    """One image in the table, a field for each column; None is an empty cell.

    An image that could not be used has only a name, a verdict and an error. The column `label` is left out if no image
    has a label.
    """

    image: str
    verdict: str
    score: float | None = None
    p_value: float | None = None
    threshold: float | None = None
    nearest_good: str | None = None
    boxes: tuple[BoxCorners, ...] = ()
    milliseconds: float | None = None
    error: str | None = None
    label: str | None = None

    def cells(self) -> dict[str, str | float | None]:
        """Return the values of the columns: boxes as top:left:bottom:right, separated by spaces."""
        boxes = " ".join(":".join(map(str, box)) for box in self.boxes)
        values = vars(rounded(self)) | {"boxes": boxes}
        return {name: _defused(value) if isinstance(value, str) else value for name, value in values.items()}


def scores_table(rows: Iterable[ScoreRow]) -> str:
    """Return rows as CSV."""
    rows = list(rows)
    columns = [field.name for field in fields(ScoreRow)]
    if all(row.label is None for row in rows):
        columns.remove("label")
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, columns, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    writer.writerows(row.cells() for row in rows)
    return text.getvalue()


def rounded(record: T) -> T:
    """Return a record of an image with its numbers rounded as in the table."""
    values = {name: getattr(record, name) for name in _DIGITS}
    figures = {name: round(value, _DIGITS[name]) for name, value in values.items() if value is not None}
    return replace(record, **figures)  # type: ignore[type-var]


def _defused(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, even if a file name looks like one."""
    return f"'{text}" if text.startswith(_FORMULA) else text
