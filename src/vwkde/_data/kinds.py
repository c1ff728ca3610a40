"""What a column of an Arrow table means: a number, true or false, a category, a date, or nothing that can be used."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

NUMBER, BOOLEAN, CATEGORY, DATE, EMPTY = "number", "boolean", "category", "date", "empty"
"""The kinds; an empty column has missing values only, and goes with any kind."""

WORDS = {NUMBER: "numbers", BOOLEAN: "true and false", CATEGORY: "text or categories", DATE: "dates or times"}
_PER_SECOND = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}
_DAY = 86_400.0


def kind_of(data_type: "pa.DataType") -> str | None:
    """Return the kind of a column, or None if it cannot be used. Durations are numbers: their unit does not matter."""
    from pyarrow import types

    if types.is_null(data_type):
        return EMPTY
    if types.is_boolean(data_type):
        return BOOLEAN
    if types.is_integer(data_type) or types.is_floating(data_type) or types.is_decimal(data_type):
        return NUMBER
    if types.is_duration(data_type):
        return NUMBER
    if types.is_dictionary(data_type):
        return EMPTY if types.is_null(data_type.value_type) else CATEGORY
    if types.is_string(data_type) or types.is_large_string(data_type) or _is_view(data_type):
        return CATEGORY
    return DATE if types.is_temporal(data_type) else None


def floats_of(column: "pa.ChunkedArray") -> NDArray[np.float64]:
    """Return numbers, truth values or dates as floats: NaN where missing, dates and durations in seconds."""
    import pyarrow as pa

    data_type = column.type
    if pa.types.is_null(data_type):
        return np.full(len(column), np.nan)
    if not pa.types.is_temporal(data_type):
        return _to_numpy(column)
    if pa.types.is_date32(data_type):
        return _to_numpy(column.cast(pa.int32())) * _DAY
    if pa.types.is_date64(data_type):
        return _to_numpy(column.cast(pa.int64())) / _PER_SECOND["ms"]
    whole = pa.int32() if pa.types.is_time32(data_type) else pa.int64()
    return _to_numpy(column.cast(whole)) / _PER_SECOND[data_type.unit]


def texts_of(column: "pa.ChunkedArray") -> "pa.ChunkedArray":
    """Return the names of categories, as text whatever they are stored as."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = pa.chunked_array([_decoded(chunk) for chunk in column.chunks], _plain(column.type.value_type))
    return column.cast(pa.large_string())


def has_zone(data_type: "pa.DataType") -> bool:
    """Return whether a date is a moment in a time zone."""
    return getattr(data_type, "tz", None) is not None


def _decoded(chunk: Any) -> Any:
    values = chunk.dictionary.cast(_plain(chunk.type.value_type))
    return values.take(chunk.indices)


def _plain(data_type: "pa.DataType") -> "pa.DataType":
    """Return a text type that all of Arrow's functions know."""
    import pyarrow as pa

    return pa.large_string() if _is_view(data_type) else data_type


def _is_view(data_type: "pa.DataType") -> bool:
    """Return whether texts are stored as views, as polars does; older versions of Arrow do not know them."""
    return str(data_type) == "string_view"


def _to_numpy(column: "pa.ChunkedArray") -> NDArray[np.float64]:
    import pyarrow as pa

    return np.asarray(column.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)
