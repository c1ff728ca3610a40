"""Tables in CSV, Parquet and NPY files: samples are read, results are written atomically."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vwkde._data.labels import without_saved_index
from vwkde._runtime.files import whole_file

_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".npy")
_TARGETS = (".csv", ".parquet", ".npy")
"""Suffixes of the files that can be written."""


class ColumnError(ValueError):
    """The columns of a file cannot be used; other columns must be chosen."""


@dataclass(frozen=True)
class Table:
    """Numbers with column names, if the file has them; NumPy reads it as an array.

    `chosen` says that the user named the columns, so that none is left out as a label of rows.
    """

    values: NDArray[np.floating]
    columns: tuple[str, ...] | None
    chosen: bool = False

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return the numbers."""
        return np.array(self.values, dtype=dtype, copy=copy)


def read_table(path: Path, columns: list[str] | None = None) -> Table:
    """Read a sample, with all columns or some."""
    if path.suffix.lower() not in _SUFFIXES:
        raise ValueError(f"{path}: the file name must end in one of {', '.join(_SUFFIXES)}; convert the file.")
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file; check the path.")
    try:
        if path.suffix.lower() == ".npy":
            table = Table(_load_npy(path), None)
        elif path.suffix.lower() == ".parquet":
            table = _from_arrow(pq.read_table(path, page_checksum_verification=True), columns)
        else:
            table = _read_csv(path, columns)
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a readable {path.suffix[1:].upper()} file ({error}); check the file.") from None
    except ColumnError as error:
        raise ColumnError(f"{path}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if columns and table.columns is None:
        raise ValueError(f"{path}: the file has no column names; add a header line, or use all columns.")
    return table


def _load_npy(path: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError):  # NumPy's own message recommends to unpickle the file
        raise ValueError("not a readable NPY file of numbers; write it with numpy.save.") from None


def check_target(path: Path) -> None:
    """Raise before a long computation if its result cannot be written there."""
    if path.suffix.lower() not in _TARGETS:
        raise ValueError(f"{path}: the file name must end in .csv, .parquet or .npy; choose one of them.")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder. Name a file, for example {path / 'ratio.csv'}.")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}. Create it first, or choose another.")


def write_table(path: Path, columns: dict[str, NDArray[np.float64]]) -> None:
    """Write named columns as CSV, Parquet or NPY; a reader never sees an incomplete file."""
    check_target(path)
    suffix = path.suffix.lower()
    with whole_file(path) as file:
        if suffix == ".csv":
            pacsv.write_csv(pa.table(columns), file)
        elif suffix == ".parquet":
            pq.write_table(pa.table(columns), file, write_page_checksum=True)
        else:
            np.save(file, np.column_stack(list(columns.values())))


def _read_csv(path: Path, columns: list[str] | None) -> Table:
    with path.open(newline="", encoding="utf-8-sig") as file:
        head = [line for line, _ in zip(file, range(2), strict=False)]
    if not head:
        raise ValueError("the file is empty; it must have at least one row of numbers.")
    delimiter = next((mark for mark in "\t;, " if mark in head[0].strip()), ",")
    first = next(csv.reader(head[:1], delimiter=delimiter))
    headless = not _is_header(first)
    decimal = "," if delimiter != "," and "," in head[-1] else "."
    table = pacsv.read_csv(
        path,
        read_options=pacsv.ReadOptions(autogenerate_column_names=headless),
        parse_options=pacsv.ParseOptions(delimiter=delimiter),
        convert_options=pacsv.ConvertOptions(decimal_point=decimal),
    )
    read = _from_arrow(table, None if headless else columns)
    return Table(read.values, None) if headless else read


def _from_arrow(table: pa.Table, columns: list[str] | None) -> Table:
    if columns and len(set(table.column_names)) == len(table.column_names):
        missing = [name for name in columns if name not in table.column_names]
        if missing:
            raise ValueError(f"there are no columns {missing}; the file has {table.column_names}. Choose among these.")
        table = table.select(columns)
    if table.num_rows == 0:
        raise ValueError("the file has no rows; it must have at least one row of numbers.")
    if len(set(table.column_names)) < len(table.column_names):
        raise ValueError(f"column names must be unique; the file has {table.column_names}. Rename the columns.")
    if not columns:
        table = table.select(without_saved_index(table.column_names))
    return Table(numbers_of(table), tuple(table.column_names), chosen=bool(columns))


def numbers_of(table: pa.Table) -> NDArray[np.float64]:
    """Return the columns of an Arrow table as one array; they must hold numbers."""
    for field in table.schema:
        kind = field.type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)):
            raise ColumnError(f"column {field.name!r} holds {kind}, not numbers; leave it out or convert it.")
    return np.column_stack([column.cast(pa.float64(), safe=False).to_numpy() for column in table.columns])


def _is_header(fields: list[str]) -> bool:
    """Return whether the fields are names, not numbers; 0, 1, 2 … are the names that pandas gives by default."""
    if fields == [str(index) for index in range(len(fields))]:
        return True
    present = [field for field in fields if field.strip().lower() not in ("", "na", "nan", "null")]
    return not present or not all(map(_is_number, present))


def _is_number(text: str) -> bool:
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True
