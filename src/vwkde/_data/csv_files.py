"""CSV files: the delimiter, the decimal mark, and whether the first line has the names of the columns.

A first line of words is a line of names. One that holds numbers may be either, and reading names as a row, or a row as
names, changes the answer without a word. It is names where it cannot be a row, a row where it looks like the others,
and refused otherwise: the user then says which it is.
"""

import csv
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from vwkde._data.csv_faults import has_mark, open_quote, refuse_open_quotes, uneven_line
from vwkde._data.csv_layout import DECIMAL_COMMA, MINUS, CsvLayout, csv_layout
from vwkde._data.frames import Frame
from vwkde._data.kinds import NUMBER, kind_of

_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})
_WHOLE = re.compile(r"\+?\d+")
_FEWEST_NUMBERED = 3
"""Names 0, 1, 2 … from which they are no row by chance: pandas gives these to columns without names."""


def read_csv(path: Path, header: bool | None = None) -> Frame:
    """Return the content of a CSV file; `header` says whether the first line has names, None to find out."""
    layout = csv_layout(path)
    first = _fields(layout.first, layout.delimiter)
    numbered = [str(place) for place in range(len(first))]
    if layout.decimal is None and layout.following:
        layout = replace(layout, decimal=_decimal_mark(_read(layout, 1, numbered)))
    rest = _read(layout, 1, numbered) if layout.following else pa.table([[]] * len(first), numbered)
    if (layout.commented or _are_names(first, rest, layout.decimal or ".")) if header is None else header:
        names = tuple(name.strip() for name in first)
        kept = [place for place, name in enumerate(names) if name or rest.column(place).null_count < rest.num_rows]
        names = tuple(names[place] for place in kept)  # without what a delimiter at the end of each line makes
        return Frame(_trimmed(rest.select(kept)).rename_columns(names), names)
    return Frame(_trimmed(rest if layout.commented else _read(layout, 0, numbered)), None)


def _decimal_mark(table: pa.Table) -> str:
    """Return the decimal mark, by all rows, which were read as if it were a point."""
    texts = [column for column in table.columns if pa.types.is_string(column.type)]
    fractions = any(pa.types.is_floating(column.type) for column in table.columns)
    pattern = rf"(?i)^\s*{DECIMAL_COMMA}\s*$"
    commas = any(pc.any(pc.match_substring_regex(column, pattern)).as_py() for column in texts)
    return "," if commas and not fractions else "."


def _trimmed(table: pa.Table) -> pa.Table:
    """Return texts without spaces around them: after a delimiter, they are no part of a category."""
    for place, column in enumerate(table.columns):
        if pa.types.is_string(column.type):
            table = table.set_column(place, table.field(place).name, pc.utf8_trim_whitespace(column))
    return table


def _fields(line: str, delimiter: str) -> list[str]:
    """Return the fields of the first line."""
    if '"' in line and open_quote([line], delimiter) is not None:
        raise ValueError("the first line has a quotation mark that is not closed. Close it, or remove it.")
    try:
        return next(csv.reader([line], delimiter=delimiter))
    except csv.Error as error:
        raise ValueError(
            f"the first line cannot be divided into fields ({error}); check that it has names or numbers only."
        ) from None


def _read(layout: CsvLayout, skip: int, names: list[str]) -> pa.Table:
    """Read the rows after some lines, or raise if a text goes on in the next line."""
    table = _parsed(layout, skip, names)
    refuse_open_quotes(layout, table)
    for place, column in enumerate(table.columns):
        if has_mark(column, MINUS):
            table = table.set_column(place, table.field(place).name, _with_plain_minus(column, layout.decimal or "."))
    return table


def _with_plain_minus(column: pa.ChunkedArray, decimal: str) -> pa.ChunkedArray:
    """Return numbers that were read as texts because of the typographic minus; other texts as they are."""
    plain = pc.replace_substring(pc.utf8_trim_whitespace(column), MINUS, "-")
    number = rf"^[-+]?(\d+[{decimal}]?\d*|[{decimal}]\d+)(e[-+]?\d+)?$"
    if not pc.all(pc.match_substring_regex(plain, number, ignore_case=True)).as_py():
        return column
    pointed = pc.replace_substring_regex(pc.replace_substring(plain, decimal, "."), r"^\+", "")
    try:
        return pointed.cast(pa.int64())
    except pa.ArrowInvalid:
        return pointed.cast(pa.float64())


def _parsed(layout: CsvLayout, skip: int, names: list[str]) -> pa.Table:
    """Read the rows after some lines. Types are guessed by the first megabyte, or by all if that was not enough."""
    options = {
        "parse_options": pacsv.ParseOptions(delimiter=layout.delimiter, newlines_in_values=True),
        "convert_options": pacsv.ConvertOptions(
            decimal_point=layout.decimal or ".", strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    }
    reading: dict[str, Any] = {"column_names": names, "skip_rows": layout.blank + skip}
    try:
        return pacsv.read_csv(layout.source(), read_options=pacsv.ReadOptions(**reading), **options)
    except pa.ArrowInvalid as error:
        if "conversion error" in str(error):
            whole = pacsv.ReadOptions(**reading, block_size=layout.path.stat().st_size + 1)
            return pacsv.read_csv(layout.source(), read_options=whole, **options)
        fault = uneven_line(layout)
        if fault is None:
            raise
        raise ValueError(
            f"{fault}. All lines must be divided alike, and the first one must be names or a row; correct the file."
        ) from None


def _are_names(first: list[str], rest: pa.Table, decimal: str) -> bool:
    """Return whether the fields of the first line are names, by the rows that follow; raise if nobody can tell."""
    numbers = [_number(field, decimal) for field in first]
    numeric = [kind_of(column.type) == NUMBER for column in rest.columns]
    present = [field.strip().lower() not in _MISSING for field in first]
    words = [number is None and given for number, given in zip(numbers, present, strict=True)]
    if any(word and is_numeric for word, is_numeric in zip(words, numeric, strict=True)):
        return True
    if all(number is None for number in numbers):
        return len(set(first)) == len(first)
    if first == [str(place) for place in range(len(first))] and len(first) >= _FEWEST_NUMBERED:
        return True
    if not all(present) or len(set(first)) < len(first) or any(number is not None and number < 0 for number in numbers):
        return False
    if _looks_like_the_rows(first, numbers, rest):
        return False
    raise ValueError(
        f"the first line ({','.join(first):.60}) may be the names of the columns or a row of numbers. Say which: give "
        f"--header or --no-header on the command line; in Python, read the file with pandas or polars."
    )


def _looks_like_the_rows(first: list[str], numbers: list[float | None], rest: pa.Table) -> bool:
    """Return whether all numbers are near the others of their columns, and written as these are, or in no order."""
    places = [place for place, number in enumerate(numbers) if number is not None]
    given = [number for number in numbers if number is not None]
    if not rest.num_rows or any(kind_of(rest.column(place).type) != NUMBER for place in places):
        return False
    ranges = [pc.min_max(rest.column(place)).as_py() for place in places]
    if not all(_is_near(number, **ends) for ends, number in zip(ranges, given, strict=True)):
        return False
    whole = all(_WHOLE.fullmatch(first[place].strip()) for place in places)
    in_whole_columns = all(pa.types.is_integer(rest.column(place).type) for place in places)
    increasing = len(given) > 1 and given == sorted(given)
    return not whole or (in_whole_columns and not increasing)


def _is_near(number: float, min: float | None, max: float | None) -> bool:
    """Return whether a number is in the range of others, widened by itself on both sides: the next of a series is."""
    if min is None or max is None:
        return False
    return float(2 * min - max) <= number <= float(2 * max - min)


def _number(field: str, decimal: str) -> float | None:
    try:
        return float(field.replace(decimal, ".").replace(MINUS, "-"))
    except ValueError:
        return None
