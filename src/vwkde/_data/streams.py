"""Passes over rows that live elsewhere: work on each piece, results combined two by two.

Everything that needs all rows is such a fold: whether they are finite, their moments, the normal equations of a weight,
kernel sums. The executor runs it: here, piece after piece, or as Dask tasks, one for each part of the rows. Rows of a
Dask array are always Dask's.
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
from vwkde._data.validation import Array, check_columns, not_finite
from vwkde._runtime.lazy import lazy

T = TypeVar("T")
Floats = NDArray[np.float64]

_COPIES = 64
"""How often a piece may be held at once, as doubles: work on it makes wider arrays, such as all products of columns."""


class Piece(NamedTuple):
    """Some consecutive rows, less those that are held in memory, and their weights."""

    first: int
    values: Array
    weight: Floats


class Look(NamedTuple):
    """What a first look tells: the largest absolute values, and the first entry that is not finite, if any."""

    largest: Floats
    place: tuple[int, int] | None
    value: float
    entries: int

    def plus(self, other: "Look") -> "Look":
        """Return what is known of both together, `self` being the earlier rows."""
        largest = np.maximum(self.largest, other.largest)
        place, value = (self.place, self.value) if self.place else (other.place, other.value)
        return Look(largest, place, value, self.entries + other.entries)


@dataclass(frozen=True)
class Stream:
    """The rows of a source with their weights, of mean one, less the rows that are held in memory."""

    source: Source
    name: str
    resources: Resources
    weight: Floats | None = None
    held: Ints | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return self.source.shape[0] - (0 if self.held is None else len(self.held))

    @property
    def total_weight(self) -> float:
        """The sum of the weights."""
        return float(len(self)) if self.weight is None else float(np.delete(self.weight, self._held).sum())

    @property
    def total_squared_weight(self) -> float:
        """The sum of the squared weights."""
        return float(len(self)) if self.weight is None else float((np.delete(self.weight, self._held) ** 2).sum())

    def reduce(self, work: Callable[[Piece], T], combine: Callable[[T, T], T], stage: str) -> T:
        """Return the combined results of the work on every piece; the earlier rows are the first argument."""
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
        """Return the numbers of at most so many rows, at random, in ascending order; those of no weight only if all."""
        if len(self) <= most:
            return np.arange(len(self))
        rows: Any = len(self) if self.weight is None else np.flatnonzero(self.weight)
        count = min(most, rows if isinstance(rows, int) else len(rows))
        return np.sort(random.choice(rows, count, replace=False, shuffle=False))

    def without(self, held: Ints) -> "Stream":
        """Return the stream less some rows, which are held in memory."""
        return replace(self, held=held)

    @property
    def _executor(self) -> Executor:
        return DASK if isinstance(self.source, DaskRows) else self.resources.executor

    @property
    def _held(self) -> Ints:
        return np.arange(0) if self.held is None else self.held

    def _part(self, rows: slice) -> "_Part":
        first, last = np.searchsorted(self._held, (rows.start, rows.stop))
        weight = None if self.weight is None else self.weight[rows]
        return _Part(rows, self._held[first:last] - rows.start, weight)


def open_pair(numerator: Any, denominator: Any, resources: Resources) -> tuple[Stream, Stream]:
    """Return both samples as streams with the same columns."""
    p, q = open_source(numerator, "numerator"), open_source(denominator, "denominator")
    names = check_columns(q.shape[1], q.names, "denominator", (p.shape[1], p.names, "numerator"))
    for source, name in ((p, "numerator"), (q, "denominator")):
        if source.shape[0] < 2:
            raise ValueError(f"The {name} has 1 row; at least 2 are needed to estimate a density. Give more rows.")
    return (
        Stream(p, "numerator", resources),
        Stream(in_order_of(q, names), "denominator", resources),
    )


@dataclass(frozen=True)
class _Part:
    """A range of rows: which of them, counted from its start, are held in memory, and their weights."""

    rows: slice
    held: Ints
    weight: Floats | None

    def __len__(self) -> int:
        return self.rows.stop - self.rows.start - len(self.held)

    def pieces(self, arrays: Iterable[Array]) -> Iterator[Piece]:
        start = 0
        for values in arrays:
            stop = start + len(values)
            kept = np.ones(len(values), dtype=bool)
            kept[self.held[slice(*np.searchsorted(self.held, (start, stop)))] - start] = False
            weight = np.ones(len(values)) if self.weight is None else self.weight[start:stop]
            if kept.any():
                yield Piece(self.rows.start + start, values if kept.all() else values[kept], weight[kept])
            start = stop


def _values(source: Source, parts: list[_Part]) -> list[Any] | None:
    """Return the rows of parts as they travel with the work on them; None where the source itself does."""
    if isinstance(source, DaskRows):
        chunks = dict(zip([rows.start for rows in source.parts(1)], source.blocks, strict=True))
        return [chunks[part.rows.start] for part in parts]
    if isinstance(source, ArrayRows):
        return [source.values[part.rows] for part in parts]
    return None


@dataclass(frozen=True)
class _Fold(Generic[T]):
    """A fold as it travels: what to do with a piece, how to combine results, how large a piece is, where rows are."""

    work: Callable[[Piece], T]
    combine: Callable[[T, T], T]
    size: int
    source: Source | None

    def results(self, part: _Part, values: Any) -> Iterator[T]:
        """Yield what each piece of a part gives: a range of the source, or without one, these rows."""
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
