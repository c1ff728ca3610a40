"""Where samples come in: arrays of numbers stay as they are, tables are encoded, and both are checked once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vwkde._data.encoding import Column, Encoding, Number
from vwkde._data.frames import Frame, frame_of_numbers, to_frame
from vwkde._data.kinds import NUMBER, floats_of, kind_of
from vwkde._data.labels import is_saved_index, labels_to_leave_out, report_labels
from vwkde._data.learning import learn, tally_table
from vwkde._data.reading import PLAIN, Reading
from vwkde._data.validation import (
    Array,
    Names,
    as_columns,
    check_columns,
    check_finite,
    check_not_empty,
    check_sample,
    check_two_rows,
)


@dataclass(frozen=True)
class Layout:
    """The columns of a sample: the names of the numbers, if any, how many there are, and the columns left out.

    Without an `encoding`, the columns are those of the sample as given. `labels` are what columns are called that have
    no names to match others by: the name of a series, or their places in the sample as given.
    """

    names: Names
    width: int
    left_out: tuple[str, ...] = ()
    encoding: Encoding | None = None
    labels: Names = None

    @property
    def given(self) -> Names:
        """The names of the columns as given, without those left out."""
        return self.encoding.labels if self.encoding and self.names else self.names

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns as given, with their kinds; columns without names are numbered."""
        if self.encoding:
            return self.encoding.columns
        return tuple(Number(name, NUMBER) for name in self.names or self.labels or map(str, range(self.width)))

    @property
    def is_coarse(self) -> bool:
        """Whether levels of categories that were joined may hide a difference."""
        return self.encoding is not None and self.encoding.is_coarse

    @property
    def count(self) -> int:
        """The number of columns as given, without those left out."""
        return len(self.columns)


class Pair(NamedTuple):
    """Two samples with the same columns, and what new rows must look like."""

    numerator: Array
    denominator: Array
    layout: Layout


class Single(NamedTuple):
    """One sample, and what new rows must look like."""

    values: Array
    layout: Layout


def check_pair(
    numerator: Any,
    denominator: Any,
    reading: Reading = PLAIN,
    samples: tuple[str, str] = ("numerator", "denominator"),
) -> Pair:
    """Return both samples as float arrays (n, d) with the same columns; named columns that label rows are left out.

    `samples` are their names in messages.
    """
    given = dict(zip(samples, (numerator, denominator), strict=True))
    frames = [_frame(data, name, reading) for name, data in given.items()]
    if any(frame is not None for frame in frames):
        (p, q), layout = _encoded(_all_frames(frames, given), list(given), reading)
    else:
        p, p_names = check_sample(numerator, samples[0])
        q, q_names = check_sample(denominator, samples[1], like=(p.shape[1], p_names, samples[0]))
        (p, q), layout = _without_labels([p, q], p_names or q_names)
    for sample, name in zip((p, q), samples, strict=True):
        check_two_rows(len(sample), name)
    return Pair(p, q, layout)


def check_table(data: Any, name: str, reading: Reading = PLAIN) -> Single:
    """Return one sample as a float array (n, d) without named columns that label rows, if others are left."""
    frame = _frame(data, name, reading)
    if frame is None:
        values, names = check_sample(data, name)
        (x,), layout = _without_labels([values], names)
    else:
        (x,), layout = _encoded([frame], [name], reading)
    return Single(x, layout)


def must_be_encoded(data: Any, name: str, reading: Reading = PLAIN) -> bool:
    """Return whether a sample is a table whose columns may need encoding, and not an array of plain numbers."""
    return _frame(data, name, reading) is not None


def check_points(data: Any, name: str, layout: Layout, sample: str = "numerator") -> Array:
    """Return new rows with the columns that an earlier sample, of this name, had; left-out columns may be there."""
    frame = _table_of(data, name)
    if frame is None and layout.encoding is None and not layout.left_out:
        return check_sample(data, name, (layout.width, layout.names, sample))[0]
    frame = frame or frame_of_numbers(*as_columns(data, name))
    check_not_empty(frame.table.shape, name)
    frame = _without(frame, layout.left_out)
    frame = _without(frame, _saved_indices(frame, layout.given))
    encoding = layout.encoding or Encoding(layout.columns)
    frame = _in_order(frame, name, (layout.count, layout.given, sample))
    values = encoding.encode(frame.table, name)
    check_finite(values, name, encoding.names)
    return values


def _table_of(data: Any, name: str) -> Frame | None:
    """Return a table, in memory or in a file, as a frame, and None for plain numbers."""
    if not isinstance(data, str | Path):
        return to_frame(data, name)
    from vwkde._data.tables import read_table  # with Arrow, which arrays do not need

    return read_table(Path(data))


def _frame(data: Any, name: str, reading: Reading) -> Frame | None:
    """Return data as a frame if columns must be encoded, and None for plain numbers."""
    frame = _table_of(data, name)
    if frame is None and reading.missing == "indicator":
        values, names = as_columns(data, name)
        return frame_of_numbers(values, names) if np.isnan(values).any() else None
    return frame


def _all_frames(frames: Sequence[Frame | None], given: dict[str, Any]) -> list[Frame]:
    pairs = zip(frames, given.items(), strict=True)
    return [frame or frame_of_numbers(*as_columns(data, name)) for frame, (name, data) in pairs]


def _encoded(frames: list[Frame], samples: list[str], reading: Reading) -> tuple[list[Array], Layout]:
    """Return the numbers of all frames, and how they were encoded."""
    for frame, sample in zip(frames, samples, strict=True):
        check_not_empty(frame.table.shape, sample)
    saved = _lone_indices(frames)
    frames = [_without(frame, saved) for frame in frames]
    first = frames[0]
    like = first.table.num_columns, first.columns, samples[0]
    frames = [first, *(_in_order(frame, name, like) for frame, name in zip(frames[1:], samples[1:], strict=True))]
    named = next((frame for frame in frames if frame.columns), first)
    tables = [frame.table.rename_columns(list(named.labels)) for frame in frames]
    learnt = learn(
        [tally_table(table, sample) for table, sample in zip(tables, samples, strict=True)],
        reading,
        chosen=all(frame.chosen for frame in frames),
    )
    encode = partial(_encode, samples=samples)
    values = encode(learnt.encoding, tables)
    for array, sample in zip(values, samples, strict=True):
        check_finite(array, sample, learnt.encoding.names)
    labels = () if named.chosen else _labels(values, learnt.encoding, bool(named.columns))
    encoding = learnt.encoding.without(labels)
    values = encode(encoding, tables) if labels else values
    names = encoding.names if named.columns or not encoding.is_plain else None
    left_out = *saved, *learnt.left_out, *labels
    kept = None if encoding.is_plain else encoding
    return values, Layout(names, len(encoding.names), left_out, kept, encoding.labels)


def _lone_indices(frames: list[Frame]) -> tuple[str, ...]:
    """Return the columns without a name that only one of two tables has, and that count its rows; report them."""
    if len(frames) != 2:
        return ()
    p, q = frames
    return *_saved_indices(p, q.columns), *_saved_indices(q, p.columns)


def _saved_indices(frame: Frame, expected: Names) -> tuple[str, ...]:
    """Return the columns that count the rows and have no name, if they are not expected; report them."""
    pairs = enumerate(frame.columns or () if expected else ())
    extra = {place: name for place, name in pairs if name not in (expected or ())}
    kinds = {place: kind_of(frame.table.column(place).type) for place in extra}
    found = {
        place: "a saved index"
        for place, name in extra.items()
        if kinds[place] == NUMBER and is_saved_index(name, floats_of(frame.table.column(place)))
    }
    report_labels(found, frame.columns)
    return tuple(extra[place] for place in found)


def _without(frame: Frame, left_out: tuple[str, ...]) -> Frame:
    """Return a frame without some of its named columns."""
    kept = tuple(name for name in frame.columns or () if name not in left_out)
    if not frame.columns or len(kept) == len(frame.columns):
        return frame
    return Frame(frame.table.select(list(kept)), kept, frame.chosen)


def _encode(encoding: Encoding, tables: list[Any], samples: list[str]) -> list[Array]:
    pairs = zip(tables, samples, strict=True)
    return [encoding.encode(table.select(list(encoding.labels)), sample) for table, sample in pairs]


def _in_order(frame: Frame, name: str, like: tuple[int, Names, str]) -> Frame:
    """Return a frame with its columns in the order of an earlier sample."""
    ordered = check_columns(frame.table.num_columns, frame.columns, name, like)
    if not frame.columns or not ordered:
        return frame
    return Frame(frame.table.select(list(ordered)), ordered, frame.chosen)


def _labels(values: list[Array], encoding: Encoding, named: bool) -> tuple[str, ...]:
    """Return the columns of numbers that label rows; those without names are only reported."""
    if not named:
        return labels_to_leave_out(values, None) if encoding.is_plain else ()
    numbers = [column.name for column in encoding.columns if column.kind == NUMBER]
    places = [encoding.places[name].start for name in numbers]
    if not numbers:
        return ()
    others = len(encoding.columns) > len(numbers)
    return labels_to_leave_out([x[:, places] for x in values], tuple(numbers), others)


def _without_labels(samples: list[Array], names: Names) -> tuple[list[Array], Layout]:
    left_out = labels_to_leave_out(samples, names)
    if left_out and names:
        kept = [name not in left_out for name in names]
        names = tuple(name for name in names if name not in left_out)
        samples = [np.ascontiguousarray(x[:, kept]) for x in samples]
    return samples, Layout(names, samples[0].shape[1], left_out)
