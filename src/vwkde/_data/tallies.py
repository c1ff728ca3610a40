"""What the rows of a column show, added up over pieces of a sample: its kind, its levels, and what is missing."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from vwkde._data.frames import the
from vwkde._data.kinds import BOOLEAN, CATEGORY, DATE, EMPTY, NUMBER, WORDS, floats_of, has_zone, kind_of, texts_of

if TYPE_CHECKING:
    import pyarrow as pa


_MANY = 10_000
"""Texts up to which they are counted one by one."""


class ColumnError(ValueError):
    """The columns of a table cannot be used; others must be chosen, or they must be read in another way."""


@dataclass(frozen=True)
class Tally:
    """The rows of one column: how many, how many are missing, the counts of its levels, a value in the middle.

    Texts that differ in most of very many rows are not counted one by one; `texts` is how many there are.
    """

    kind: str
    data_type: str
    rows: int
    missing: int
    levels: Counter[str]
    middle: float = 0.0
    zone: bool = False
    single: bool = False
    texts: int = 0

    @property
    def distinct(self) -> int:
        """The number of different texts; those of several pieces count as different if they were not counted."""
        return len(self.levels) + self.texts

    @property
    def present(self) -> int:
        """The number of rows that are not missing."""
        return self.rows - self.missing

    @property
    def words(self) -> str:
        """What the column holds, for messages."""
        is_text = self.kind == CATEGORY and self.data_type.removeprefix("large_") == "string"
        words = "text" if is_text else WORDS[self.kind]
        return f"{words} ({self.data_type})"

    def renamed(self, names: dict[str, str]) -> "Tally":
        """Return the tally with other names of some levels; levels of one name are one level."""
        levels: Counter[str] = Counter()
        for level, rows in self.levels.items():
            levels[names.get(level, level)] += rows
        return replace(self, levels=levels)

    def plus(self, other: "Tally", name: str) -> "Tally":
        """Return the tally of both sets of rows; `name` is that of the column, for messages."""
        present = max(1, self.present + other.present)
        return Tally(
            self._kind_with(other, name),
            self.data_type if self.kind != EMPTY else other.data_type,
            self.rows + other.rows,
            self.missing + other.missing,
            self.levels + other.levels,
            (self.present * self.middle + other.present * other.middle) / present,
            self.zone or other.zone,
            self.single and other.single,
            self.texts + other.texts,
        )

    def _kind_with(self, other: "Tally", name: str) -> str:
        kinds = {self.kind, other.kind} - {EMPTY}
        if kinds == {NUMBER, BOOLEAN}:
            return NUMBER
        if len(kinds) > 1 or (kinds == {DATE} and self.zone != other.zone):
            zones = " with and without a time zone" if kinds == {DATE} else ""
            raise ColumnError(
                f"Column {name!r} must mean the same in all rows. Got {self.words} and {other.words}{zones}; convert "
                f"one of them."
            )
        return kinds.pop() if kinds else EMPTY


def tally(column: "pa.ChunkedArray", name: str, sample: str) -> Tally:
    """Return what a column shows; `name` and `sample` are for messages."""
    kind = kind_of(column.type)
    if kind is None:
        raise ColumnError(
            f"Column {name!r} of {the(sample)} must hold numbers, true and false, text, categories or dates. Got "
            f"{column.type} instead; convert it or drop it."
        )
    if kind == CATEGORY:
        texts = texts_of(column)
        counts = texts.drop_null().value_counts()
        start = Tally(kind, str(column.type), len(column), texts.null_count, Counter())
        if len(counts) > max(_MANY, start.present / 2):
            return replace(start, texts=len(counts))
        levels = dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True))
        return replace(start, levels=Counter(levels))
    values = floats_of(column)
    present = values[~np.isnan(values)]
    middle = float(np.partition(present, len(present) // 2)[len(present) // 2]) if len(present) else 0.0
    single = str(column.type) == "float"
    missing = len(values) - len(present)
    return Tally(kind, str(column.type), len(values), missing, Counter(), middle, has_zone(column.type), single)
