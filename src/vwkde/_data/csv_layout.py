"""How a CSV file is written: where it begins, what divides its columns, and its decimal mark."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_LOOKED_AT = 1000
"""Lines that tell how a file is written."""
DECIMAL_COMMA = r"[-+]?\d*,\d+(e[-+]?\d+)?"
_WITH_COMMA = re.compile(DECIMAL_COMMA, re.IGNORECASE)
_WITH_POINT = re.compile(DECIMAL_COMMA.replace(",", r"\."), re.IGNORECASE)


@dataclass(frozen=True)
class CsvLayout:
    """A file, the blank lines that it begins with, its first line, some that follow, and the marks that divide it.

    `decimal` is None if these lines have whole numbers only.
    """

    path: Path
    blank: int
    first: str
    following: tuple[str, ...]
    delimiter: str
    decimal: str | None

    def lines(self) -> Iterator[str]:
        """Yield all lines."""
        with self.path.open(newline="", encoding="utf-8-sig") as file:
            yield from file


def csv_layout(path: Path) -> CsvLayout:
    """Return how a CSV file is written, by its first lines."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        blank, first = next(((place, line) for place, line in enumerate(file) if line.strip()), (0, ""))
        following = tuple(line for line in islice(file, _LOOKED_AT) if line.strip())
    if not first:
        raise ValueError("the file is empty; it must have at least one row.")
    delimiter = next((mark for mark in "\t;, " if mark in first.strip()), ",")
    return CsvLayout(path, blank, first, following, delimiter, _decimal_mark(following, delimiter))


def _decimal_mark(lines: tuple[str, ...], delimiter: str) -> str | None:
    """Return the mark that more fields have which are numbers as a whole; None if there is no such field."""
    if delimiter == ",":
        return "."
    try:
        fields = [field.strip() for line in csv.reader(lines, delimiter=delimiter) for field in line]
    except csv.Error:  # a field that is too long
        return None
    commas, points = (sum(bool(number.fullmatch(field)) for field in fields) for number in (_WITH_COMMA, _WITH_POINT))
    if not commas and not points:
        return None
    return "," if commas > points else "."


def line_of_row(path: Path, row: int, named: bool) -> int:
    """Return the number of the line that has a row, in a file whose first line has the names or is a row."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        filled = (number for number, line in enumerate(file, 1) if line.strip())
        return next(islice(filled, row + named, None))
