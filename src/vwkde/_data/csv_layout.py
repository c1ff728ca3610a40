"""How a CSV file is written: where it begins, what divides its columns, and its decimal mark."""

import csv
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import TextIO

_LOOKED_AT = 1000
"""Lines that tell how a file is written."""
_COMMENTED = re.compile(r"# +[^\s,;][^\t,;]*")
"""With other marks between names, the sign belongs to the first name: `# of visits,age`."""
MINUS = "\N{MINUS SIGN}"
"""What is printed as a minus is not the hyphen that stands for it in programs."""
DECIMAL_COMMA = rf"[-+{MINUS}]?\d*,\d+(e[-+]?\d+)?"
_WITH_COMMA = re.compile(DECIMAL_COMMA, re.IGNORECASE)
_WITH_POINT = re.compile(DECIMAL_COMMA.replace(",", r"\."), re.IGNORECASE)


@dataclass(frozen=True)
class CsvLayout:
    """A file, the blank lines that it begins with, its first line, some that follow, and the marks that divide it.

    `commented` says that the first line began with a number sign, as NumPy writes names. `decimal` is None if these
    lines have whole numbers only. `aligned` is the content if several spaces divide columns, with one in place of them.
    """

    path: Path
    blank: int
    first: str
    following: tuple[str, ...]
    delimiter: str
    decimal: str | None
    commented: bool = False
    aligned: bytes | None = None

    def source(self) -> BytesIO | Path:
        """Return what to read."""
        return self.path if self.aligned is None else BytesIO(self.aligned)

    def lines(self) -> Iterator[str]:
        """Yield all lines, the first one without a number sign."""
        with _opened(self.path, self.aligned) as file:
            for line in file:
                yield line.lstrip("# ") if self.commented and line.startswith("# ") else line


def csv_layout(path: Path) -> CsvLayout:
    """Return how a CSV file is written, by its first lines."""
    with _opened(path) as file:
        blank, first = next(((place, line) for place, line in enumerate(file) if line.strip()), (0, ""))
        following = [line for line in islice(file, _LOOKED_AT) if line.strip()]
    if not first:
        raise ValueError("the file is empty; it must have at least one row.")
    commented = _COMMENTED.fullmatch(first) is not None
    first = first.lstrip("# ") if commented else first
    delimiter = next((mark for mark in "\t;, " if mark in first.strip()), ",")
    aligned = _aligned(path) if delimiter == " " else None
    if aligned is not None:
        first, *following = (" ".join(line.split()) for line in (first, *following))
    decimal = _decimal_mark(following, delimiter)
    return CsvLayout(path, blank, first, tuple(following), delimiter, decimal, commented, aligned)


def _opened(path: Path, content: bytes | None = None) -> TextIO:
    """Return the lines of a file or of a content that stands for it."""
    if content is None:
        return path.open(newline="", encoding="utf-8-sig")
    return TextIOWrapper(BytesIO(content), newline="", encoding="utf-8-sig")


def _aligned(path: Path) -> bytes | None:
    """Return the content of a file with single spaces, none of them around a line; None if it has quoted texts."""
    content = path.read_bytes().replace(b"\r\n", b"\n")
    if b'"' in content:
        return None
    while b"  " in content:
        content = content.replace(b"  ", b" ")
    return content.replace(b"\n ", b"\n").replace(b" \n", b"\n").strip(b" ")


def _decimal_mark(lines: Iterable[str], delimiter: str) -> str | None:
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
    with _opened(path) as file:
        filled = (number for number, line in enumerate(file, 1) if line.strip())
        return next(islice(filled, row + named, None))
