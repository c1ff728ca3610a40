"""How a CSV file is written: where it begins, and what divides its columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_LOOKED_AT = 1000
"""Lines that tell how a file is written."""


@dataclass(frozen=True)
class CsvLayout:
    """A file, the blank lines that it begins with, its first line, some that follow, and the marks that divide it."""

    path: Path
    blank: int
    first: str
    following: tuple[str, ...]
    delimiter: str
    decimal: str

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
    decimal = "," if delimiter != "," and "," in "".join(following[:1]) else "."
    return CsvLayout(path, blank, first, following, delimiter, decimal)


def line_of_row(path: Path, row: int, named: bool) -> int:
    """Return the number of the line that has a row, in a file whose first line has the names or is a row."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        filled = (number for number, line in enumerate(file, 1) if line.strip())
        return next(islice(filled, row + named, None))
