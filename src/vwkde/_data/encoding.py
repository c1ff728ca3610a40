"""How the columns of a table become numbers. It is learnt from both samples together, and kept for new rows.

Numbers stay as they are, true and false become 1 and 0, dates become seconds. Categories with few levels become one
0/1 column for each level but the most frequent one, which is where all of them are zero. Levels so rare that a sample
may lack them by chance count as one; if they are rare even together, they count as the most frequent level. Where all
levels of many must be told apart, as for mutual information, a category is one column with the level's number.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from vwkde._data.frames import the
from vwkde._data.kinds import BOOLEAN, CATEGORY, EMPTY, NUMBER, WORDS, floats_of, kind_of, texts_of
from vwkde._data.tallies import ColumnError

if TYPE_CHECKING:
    import pyarrow as pa

Floats = NDArray[np.float64]

Pools = tuple[tuple[str, tuple[str, ...]], ...]
"""Names, and the rare levels that each stands for."""

_OTHER = "(other)"


def pooled(texts: "pa.ChunkedArray", pools: Pools) -> "pa.ChunkedArray":
    """Return the levels of a category, with the names of pools in place of the levels in these."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pools:
        return texts
    names = pa.array([name for name, levels in pools for _ in levels], pa.large_string())
    members = pa.array([level for _, levels in pools for level in levels], pa.large_string())
    return pc.coalesce(pc.take(names, pc.index_in(texts, value_set=members)), texts)


@dataclass(frozen=True)
class Number:
    """A column of numbers, truth values or dates: its name in the table, and what it means.

    Missing values are replaced by `fill`, unless that is None and none may be missing; `marks` says whether they have a
    0/1 column, which few of them are not worth.
    """

    name: str
    kind: str
    fill: float | None = None
    marks: bool = True
    single: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the encoded columns."""
        values = () if self.kind == EMPTY else (self.name,)
        return (*values, f"{self.name} is missing") if self.fill is not None and self.marks else values

    def encode(self, column: "pa.ChunkedArray", sample: str) -> Floats:
        """Return the encoded columns."""
        values = floats_of(column)
        missing = np.isnan(values)
        if self.kind == BOOLEAN:
            _refuse_other_numbers(values[~missing], self.name, sample)
        if self.fill is None:
            _refuse_new_gaps(int(missing.sum()), self.name, sample)
        filled = values if self.fill is None else np.where(missing, self.fill, values)
        columns = [filled, missing.astype(np.float64)]
        first = 1 if self.kind == EMPTY else 0
        return np.stack(columns[first : first + len(self.names)], axis=1)


@dataclass(frozen=True)
class Category:
    """A column of categories: its levels, the most frequent first, and whether there are others, or missing ones.

    `joined` are levels that count as the first. `apart` says whether each level has a column, and `coarse` whether the
    others are so many that differences among them matter. `pools` are names of levels that stand for several rare ones.
    """

    name: str
    levels: tuple[str, ...]
    joined: tuple[str, ...] = ()
    has_other: bool = False
    may_be_missing: bool = False
    marks: bool = True
    apart: bool = True
    coarse: bool = False
    kind: str = CATEGORY
    single: bool = False
    pools: Pools = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the encoded columns."""
        levels = (*self.levels, _OTHER) if self.has_other else self.levels
        values = tuple(f"{self.name}={level}" for level in levels[self._first :]) if self.apart else (self.name,)
        return (*values, f"{self.name} is missing") if self.may_be_missing and self.marks else values

    def encode(self, column: "pa.ChunkedArray", sample: str) -> Floats:
        """Return the encoded columns; levels that were not seen are others, or an error if there are none."""
        codes, missing = self._codes(column, sample)
        if not self.may_be_missing:
            _refuse_new_gaps(int(missing.sum()), self.name, sample)
        levels = len(self.levels) + self.has_other
        values = codes[:, None] == np.arange(self._first, levels) if self.apart else codes[:, None]
        values = np.where(missing[:, None], 0.0, values)
        columns = [values, missing[:, None]] if self.may_be_missing and self.marks else [values]
        return np.concatenate(columns, axis=1, dtype=np.float64)

    @property
    def _first(self) -> int:
        """The first level that has a column: the second, unless there would be no column at all."""
        return 0 if len(self.levels) + self.has_other == 1 and not (self.may_be_missing and self.marks) else 1

    def _codes(self, column: "pa.ChunkedArray", sample: str) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return the number of each row's level, and which rows are missing."""
        import pyarrow as pa
        import pyarrow.compute as pc

        texts = pooled(texts_of(column), self.pools)
        known = len(self.levels)
        places = pc.index_in(texts, value_set=pa.array([*self.levels, *self.joined], pa.large_string()))
        missing = np.asarray(texts.is_null())
        codes = np.asarray(places.fill_null(-1), dtype=np.intp)
        unknown = (codes < 0) & ~missing
        if unknown.any() and not self.has_other:
            value = texts[int(np.flatnonzero(unknown)[0])].as_py()
            raise ColumnError(
                f"Column {self.name!r} of {the(sample)} must hold categories that were fitted. Got others in "
                f"{int(unknown.sum())} rows, such as {value!r}: the ratio is not known there. Drop those rows, or fit "
                f"with rows that have them."
            )
        return np.select([codes < 0, codes < known], [known, codes], 0), missing


Column = Number | Category


@dataclass(frozen=True)
class Encoding:
    """The columns of a table and how each becomes numbers."""

    columns: tuple[Column, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return tuple(column.name for column in self.columns)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the encoded columns."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def places(self) -> dict[str, slice]:
        """Which encoded columns belong to each column of the table."""
        ends = accumulate((len(column.names) for column in self.columns), initial=0)
        return {column.name: slice(*pair) for column, pair in zip(self.columns, pairwise(ends), strict=True)}

    @property
    def is_plain(self) -> bool:
        """Whether all columns are numbers that stay as they are."""
        return all(column.kind == NUMBER and column.names == (column.name,) for column in self.columns)

    @property
    def is_coarse(self) -> bool:
        """Whether levels that were joined may hide a difference: divergences are then lower limits."""
        return any(isinstance(column, Category) and column.coarse for column in self.columns)

    def without(self, names: Sequence[str]) -> "Encoding":
        """Return the encoding without some columns of the table."""
        return Encoding(tuple(column for column in self.columns if column.name not in names))

    def encode(self, table: "pa.Table", sample: str) -> NDArray[np.floating]:
        """Return the numbers of a table that has these columns, in this order."""
        pairs = list(zip(self.columns, table.columns, strict=True))
        for column, given in pairs:
            _check_kind(column, given.type, sample)
        values = [column.encode(given, sample) for column, given in pairs]
        single = all(column.single for column in self.columns)
        together = np.concatenate(values, axis=1) if values else np.empty((table.num_rows, 0))
        return np.ascontiguousarray(together, dtype=np.float32 if single else np.float64)


def _check_kind(column: Column, given: "pa.DataType", sample: str) -> None:
    """Raise if a column means something else than in the rows that were fitted."""
    also = {NUMBER: (BOOLEAN,), BOOLEAN: (NUMBER,)}.get(column.kind, ())
    if kind_of(given) not in (column.kind, EMPTY, *also) and column.kind != EMPTY:
        raise ColumnError(
            f"Column {column.name!r} of {the(sample)} must hold {WORDS[column.kind]}, as in the rows that were fitted. "
            f"Got {given} instead; convert it."
        )


def _refuse_other_numbers(values: Floats, name: str, sample: str) -> None:
    others = values[(values != 0) & (values != 1)]
    if len(others):
        raise ColumnError(
            f"Column {name!r} of the {sample} must hold true and false, or 1 and 0, as in the rows that were fitted. "
            f"Got {others[0]:g} and such in {len(others)} rows; convert it, or fit with rows that have such numbers."
        )


def _refuse_new_gaps(count: int, name: str, sample: str) -> None:
    if count:
        raise ColumnError(
            f"Column {name!r} of {the(sample)} must have no missing values, since there were none in the rows that "
            f"were fitted. Got {count} instead; drop those rows or fill them in."
        )
