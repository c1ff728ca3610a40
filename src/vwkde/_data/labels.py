"""Columns that say which row it is, not what was measured: row numbers, ids, time stamps.

The usual case is an index that was saved with both samples: numbers that only count rows make equal samples look
different. A column is a label if both its name and its values look like one, or if its values number the rows without a
gap.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vwkde._data.frames import in_words
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning

Floats = NDArray[np.floating]
Names = tuple[str, ...] | None

_SAVED_INDEX = re.compile(r"__index_level_\d+__")
"""The name that pandas gives to an index without a name in Parquet files."""
_NAMELESS = re.compile(r"|Unnamed: \d+")
"""Names that mean that there is none: pandas gives the second one to such columns."""
_NUMBERING = re.compile(
    r"|#|index( level \d+)?|unnamed \d+( \d+)?|level \d+|row( (id|index|no|nr|num|number))?|rownum|rownumber"
)
_ID_WORDS = frozenset({"id", "uuid", "guid", "pk"})
_TIME_WORDS = frozenset({"time", "timestamp", "datetime", "date", "ts", "epoch"})
_EPOCH = 3e8, 5e9
"""Seconds since 1970 from 1979 to 2128; time stamps are such numbers, or 10³, 10⁶ or 10⁹ times as large."""
_RUN = 20
"""Rows from which values in a strict order are no coincidence."""


def without_saved_index(names: list[str]) -> list[str]:
    """Return the names of a Parquet file's columns without the index that pandas wrote, and report it."""
    saved = {column: "a saved index" for column, name in enumerate(names) if _SAVED_INDEX.fullmatch(name)}
    if len(saved) == len(names):
        return names
    report_labels(saved, tuple(names))
    return [name for column, name in enumerate(names) if column not in saved]


def is_saved_index(name: str, values: Floats) -> bool:
    """Return whether a column without a name counts the rows from 0, as the index does that pandas writes in CSV."""
    return _NAMELESS.fullmatch(name.strip()) is not None and bool((values == np.arange(len(values))).all())


def labels_to_leave_out(samples: Sequence[Floats], names: Names, others: bool = False) -> tuple[str, ...]:
    """Return the names of columns that label the rows of one table or of two samples, and report them.

    Columns without names are only reported. `others` says that there are other columns, so that all may be left out.
    """
    labels = find_labels(samples, names, others)
    report_labels(labels, names)
    return tuple(names[column] for column in labels) if names else ()


def find_labels(samples: Sequence[Floats], names: Names, others: bool = False) -> dict[int, str]:
    """Return the columns that label rows of all samples, and what they look like; none if no other would be left."""
    columns = zip(*(x.T for x in samples), strict=True)
    each = zip(columns, names or [None] * samples[0].shape[1], strict=True)
    described = {column: _describe(*one) for column, one in enumerate(each)}
    labels = {column: words for column, words in described.items() if words}
    return labels if others or len(labels) < len(described) else {}


def report_labels(labels: dict[int, str], names: Names) -> None:
    """Warn about labels: columns with names were left out, others were not, since nobody could ask for them."""
    if not labels:
        return
    listed = ", ".join(f"{in_words(names[column]) if names else column} ({words})" for column, words in labels.items())
    if names:
        words = (
            f"Columns that say which row it is, not what was measured, were left out: {listed}. To use them, pass "
            f"arrays without column names; on the command line, name all columns to use with --columns."
        )
    else:
        words = (
            f"Columns say which row it is, not what was measured: {listed}. They change the answer; drop them, or "
            f"shuffle the rows if they are measurements."
        )
    warn(words, DegenerateDataWarning)


def _describe(column: tuple[Floats, ...], name: str | None) -> str:
    """Return what a column looks like, by its values in each sample; nothing if it looks like a measurement."""
    if _number_the_rows(column):
        return "row numbers"
    if name is None:
        return ""
    words = _words(name)
    if _NUMBERING.fullmatch(" ".join(words) or name.strip()) and _mostly_distinct(column):
        return "an index"
    if words and _ID_WORDS & {words[0], words[-1]} and _mostly_distinct(column):
        return "an id"
    if _TIME_WORDS & set(words) and all(_is_increasing(x) or _is_epoch(x) for x in column):
        return "a time stamp"
    return ""


def is_called_id(name: str) -> bool:
    """Return whether a name says that its column has ids or numbers rows."""
    words = _words(name)
    is_id = bool(words and _ID_WORDS & {words[0], words[-1]})
    return is_id or _NUMBERING.fullmatch(" ".join(words) or name.strip()) is not None


def _words(name: str) -> list[str]:
    """Return the words of a name such as customer_id, customerId or "Unnamed: 0"."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return re.findall(r"[^\W\d_]+|\d+", apart.lower())


def _number_the_rows(column: tuple[Floats, ...]) -> bool:
    """Return whether values count up by one in each sample, or number the rows of one table that was split into two.

    In a table that was not split, such numbers in another order are ranks.
    """
    if min(map(len, column)) < _RUN:
        return False
    if all(_counts_up(x) for x in column):
        return all(_is_whole(x[:1]) for x in column)
    if not all(_is_whole(x[:_RUN]) for x in column):  # the first rows tell, as a rule
        return False
    together = np.concatenate(column)
    in_range = len(column) > 1 and together.min() + (len(together) - 1) == together.max() and _is_whole(together)
    return bool(in_range) and _counts_up(np.sort(together))


def _counts_up(x: Floats) -> bool:
    return all(bool((_steps(part) == 1).all()) for part in (x[:_RUN], x))  # the first rows tell, as a rule


def _is_increasing(x: Floats) -> bool:
    return len(x) >= _RUN and bool((_steps(x) > 0).all())


def _steps(x: Floats) -> Floats:
    with np.errstate(over="ignore"):  # infinite steps count as such
        return np.diff(x)


def _is_epoch(x: Floats) -> bool:
    least, most = x.min(), x.max()
    return any(unit * _EPOCH[0] <= least and most <= unit * _EPOCH[1] for unit in (1.0, 1e3, 1e6, 1e9))


def _is_whole(x: Floats) -> bool:
    return bool((x == np.round(x)).all())


def _mostly_distinct(column: tuple[Floats, ...]) -> bool:
    return all(_is_whole(x) and len(np.unique(x)) > len(x) / 2 for x in column)


def without_columns(data: Any, left_out: tuple[str, ...]) -> Any:
    """Return a DataFrame without the columns of these names; an array has none."""
    if not left_out or not hasattr(data, "columns"):
        return data
    return data[[name for name in data.columns if str(name) not in left_out]]
