"""What is wrong with a CSV file, in words that lead to the place: a line that is divided otherwise, text among numbers.

A single word makes a column of numbers a column of texts. As such it would be left out, or taken for categories.
"""

import csv
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from vwkde._data.csv_layout import MINUS, CsvLayout, line_of_row
from vwkde._data.kinds import CATEGORY, kind_of, texts_of

_SIGN = rf"[-+{MINUS}]?"
_NUMBER = rf"{_SIGN}(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?"
_WITH_MARKS = r"\d{1,3}([,' ]\d{3})+([.]\d+)?|\d{1,3}([. ]\d{3})+(,\d+)?"
_WITH_UNIT = rf"{_SIGN}({_WITH_MARKS}|\d+[.,]?\d*|[.,]\d+)\s*[a-zµ°%€$²³/]{{0,6}}"
_SHARE = 0.5
"""Share of the texts of a column from which it was meant to be numbers."""
_ROWS_PER_VALUE = 10
"""Rows that share a value on average in a column of categories, which may be numbers in part."""
_MOST_UNITS = 3
_MARKS = {"comma": ",", "point": "."}
_MOST_SHOWN = 40
_TAIL = 1 << 16
"""Bytes at the end of a file among which its last line is looked for."""


def refuse_text_among_numbers(table: pa.Table, path: Path, named: bool) -> None:
    """Raise if a column was meant to be numbers and has text; `named` says that the file has a line of names."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if kind_of(column.type) == CATEGORY:
            _refuse(texts_of(column), name, path, named)


def _refuse(texts: pa.ChunkedArray, name: str, path: Path, named: bool) -> None:
    present = len(texts) - texts.null_count
    if not present or pc.count_distinct(texts).as_py() * _ROWS_PER_VALUE <= present:
        return
    plain, written = (_share(texts, pattern, present) for pattern in (_NUMBER, _WITH_UNIT))
    if _SHARE <= plain < 1:
        row, value, count = _others(texts)
        line = line_of_row(path, row, named)
        raise ValueError(
            f"column {name!r} has text among its numbers: {_short(value)} in line {line} ({count} of {present} values "
            f"are text). Correct that, leave these fields empty and give missing='indicator', or leave the column out."
        )
    if plain == 1:
        _refuse_other_mark(texts, name, path, named)
    if written >= _SHARE and _units(texts) <= _MOST_UNITS:
        value = next(text for text in texts.to_pylist() if text is not None)
        raise ValueError(
            f"column {name!r} has numbers that are written as text, for example {_short(value)}. Write them without "
            f"units and without marks between thousands, or leave the column out."
        )


def _refuse_other_mark(texts: pa.ChunkedArray, name: str, path: Path, named: bool) -> None:
    """Raise if numbers with another decimal mark than that of the file are why a column was read as text.

    If it has numbers with both marks, those with the file's mark are more, as a rule.
    """
    found = {mark: pc.fill_null(pc.match_substring(texts, sign), False) for mark, sign in _MARKS.items()}
    counts = {mark: pc.sum(each).as_py() for mark, each in found.items()}
    mark = min(filter(counts.get, counts), key=lambda each: counts[each], default=None)
    if mark is not None:
        row = pc.index(found[mark], True).as_py()
        raise ValueError(
            f"column {name!r} has numbers with a decimal {mark}: {_short(texts[row].as_py())} in line "
            f"{line_of_row(path, row, named)}. The decimal mark of the file is another one, by its other numbers "
            f"or the commas between its columns. Write all numbers with a decimal point, or leave the column out."
        )


def _units(texts: pa.ChunkedArray) -> int:
    """Return how many different things are written behind numbers: an id may begin with digits, too."""
    behind = pc.replace_substring_regex(texts, rf"^[-+{MINUS}\d.,' ]*", "")
    return int(pc.count_distinct(behind).as_py())


def _share(texts: pa.ChunkedArray, pattern: str, present: int) -> float:
    return float(pc.sum(_matches(texts, pattern)).as_py() or 0) / present


def _matches(texts: pa.ChunkedArray, pattern: str) -> pa.ChunkedArray:
    return pc.match_substring_regex(texts, rf"^\s*{pattern}\s*$", ignore_case=True)


def _others(texts: pa.ChunkedArray) -> tuple[int, str, int]:
    """Return the row and the text of the first value that is no number, and how many there are."""
    other = pc.fill_null(pc.invert(_matches(texts, _NUMBER)), False)
    row = pc.index(other, True).as_py()
    return row, texts[row].as_py(), pc.sum(other).as_py()


def _short(value: str) -> str:
    return repr(value if len(value) <= _MOST_SHOWN else value[: _MOST_SHOWN - 1] + "…")


def refuse_open_quotes(layout: CsvLayout, table: pa.Table) -> None:
    """Raise if a quotation mark is not closed in its line: the lines up to the next one became a single text.

    Only then a text has a line break, unless the mark opens in the last line.
    """
    if (
        any(has_mark(column, "\n", "\r") for column in table.columns)
        or open_quote([_last_line(layout.path)], layout.delimiter) is not None
    ):
        raise ValueError(f"{uneven_line(layout)}. Close it, or remove it; a text must end in its line.")


def has_mark(column: pa.ChunkedArray, *marks: str) -> bool:
    """Return whether a column of texts has one of these marks somewhere, by its bytes, which is much faster."""
    if not pa.types.is_string(column.type):
        return False
    contents = (chunk.buffers()[2].to_pybytes() for chunk in column.chunks if chunk.buffers()[2] is not None)
    return any(mark.encode() in content for content in contents for mark in marks)


def open_quote(lines: Iterable[str], delimiter: str) -> int | None:
    """Return the number of the line in which a quotation mark opens that is not closed there; None if there is none."""
    reader = csv.reader(chain(lines, ["end"]), delimiter=delimiter)
    before = 0
    try:
        for _ in reader:
            if reader.line_num > before + 1:
                return before + 1
            before = reader.line_num
    except csv.Error:  # a field that is too long
        return before + 1 if reader.line_num > before + 1 else None
    return None


def _last_line(path: Path) -> str:
    """Return the last line that is not blank; nothing if it is very long."""
    start = max(0, path.stat().st_size - _TAIL)
    with path.open("rb") as file:
        file.seek(start)
        whole = file.read().splitlines()[start > 0 :]
    lines = [line for line in whole if line.strip()]
    return lines[-1].decode("utf-8", "replace") if lines else ""


def uneven_line(layout: CsvLayout) -> str | None:
    """Return which line is not divided as the first one is, and how; None if all lines are."""
    delimiter, expected = layout.delimiter, 0
    for number, line in enumerate(layout.lines(), 1):
        if open_quote([line], delimiter) is not None:
            return f"line {number} has a quotation mark that is not closed: {_short(line.strip())}"
        fields = len(next(csv.reader([line], delimiter=delimiter), []))
        expected = expected or fields
        if fields not in (0, expected):
            return (
                f"line {number} has {fields} field{'s' * (fields != 1)}, the first line has {expected}, divided by "
                f"{delimiter!r}: {_short(line.strip())}"
            )
    return None
