"""What is wrong with a CSV file, in words that lead to the place: a line that is divided otherwise, text among numbers.

A single word makes a column of numbers a column of texts. As such it would be left out, or taken for categories.
"""

import csv
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from vwkde._data.kinds import CATEGORY, kind_of, texts_of

_NUMBER = r"[-+]?(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d+)?"
_WITH_UNIT = r"[-+]?(\d{1,3}([,' ]\d{3})+([.]\d+)?|(\d+[.,]?\d*|[.,]\d+))\s*[a-zµ°%€$²³/]{0,6}"
_SHARE = 0.5
"""Share of the texts of a column from which it was meant to be numbers."""
_ROWS_PER_VALUE = 10
"""Rows that share a value on average in a column of categories, which may be numbers in part."""
_MOST_UNITS = 3
_MOST_SHOWN = 40


def refuse_text_among_numbers(table: pa.Table, first_line: int) -> None:
    """Raise if a column was meant to be numbers and has text; `first_line` is the line of the first row."""
    for name, column in zip(table.column_names, table.columns, strict=True):
        if kind_of(column.type) == CATEGORY:
            _refuse(texts_of(column), name, first_line)


def _refuse(texts: pa.ChunkedArray, name: str, first_line: int) -> None:
    present = len(texts) - texts.null_count
    if not present or pc.count_distinct(texts).as_py() * _ROWS_PER_VALUE <= present:
        return
    plain, written = (_share(texts, pattern, present) for pattern in (_NUMBER, _WITH_UNIT))
    if _SHARE <= plain < 1:
        row, value, count = _others(texts)
        raise ValueError(
            f"column {name!r} has text among its numbers: {_short(value)} in line {row + first_line} ({count} of "
            f"{present} values are text). Correct that, leave such fields empty and give missing='indicator' "
            f"(--missing indicator), or leave the column out."
        )
    if written >= _SHARE and _units(texts) <= _MOST_UNITS:
        value = next(text for text in texts.to_pylist() if text is not None)
        raise ValueError(
            f"column {name!r} has numbers that are written as text, for example {_short(value)}. Write them without "
            f"units and without marks between thousands, or leave the column out."
        )


def _units(texts: pa.ChunkedArray) -> int:
    """Return how many different things are written behind numbers: an id may begin with digits, too."""
    behind = pc.replace_substring_regex(texts, r"^[-+\d.,' ]*", "")
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


def uneven_line(path: Path, delimiter: str) -> str | None:
    """Return which line is not divided as the first one is, and how; None if all lines are."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        expected = 0
        for number, line in enumerate(file, 1):
            if line.count('"') % 2:
                return f"line {number} has a quotation mark that is not closed: {_short(line.strip())}"
            fields = len(next(csv.reader([line], delimiter=delimiter), []))
            expected = expected or fields
            if fields not in (0, expected):
                return (
                    f"line {number} has {fields} field{'s' * (fields != 1)}, the first line has {expected}, divided by "
                    f"{delimiter!r}: {_short(line.strip())}"
                )
    return None
