"""Files larger than memory with columns that are not plain numbers.

A first pass over both samples shows what the columns hold; the rows are then encoded whenever a piece is read.
"""

from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from vwkde._data.encoding import Encoding
from vwkde._data.frames import Frame, frame_of_numbers, to_frame
from vwkde._data.intake import Layout
from vwkde._data.kinds import BOOLEAN, NUMBER, kind_of
from vwkde._data.learning import Tallied, learn, tally_table
from vwkde._data.reading import Reading
from vwkde._data.sources import ArrayRows, ParquetRows, Source, is_elsewhere, open_parquet
from vwkde._data.validation import as_columns, check_columns


def read_text_file(data: Any) -> Any:
    """Return the content of a CSV file, which is read as a whole, and anything else as it is."""
    if not isinstance(data, str | Path) or Path(data).suffix.lower() not in (".csv", ".tsv", ".txt"):
        return data
    from vwkde._data.tables import read_table  # with Arrow, which arrays do not need

    return read_table(Path(data))


def are_mixed(samples: dict[str, Any], reading: Reading) -> bool:
    """Return whether some column of the samples, given by name, must be encoded; Dask collections are not looked at."""
    return any(_is_mixed(data, name, reading) for name, data in samples.items())


def fit_in_memory(samples: dict[str, Any], most: int) -> bool:
    """Return whether no sample has more than so many rows."""
    return all(_rows(_open(data, name)) <= most for name, data in samples.items())


def open_encoded(samples: dict[str, Any], reading: Reading) -> tuple[list[Source], Layout]:
    """Return two samples, given by name, as sources of encoded rows, and how they were encoded."""
    opened = {name: _open(data, name) for name, data in samples.items()}
    (first, p), (second, q) = opened.items()
    names = check_columns(len(_labels(q)), _names(q), second, (len(_labels(p)), _names(p), first)) or _labels(p)
    learnt = learn([_tallied(rows, names, name) for name, rows in opened.items()], reading)
    encoding = learnt.encoding
    sources = [_encoded(rows, names, encoding, name) for name, rows in opened.items()]
    return sources, Layout(encoding.names, len(encoding.names), learnt.left_out, encoding)


def _is_parquet(data: Any) -> bool:
    return isinstance(data, str | Path) and Path(data).suffix.lower() == ".parquet"


def _is_mixed(data: Any, name: str, reading: Reading) -> bool:
    if _is_parquet(data):
        kinds = open_parquet(Path(data), name).kinds
        return reading.missing == "indicator" or any(kind not in (NUMBER, BOOLEAN) for kind in kinds)
    frame = None if is_elsewhere(data) else to_frame(data, name)
    return frame is not None and any(kind_of(field.type) not in (NUMBER, BOOLEAN) for field in frame.table.schema)


def _open(data: Any, name: str) -> ParquetRows | Frame:
    if _is_parquet(data):
        return open_parquet(Path(data), name)
    if is_elsewhere(data):
        raise ValueError(
            f"The {name} must be a table in memory or a Parquet file if the other sample has columns that are not "
            f"plain numbers. Got {type(data).__name__} instead; convert it, or encode the columns of both."
        )
    return to_frame(data, name) or frame_of_numbers(*as_columns(data, name))


def _rows(rows: ParquetRows | Frame) -> int:
    return int(rows.table.num_rows) if isinstance(rows, Frame) else rows.shape[0]


def _labels(rows: ParquetRows | Frame) -> tuple[str, ...]:
    return rows.labels if isinstance(rows, Frame) else rows.names or ()


def _names(rows: ParquetRows | Frame) -> tuple[str, ...] | None:
    return rows.columns if isinstance(rows, Frame) else rows.names


def _tallied(rows: ParquetRows | Frame, names: tuple[str, ...], sample: str) -> Tallied:
    each = (tally_table(table, sample) for table in _tables(rows, names))
    return reduce(Tallied.plus, each)


def _tables(rows: ParquetRows | Frame, names: tuple[str, ...]) -> Iterator[Any]:
    """Yield the rows as Arrow tables with these columns."""
    if isinstance(rows, Frame):
        table = rows.table.select(list(names)) if rows.columns else rows.table.rename_columns(list(names))
        yield table
    else:
        yield from (rows.table(place, names) for place in range(len(rows.groups)))


def _encoded(rows: ParquetRows | Frame, names: tuple[str, ...], encoding: Encoding, sample: str) -> Source:
    if isinstance(rows, ParquetRows):
        return rows.with_encoding(encoding)
    (table,) = _tables(rows, names)
    return ArrayRows(np.asarray(encoding.encode(table.select(list(encoding.labels)), sample)), encoding.names)
