"""Passes over data in files or on a Dask cluster: work on each piece, results combined two by two.

Everything that needs all rows is such a fold: the check for finite values, the moments, the normal equations of a
weight, kernel sums. The executor runs the fold, either in this process, piece by piece, or as Dask tasks, one for each
part of the rows. Dask always processes the rows of Dask arrays.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from vwkde._compute import parallel
from vwkde._compute.executors import DASK, Executor
from vwkde._compute.resources import Resources
from vwkde._data.moments import WeightedMoments, moments_of
from vwkde._data.sources import ArrayRows, DaskRows, Ints, Source, in_order_of, open_source
from vwkde._data.validation import Array, check_columns, check_two_rows, not_finite
from vwkde._runtime.lazy import lazy

T = TypeVar("T")
Floats = NDArray[np.float64]

_COPIES = 64
"""Copies of a piece, as doubles, that must fit into memory: work makes wider arrays, such as products of columns."""


class Piece(NamedTuple):
    """Some consecutive rows, without those that are in memory, and their weights."""

    first: int
    values: Array
    weight: Floats


class Look(NamedTuple):
    """The result of a first look: the largest absolute values, and the first entry that is not finite, if any."""

    largest: Floats
    place: tuple[int, int] | None
    value: float
    entries: int

    def plus(self, other: "Look") -> "Look":
        """Return the result for both sets of rows; `self` has the earlier rows."""
        largest = np.maximum(self.largest, other.largest)
        place, value = (self.place, self.value) if self.place else (other.place, other.value)
        return Look(largest, place, value, self.entries + other.entries)


@dataclass(frozen=True)
class Stream:
    """The rows of a source with their weights (mean one), without the rows that are in memory."""

    source: Source
    name: str
    resources: Resources
    weight: Floats | None = None
    in_memory: Ints | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.source.shape[0] - (0 if self.in_memory is None else len(self.in_memory))

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self)) if self.weight is None else float(np.delete(self.weight, self._in_memory).sum())

    @property
    def total_squared_weight(self) -> float:
        """The sum of the squared weights."""
        return float(len(self)) if self.weight is None else float((np.delete(self.weight, self._in_memory) ** 2).sum())

    def reduce(self, work: Callable[[Piece], T], combine: Callable[[T, T], T], stage: str) -> T:
        """Apply the work to every piece and return the combined results; earlier rows are the first argument."""
        size = parallel.block_rows(8 * _COPIES * self.source.shape[1], self.resources.memory_budget)
        parts = [part for rows in self.source.parts(size) if len(part := self._part(rows))]
        values = _values(self.source, parts)
        job = _Fold(work, combine, size, self.source if values is None else None)
        pieces = sum(-(-(part.rows.stop - part.rows.start) // size) for part in parts)
        return self._executor.fold(job, zip(parts, values or [None] * len(parts), strict=True), stage, pieces)

    def moments(self, place: Callable[[Array], Floats]) -> WeightedMoments:
        """Return the moments of the rows in other coordinates."""
        return self.reduce(_MomentsOf(place), WeightedMoments.plus, "moments")

    @lazy
    def look(self) -> Look:
        """A first look at all rows."""
        return self.reduce(_look_at, Look.plus, "first look")

    def check(self) -> None:
        """Raise if some entry is not finite."""
        if self.look.place is not None:
            raise not_finite(self.name, self.source.names, self.look.place, self.look.value, self.look.entries)

    def draw(self, most: int, random: np.random.Generator) -> Ints:
        """Return sorted indices of at most `most` random rows; rows of weight zero are drawn only if all rows are."""
        if len(self) <= most:
            return np.arange(len(self))
        rows: Any = len(self) if self.weight is None else np.flatnonzero(self.weight)
        count = min(most, rows if isinstance(rows, int) else len(rows))
        return np.sort(random.choice(rows, count, replace=False, shuffle=False))

    def without(self, rows: Ints) -> "Stream":
        """Return the stream without some rows, which are in memory."""
        return replace(self, in_memory=rows)

    @property
    def _executor(self) -> Executor:
        return DASK if isinstance(self.source, DaskRows) else self.resources.executor

    @property
    def _in_memory(self) -> Ints:
        return np.arange(0) if self.in_memory is None else self.in_memory

    def _part(self, rows: slice) -> "_Part":
        first, last = np.searchsorted(self._in_memory, (rows.start, rows.stop))
        weight = None if self.weight is None else self.weight[rows]
        return _Part(rows, self._in_memory[first:last] - rows.start, weight)


def open_pair(numerator: Any, denominator: Any, resources: Resources) -> tuple[Stream, Stream]:
    """Return both samples as streams with the same columns."""
    p, q = open_source(numerator, "numerator"), open_source(denominator, "denominator")
    names = check_columns(q.shape[1], q.names, "denominator", (p.shape[1], p.names, "numerator"))
    for source, name in ((p, "numerator"), (q, "denominator")):
        check_two_rows(source.shape[0], name)
    return (
        Stream(p, "numerator", resources),
        Stream(in_order_of(q, names), "denominator", resources),
    )


@dataclass(frozen=True)
class _Part:
    """A range of rows, the positions in it of the rows that are in memory, and the weights."""

    rows: slice
    in_memory: Ints
    weight: Floats | None

    def __len__(self) -> int:
        return self.rows.stop - self.rows.start - len(self.in_memory)

    def pieces(self, arrays: Iterable[Array]) -> Iterator[Piece]:
        start = 0
        for values in arrays:
            stop = start + len(values)
            kept = np.ones(len(values), dtype=bool)
            kept[self.in_memory[slice(*np.searchsorted(self.in_memory, (start, stop)))] - start] = False
            weight = np.ones(len(values)) if self.weight is None else self.weight[start:stop]
            if kept.any():
                yield Piece(self.rows.start + start, values if kept.all() else values[kept], weight[kept])
            start = stop


def _values(source: Source, parts: list[_Part]) -> list[Any] | None:
    """Return the rows of each part if they are sent with the work; None if the source is sent instead."""
    if isinstance(source, DaskRows):
        chunks = dict(zip([rows.start for rows in source.parts(1)], source.blocks, strict=True))
        return [chunks[part.rows.start] for part in parts]
    if isinstance(source, ArrayRows):
        return [source.values[part.rows] for part in parts]
    return None


@dataclass(frozen=True)
class _Fold(Generic[T]):
    """A fold that can be sent to workers: the work on a piece, how to combine results, the piece size, the source."""

    work: Callable[[Piece], T]
    combine: Callable[[T, T], T]
    size: int
    source: Source | None

    def results(self, part: _Part, values: Any) -> Iterator[T]:
        """Yield the result of each piece of a part, read from the source or, without one, from `values`."""
        if self.source is None:
            arrays = ArrayRows(values).pieces(slice(0, len(values)), self.size)
        else:
            arrays = self.source.pieces(part.rows, self.size)
        return map(self.work, part.pieces(arrays))


@dataclass(frozen=True)
class _MomentsOf:
    place: Callable[[Array], Floats]

    def __call__(self, piece: Piece) -> WeightedMoments:
        weight = float(piece.weight.sum())
        x = self.place(piece.values)
        if weight == 0:
            return WeightedMoments(0.0, x[0], np.zeros((x.shape[1], x.shape[1])))
        return WeightedMoments(weight, *moments_of(x, piece.weight))


def _look_at(piece: Piece) -> Look:
    largest = np.abs(piece.values).max(axis=0).astype(np.float64)
    if np.isfinite(largest).all():
        return Look(largest, None, 0.0, 0)
    bad = ~np.isfinite(piece.values)
    row, column = (int(index) for index in np.argwhere(bad)[0])
    return Look(largest, (piece.first + row, column), float(piece.values[row, column]), int(np.count_nonzero(bad)))
