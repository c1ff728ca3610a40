"""Tables in CSV, Parquet and NPY files: samples are read, results are written atomically."""

import csv
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
from numpy.typing import NDArray

from vwkde._data.csv_faults import refuse_text_among_numbers
from vwkde._data.csv_files import read_csv
from vwkde._data.frames import Frame, frame_of_numbers, to_frame
from vwkde._data.labels import without_saved_index
from vwkde._data.validation import as_columns
from vwkde._runtime.files import whole_file

_SUFFIXES = (".csv", ".tsv", ".txt", ".parquet", ".npy")
_TARGETS = (".csv", ".parquet", ".npy")
"""Suffixes of the files that can be written."""
_LONGEST_LINE = 10_000
"""Characters of a first line that are read for names."""


def read_table(path: Path, columns: list[str] | None = None, header: bool | None = None) -> Frame:
    """Read a sample, with all columns or some.

    `header` says whether the first line of a CSV file has the names of the columns; None to find out.
    """
    suffix = path.suffix.lower()
    if path.is_dir():
        raise ValueError(f"{path}: is a folder. Name a file.")
    if suffix not in _SUFFIXES:
        raise ValueError(f"{path}: the file name must end in one of {', '.join(_SUFFIXES)}; convert the file.")
    if not path.is_file():
        raise ValueError(f"{path}: there is no such file; check the path.")
    try:
        if suffix == ".npy":
            values = _load_npy(path)
            frame = to_frame(values, "array") or frame_of_numbers(*as_columns(values, "array"))
        else:
            frame = (
                _frame_of(pq.read_table(path, page_checksum_verification=True))
                if suffix == ".parquet"
                else read_csv(path, header)
            )
        frame = _checked(frame, columns)
        if suffix not in (".npy", ".parquet"):
            refuse_text_among_numbers(frame.table, path, frame.columns is not None)
        return frame
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path}: not a readable CSV file: it is not UTF-8 text (byte {error.start}). Save it as UTF-8."
        ) from None
    except (pa.ArrowException, OSError, EOFError) as error:
        raise ValueError(f"{path}: not a readable {path.suffix[1:].upper()} file ({error}); check the file.") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _load_npy(path: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (ValueError, EOFError, SyntaxError, TokenError):  # NumPy's own message recommends to unpickle the file
        raise ValueError("not a readable NPY file of numbers; write it with numpy.save.") from None


def check_target(path: Path) -> None:
    """Raise before a long computation if its result cannot be written there."""
    if path.suffix.lower() not in _TARGETS:
        raise ValueError(f"{path}: the file name must end in .csv, .parquet or .npy; choose one of them.")
    if path.is_dir():
        raise ValueError(f"{path}: is a folder. Name a file, for example {path / 'ratio.csv'}.")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}. Create it first, or choose another.")


def column_names(path: Path) -> list[str]:
    """Return the names in the first line of a CSV file or in a Parquet file; none if they cannot be read."""
    try:
        if path.suffix.lower() == ".parquet":
            return list(pq.read_schema(path).names)
        with path.open(encoding="utf-8-sig", newline="") as file:
            return next(csv.reader([file.readline(_LONGEST_LINE)], strict=True), [])
    except (pa.ArrowException, OSError, UnicodeDecodeError, csv.Error):
        return []


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


def _frame_of(table: pa.Table) -> Frame:
    return Frame(table, tuple(table.column_names))


def _numbered(table: pa.Table, columns: list[str]) -> Frame:
    """Return columns of a file without names, chosen by their numbers from 0 on."""
    if not set(columns) <= set(map(str, range(table.num_columns))):
        raise ValueError(
            f"the file has no column names. Choose its columns by their numbers, 0 to {table.num_columns - 1}. Got "
            f"{columns} instead."
        )
    return Frame(table.select([int(number) for number in columns]), None, chosen=True)


def _checked(frame: Frame, columns: list[str] | None) -> Frame:
    """Return the columns that were chosen, or all but a saved index, of a file that has rows and unique names."""
    table = frame.table
    if columns and frame.columns is None:
        return _numbered(table, columns)
    if columns and len(set(table.column_names)) == len(table.column_names):
        missing = [name for name in columns if name not in table.column_names]
        if missing:
            raise ValueError(f"there are no columns {missing}; the file has {table.column_names}. Choose among these.")
        table = table.select(columns)
    if table.num_rows == 0:
        raise ValueError("the file has no rows; it must have at least one row of numbers.")
    if len(set(table.column_names)) < len(table.column_names):
        raise ValueError(f"column names must be unique; the file has {table.column_names}. Rename the columns.")
    if not columns and frame.columns:
        table = table.select(without_saved_index(table.column_names))
    return Frame(table, tuple(table.column_names) if frame.columns else None, chosen=bool(columns))
