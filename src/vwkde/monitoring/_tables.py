"""Two tables as columns for tests and pictures, and as numbers for the ratio."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._data.encoding import Category, Pools, pooled
from vwkde._data.encoding import Column as Encoded
from vwkde._data.frames import Frame, frame_of_numbers, label_of, to_frame
from vwkde._data.intake import check_pair
from vwkde._data.kinds import BOOLEAN, CATEGORY, EMPTY, floats_of, kind_of, texts_of
from vwkde._data.reading import Reading
from vwkde._data.validation import as_columns
from vwkde._runtime.warn import without
from vwkde.exceptions import OverlapWarning
from vwkde.monitoring._columns import Column

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]

NAMES = "reference table", "current table"


class Tables(NamedTuple):
    """Both tables, reference first: the columns that are used, the same as numbers, and the columns left out.

    `is_coarse` says that rare categories count as one in the numbers.
    """

    columns: list[Column]
    encoded: tuple[Floats, Floats]
    left_out: tuple[str, ...]
    is_coarse: bool


def read_pair(reference: Any, current: Any, reading: Reading) -> Tables:
    """Return two tables with the same columns."""
    frames = read_frame(reference, NAMES[0]), read_frame(current, NAMES[1])
    with without(OverlapWarning):  # a new level is a change, which the result tells
        pair = check_pair(frames[0], frames[1], reading, NAMES)
    labels = next((frame for frame in frames if frame.columns), frames[0]).labels
    columns = [
        _column(column, *(_given(frame, labels, column.name) for frame in frames)) for column in pair.layout.columns
    ]
    encoded = pair.numerator.astype(np.float64), pair.denominator.astype(np.float64)
    return Tables(columns, encoded, pair.layout.left_out, pair.layout.is_coarse)


def read_frame(data: Any, name: str) -> Frame:
    """Return a table of any kind, or the path of one, as a frame."""
    if isinstance(data, str | Path):
        from vwkde._data.tables import read_table

        return read_table(Path(data))
    return to_frame(data, name) or _numbers(data, name)


def _numbers(data: Any, name: str) -> Frame:
    """Return numbers as a frame, in which a series has its name."""
    frame = frame_of_numbers(*as_columns(data, name))
    is_series = frame.columns is None and frame.table.num_columns == 1
    return Frame(frame.table.rename_columns([label_of(data)]), None) if is_series else frame


def _given(frame: Frame, labels: tuple[str, ...], name: str) -> "pa.ChunkedArray":
    """Return a column by its name or, if the table has no names, by its place."""
    return frame.table.column(name if frame.columns else labels.index(name))


def _column(encoded: Encoded, reference: "pa.ChunkedArray", current: "pa.ChunkedArray") -> Column:
    name = encoded.name
    kinds = {kind_of(column.type) for column in (reference, current)} - {EMPTY}
    if CATEGORY in kinds:
        return _category(name, reference, current, encoded.pools if isinstance(encoded, Category) else ())
    return Column(name, floats_of(reference), floats_of(current), ("False", "True") if kinds == {BOOLEAN} else ())


def _category(name: str, reference: "pa.ChunkedArray", current: "pa.ChunkedArray", pools: Pools) -> Column:
    """Return the categories of both tables by number, in the order of their names."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = [_texts(column, pools) for column in (reference, current)]
    levels = pa.array(
        sorted(set().union(*(each.unique().drop_null().to_pylist() for each in texts))), pa.large_string()
    )
    one, other = (np.asarray(pc.index_in(each, levels).cast(pa.float64()), dtype=np.float64) for each in texts)
    return Column(name, one, other, tuple(levels.to_pylist()))


def _texts(column: "pa.ChunkedArray", pools: Pools) -> "pa.Array":
    import pyarrow as pa

    texts = (
        pa.nulls(len(column), pa.large_string()) if pa.types.is_null(column.type) else pooled(texts_of(column), pools)
    )
    return texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
