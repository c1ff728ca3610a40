"""Rows in files, on a Dask cluster, or in an array that is sent to one.

A source knows its shape and returns its rows in pieces of bounded size. Files are mapped again for every piece: pages
that were read do not stay in memory, and another process can read the rows with the source alone.
"""

import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tokenize import TokenError
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._data.encoding import Encoding
from vwkde._data.file_stamps import Stamp, shows_file, stamp_of
from vwkde._data.frames import to_frame
from vwkde._data.kinds import BOOLEAN, NUMBER, floats_of, kind_of
from vwkde._data.labels import without_saved_index
from vwkde._data.validation import Array, Names, check_columns, check_not_empty, column_names, to_floats
from vwkde._runtime.lazy import lazy

Ints = NDArray[np.intp]


class Source(Protocol):
    """Rows of numbers of known shape, returned as float32 or float64."""

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""

    @property
    def names(self) -> Names:
        """The column names, if there are any."""

    def parts(self, size: int) -> list[slice]:
        """Return the ranges of rows that are best read together, for pieces of at most `size` rows."""

    def pieces(self, part: slice, size: int) -> Iterator[Array]:
        """Yield the rows of a part, at most `size` at a time."""

    def take(self, rows: Ints) -> Array:
        """Return the rows with these indices, which are in ascending order."""


@dataclass(frozen=True)
class ArrayRows:
    """The rows of an array in memory."""

    values: NDArray[Any]
    names: Names = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return len(self.values), self.values.shape[1]

    def parts(self, size: int) -> list[slice]:
        """Return the ranges of single pieces."""
        return parallel.split(len(self.values), size)

    def pieces(self, part: slice, size: int) -> Iterator[Array]:
        """Yield the rows of a part."""
        for rows in parallel.split(part.stop - part.start, size):
            yield _floats(self.values[part.start + rows.start : part.start + rows.stop])

    def take(self, rows: Ints) -> Array:
        """Return some rows."""
        return _floats(self.values[rows])


@dataclass(frozen=True)
class FileRows:
    """Rows in a file of plain numbers: an NPY file, or the part of one that a `numpy.memmap` shows."""

    path: str
    stamp: Stamp
    kind: np.dtype[Any]
    shape: tuple[int, int]
    offset: int
    strides: tuple[int, int]
    names: Names = None

    def parts(self, size: int) -> list[slice]:
        """Return the ranges of single pieces."""
        return parallel.split(self.shape[0], size)

    def pieces(self, part: slice, size: int) -> Iterator[Array]:
        """Yield the rows of a part."""
        for rows in parallel.split(part.stop - part.start, size):
            yield _floats(np.array(self._mapped()[part.start + rows.start : part.start + rows.stop]))

    def take(self, rows: Ints) -> Array:
        """Return some rows."""
        return _floats(self._mapped()[rows])

    def _mapped(self) -> NDArray[Any]:
        self.stamp.check(self.path)
        whole = np.memmap(self.path, np.uint8, "r")
        return np.ndarray(self.shape, self.kind, whole, self.offset, self.strides)


@dataclass(frozen=True)
class ParquetRows:
    """The rows of a Parquet file, read by row groups; empty groups are skipped.

    `names` are those of the numbers, and of the file's columns too unless there is an `encoding`; `kinds` is what the
    file's columns mean.
    """

    path: str
    stamp: Stamp
    names: Names
    groups: tuple[int, ...]
    bounds: tuple[int, ...]
    kinds: tuple[str | None, ...] = ()
    encoding: Encoding | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return self.bounds[-1], len(self.names or ())

    def parts(self, size: int) -> list[slice]:
        """Return the row groups."""
        del size
        return [slice(*ends) for ends in pairwise(self.bounds)]

    def pieces(self, part: slice, size: int) -> Iterator[Array]:
        """Yield the rows of a row group, which is read only once."""
        return ArrayRows(self._read(self.bounds.index(part.start))).pieces(slice(0, part.stop - part.start), size)

    def take(self, rows: Ints) -> Array:
        """Return some rows, group by group."""
        ends = np.searchsorted(rows, self.bounds)
        parts = [
            self._read(place)[rows[ends[place] : ends[place + 1]] - self.bounds[place]]
            for place in range(len(self.groups))
            if ends[place] < ends[place + 1]
        ]
        return np.concatenate(parts)

    def table(self, place: int, columns: Sequence[str]) -> Any:
        """Return some columns of a row group, as an Arrow table."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        self.stamp.check(self.path)
        try:
            with pq.ParquetFile(self.path, page_checksum_verification=True) as file:
                return file.read_row_group(self.groups[place], columns=list(columns)).select(list(columns))
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{self.path}: the file cannot be read ({error}); check the file.") from None

    def with_encoding(self, encoding: Encoding) -> "ParquetRows":
        """Return the same rows, encoded."""
        return replace(self, names=encoding.names, encoding=encoding)

    def _read(self, place: int) -> Array:
        if self.encoding is None:
            return _numbers(self.table(place, self.names or ()))
        return self.encoding.encode(self.table(place, self.encoding.labels), Path(self.path).name)


@dataclass(frozen=True)
class DaskRows:
    """The rows of a Dask array with one block of rows per chunk; Dask decides where they are computed."""

    array: Any
    names: Names = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        rows, columns = self.array.shape
        return int(rows), int(columns)

    @lazy
    def blocks(self) -> list[Any]:
        """The chunks, as delayed arrays."""
        return list(self.array.to_delayed().ravel())

    def parts(self, size: int) -> list[slice]:
        """Return the ranges of rows of the chunks."""
        del size
        ends = np.cumsum([0, *self.array.chunks[0]])
        return [slice(int(start), int(stop)) for start, stop in pairwise(ends)]

    def pieces(self, part: slice, size: int) -> Iterator[Array]:
        """Yield the rows of a part, which is computed as a whole."""
        whole = np.asarray(self.array[part].compute())
        return ArrayRows(whole).pieces(slice(0, len(whole)), size)

    def take(self, rows: Ints) -> Array:
        """Return some rows."""
        return _floats(np.asarray(self.array[rows].compute()))


def is_elsewhere(data: Any) -> bool:
    """Return whether the data are a path, a memory map of a file, or a Dask collection: not all in memory."""
    return isinstance(data, str | Path) or _is_mapped(data) or _is_dask(data)


def open_source(data: Any, name: str) -> Source:
    """Return the rows of a file, a Dask collection or an array as a source, without reading them."""
    source = _open(data, name)
    check_not_empty(source.shape, name)
    return source


def in_order_of(source: Source, names: Names) -> Source:
    """Return the source with its named columns in this order; columns without names stay as they are."""
    if source.names == names or not source.names or not names:
        return source
    if isinstance(source, ParquetRows):
        return replace(source, names=names)  # which the encoding, if any, has already
    place = [source.names.index(name) for name in names]
    if isinstance(source, DaskRows):
        return DaskRows(source.array[:, place], names)
    return ArrayRows(source.take(np.arange(source.shape[0]))[:, place], names)


def read_all(data: Any, name: str, like: tuple[int, Names, str]) -> Array:
    """Return all rows of a file or a Dask collection, with the columns in the order of an earlier sample."""
    source = open_source(data, name)
    source = in_order_of(source, check_columns(source.shape[1], source.names, name, like))
    return source.take(np.arange(source.shape[0]))


def _open(data: Any, name: str) -> Source:
    if isinstance(data, str | Path):
        return _open_file(Path(data), name)
    if _is_dask(data):
        return _open_dask(data, name)
    if _is_mapped(data):
        return _file_rows(_two_axes(data, name), name)
    frame = to_frame(data, name)
    if frame is not None:
        return ArrayRows(_numbers(frame.table), frame.columns)
    names = column_names(data)
    return ArrayRows(_two_axes(to_floats(data, name, names), name), names)


def _open_file(path: Path, name: str) -> Source:
    if path.suffix.lower() not in (".npy", ".parquet"):
        raise ValueError(
            f"The {name} must be an array, a table, or a path that ends in .npy, .parquet or .csv. Got {str(path)!r} "
            f"instead; convert the file, or read it and pass the table."
        )
    if not path.is_file():
        raise ValueError(
            f"The {name} must be an existing file. Got {str(path)!r}, but there is no such file; check the path."
        )
    if path.suffix.lower() == ".parquet":
        return _of_numbers(open_parquet(path, name), name)
    try:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, SyntaxError, TokenError):  # NumPy's own message recommends to unpickle the file
        raise ValueError(
            f"The {name} must be an NPY file of numbers. {str(path)!r} cannot be read as one; write it with numpy.save."
        ) from None
    return _file_rows(_two_axes(mapped, name), name)


def open_parquet(path: Path, name: str) -> ParquetRows:
    """Return the rows of a Parquet file, without reading them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    stamp = stamp_of(path)
    try:
        with pq.ParquetFile(path) as file:
            counts = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
            names = tuple(without_saved_index(file.schema_arrow.names))
            kinds = tuple(kind_of(file.schema_arrow.field(each).type) for each in names)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise ValueError(f"The {name} must be a Parquet file. {str(path)!r} cannot be read: {error}") from None
    groups = tuple(group for group, count in enumerate(counts) if count)
    bounds = tuple(int(end) for end in np.cumsum([0, *(counts[group] for group in groups)]))
    return ParquetRows(str(path.resolve()), stamp, names, groups, bounds, kinds)


def _of_numbers(rows: ParquetRows, name: str) -> ParquetRows:
    """Return the rows, or raise if a column does not hold numbers."""
    pairs = zip(rows.names or (), rows.kinds, strict=True)
    others = [column for column, kind in pairs if kind not in (NUMBER, BOOLEAN)]
    if others:
        raise ValueError(f"The {name} must be a file of numbers. Got columns {others} of others; leave these out.")
    return rows


def _numbers(table: Any) -> NDArray[np.float64]:
    """Return the columns of an Arrow table, all of numbers, as one array."""
    return np.column_stack([floats_of(column) for column in table.columns])


def _is_dask(data: Any) -> bool:
    return type(data).__module__.split(".")[0] == "dask"


def _open_dask(data: Any, name: str) -> DaskRows:
    import dask.array as da

    is_frame = hasattr(type(data), "to_dask_array")
    names = column_names(data) if is_frame else None
    if is_frame:
        _refuse_columns(data.dtypes, name)
    array = data.to_dask_array(lengths=True) if is_frame else data
    if not isinstance(array, da.Array):
        raise ValueError(
            f"The {name} must be a Dask array or DataFrame. Got {type(data).__name__} instead; convert it, for example "
            f"with dask.array.from_delayed."
        )
    if any(np.isnan(size) for size in array.chunks[0]):
        raise ValueError(
            f"The {name} must be a Dask array with known chunk sizes. Got chunks with unknown numbers of rows instead; "
            f"call x.compute_chunk_sizes() first."
        )
    array = _two_axes(array, name)
    _check_kind(array.dtype, name)
    return DaskRows(array.rechunk({1: -1}), names)


def _refuse_columns(kinds: Any, name: str) -> None:
    """Raise if a Dask DataFrame has columns that do not hold plain numbers."""
    others = [f"{column!r} ({kind})" for column, kind in kinds.items() if getattr(kind, "kind", "O") not in "biuf"]
    if others:
        raise ValueError(
            f"The {name} must hold numbers only if it is a Dask DataFrame. Got columns {', '.join(others)} instead; "
            f"encode them, or give the path of a Parquet file, which may have any columns."
        )


def _is_mapped(data: Any) -> bool:
    """Return whether an array shows the content of a file; a copy-on-write map or a deleted file does not count."""
    if not isinstance(data, np.memmap) or data.mode == "c" or not data.size:
        return False
    return data.filename is not None and Path(str(data.filename)).is_file()


def _file_rows(mapped: NDArray[Any], name: str) -> Source:
    _check_kind(mapped.dtype, name)
    if not isinstance(mapped, np.memmap) or not mapped.size:
        return ArrayRows(mapped)
    if mapped.mode != "r":
        mapped.flush()
    path = Path(str(mapped.filename)).resolve()
    stamp = stamp_of(path)
    base: Any = mapped
    while not isinstance(base, mmap.mmap):
        base = base.base
    first = np.frombuffer(base, np.uint8).ctypes.data
    start = mapped.offset - mapped.offset % mmap.ALLOCATIONGRANULARITY
    place = start + mapped.ctypes.data - first
    rows, columns = mapped.strides
    source = FileRows(str(path), stamp, mapped.dtype, mapped.shape, place, (rows, columns))
    return source if shows_file(mapped, source.take) else ArrayRows(mapped)


def _two_axes(array: Any, name: str) -> Any:
    if array.ndim == 1:
        return array[:, None]
    if array.ndim != 2:
        raise ValueError(
            f"The {name} must be an array of shape (rows, columns). Got {array.ndim} dimensions instead; "
            f"reshape it to one row per observation."
        )
    return array


def _check_kind(kind: np.dtype[Any], name: str) -> None:
    to_floats(np.empty(0, kind), name, None)
    if kind.kind not in "biuf":
        raise ValueError(
            f"The {name} must hold numbers only. Got dtype {str(kind)!r} instead; convert it, for example with "
            f"x.astype(float)."
        )


def _floats(values: NDArray[Any]) -> Array:
    return np.ascontiguousarray(values, dtype=_float_kind(values.dtype))


def _float_kind(kind: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32 if kind == np.float32 else np.float64)
