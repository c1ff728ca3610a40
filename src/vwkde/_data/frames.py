"""Any table as an Arrow table: pandas, polars, Arrow, files, whatever offers Arrow's C interface, and arrays of text.

Arrow is the one format that all of them convert to, with one set of types: what a column means is decided once, in
`kinds`. Plain numbers do not come here; they stay arrays and never wait for Arrow.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa

Names = tuple[str, ...] | None

NAMELESS = "a column without a name"
"""What such a column is called in messages."""


@dataclass(frozen=True)
class Frame:
    """An Arrow table and its column names, if it has any.

    `chosen` says that the user named the columns, so that none is left out as a label of rows.
    """

    table: "pa.Table"
    columns: Names
    chosen: bool = False

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the columns in messages."""
        return tuple(self.table.column_names)


def to_frame(data: Any, name: str) -> Frame | None:
    """Return a table as a frame, and None for anything that holds plain numbers or cannot be a table."""
    if isinstance(data, Frame):
        return data
    module = type(data).__module__.split(".")[0]
    if module == "pandas":
        return _from_pandas(data, name)
    if module == "polars" and hasattr(data, "collect"):
        raise TypeError(f"{subject(name)} must be a table with rows. Got a lazy table instead; call .collect() on it.")
    if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
        return _from_arrow(data, name)
    if hasattr(data, "to_arrow"):  # polars before 1.3
        return _from_arrow(data.to_arrow(), name)
    return None if _is_numeric(data) else _from_array(data, name)


def frame_of_numbers(values: NDArray[Any], columns: Names) -> Frame:
    """Return an array of numbers as a frame; columns without names are numbered."""
    import pyarrow as pa

    labels = columns or [str(place) for place in range(values.shape[1])]
    arrays = [pa.array(np.ascontiguousarray(column)) for column in values.T]
    return Frame(pa.table(arrays, names=list(labels)), columns)


def check_unique(names: list[str]) -> None:
    """Raise if a column name occurs more than once."""
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise ValueError(
            f"Column names must be unique. Got {repeated} more than once; rename the columns or pass a plain array."
        )


def the(name: str) -> str:
    """Return what a sample is called inside a sentence: by its name, or by its letter alone."""
    return name if len(name) == 1 else f"the {name}"


def subject(name: str) -> str:
    """Return what a sample is called where a sentence begins."""
    return name if len(name) == 1 else f"The {name}"


def in_words(name: str) -> str:
    """Return the name of a column for messages."""
    return repr(name) if name.strip() else NAMELESS


def label_of(series: Any) -> str:
    """Return the name of a series in messages; data without one is a single column, the first."""
    label = getattr(series, "name", None)
    return "0" if label is None or callable(label) else str(label)


def _two_axes(values: NDArray[Any], name: str) -> NDArray[Any]:
    if values.ndim == 1:
        return values[:, None]
    if values.ndim != 2:
        raise ValueError(f"{subject(name)} must have shape (rows, columns). Got {values.ndim} dimensions instead.")
    return values


def _from_pandas(data: Any, name: str) -> Frame | None:
    """Return a DataFrame or Series as a frame, unless NumPy's own numbers are all that it holds."""
    is_table = hasattr(data, "columns")
    types = list(data.dtypes) if is_table else [data.dtype]
    if all(isinstance(each, np.dtype) and each.kind in "iufc" for each in types):
        return None
    columns = [data.iloc[:, place] for place in range(data.shape[1])] if is_table else [data]
    labels = [str(label) for label in data.columns] if is_table else [label_of(data)]
    check_unique(labels)
    return _assembled(columns, labels, is_table, name)


def _from_arrow(data: Any, name: str) -> Frame:
    import pyarrow as pa

    if not hasattr(data, "columns") and not hasattr(data, "column_names") and not hasattr(data, "num_columns"):
        return Frame(_table([_column(data, label_of(data), name)], [label_of(data)]), None)
    try:
        table = pa.table(data)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        table = _table([_column(data[label], label, name) for label in data.columns], list(data.columns))
    labels = [str(label) for label in table.column_names]
    check_unique(labels)
    return Frame(table, tuple(labels))


def _from_array(data: Any, name: str) -> Frame | None:
    """Return an array of text, dates or objects as a frame, column by column."""
    array = np.asarray(data)
    if array.dtype.kind not in "OUSTmM" or array.ndim not in (1, 2) or not array.size:
        return None
    columns = list(_two_axes(array, name).T)
    return _assembled(columns, [str(place) for place in range(len(columns))], False, name)


def _is_numeric(data: Any) -> bool:
    """Return whether data can be read as numbers, whatever they are stored as."""
    if hasattr(data, "detach"):
        return True
    try:
        array = np.asarray(data)
    except ValueError:
        return True  # rows of several lengths, which are refused with the numbers
    if array.dtype.kind not in "OUSTmM":
        return True
    try:
        return array.dtype.kind not in "mM" and bool(array.astype(np.float64).size)
    except (TypeError, ValueError, OverflowError):
        return False


def _assembled(columns: list[Any], labels: list[str], named: bool, name: str) -> Frame:
    arrays = [_column(column, label, name) for column, label in zip(columns, labels, strict=True)]
    return Frame(_table(arrays, labels), tuple(labels) if named else None)


def _table(arrays: list[Any], labels: list[str]) -> "pa.Table":
    import pyarrow as pa

    return pa.table(arrays, names=labels)


def _column(values: Any, label: str, name: str) -> Any:
    """Return one column as an Arrow array; NaN and None in it are missing."""
    import pyarrow as pa

    try:
        if type(values).__module__.split(".")[0] in ("pandas", "numpy"):
            return pa.array(_plain(values), from_pandas=True)
        return pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, pa.ArrowKeyError, OverflowError):
        raise ValueError(
            f"Column {label!r} of {the(name)} must hold values of one type, which Arrow knows. Got {_types_in(values)} "
            f"instead; convert it, for example to text if its values are names of things, or drop it."
        ) from None


def _plain(values: Any) -> Any:
    """Return a column of pandas in a form that Arrow knows: dense, and with texts for categories such as intervals."""
    if hasattr(values, "sparse") and "Sparse" in str(values.dtype):
        return values.sparse.to_dense()
    categories = getattr(getattr(values, "cat", values), "categories", None)
    if categories is not None and "interval" in str(categories.dtype):
        values = getattr(values, "cat", values).rename_categories([str(each) for each in categories])
    own = getattr(values, "array", values)  # the array behind a series knows its type, even if all is missing
    return own if hasattr(own, "__arrow_array__") else values


def _types_in(values: Any) -> str:
    """Describe the types in a column by an example of each."""
    if not isinstance(values, np.ndarray) and type(values).__module__.split(".")[0] != "pandas":
        return str(getattr(values, "dtype", type(values).__name__))
    examples: dict[str, str] = {}
    for value in np.asarray(values, dtype=object).ravel():
        missing = value is None or (isinstance(value, float) and value != value)
        if not missing:
            examples.setdefault(type(value).__name__, f"{type(value).__name__} ({value!r:.40})")
    return " and ".join(list(examples.values())[:3]) or "nothing"
