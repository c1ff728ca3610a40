"""Which rows of the samples are kept in memory: all rows of arrays, some rows of files and Dask collections."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vwkde._compute.resources import Resources
from vwkde._data.clouds import Cloud, InMemory, StreamCloud
from vwkde._data.copies import find_distinct, merge_repeats
from vwkde._data.frames import frame_of_numbers
from vwkde._data.groups import Pair as Groups
from vwkde._data.groups import check_group_pair
from vwkde._data.intake import Layout, check_pair
from vwkde._data.merging import Merging
from vwkde._data.mixed_files import are_mixed, fit_in_memory, open_encoded
from vwkde._data.reading import PLAIN, Reading
from vwkde._data.sample import Rest
from vwkde._data.sources import Ints
from vwkde._data.streams import Stream, open_pair
from vwkde._data.validation import Array, Names, check_weight

Floats = NDArray[np.float64]
Mergings = tuple[Merging | None, Merging | None]


class Absent(NamedTuple):
    """Which of the given rows have a positive weight, and the rows that have none, which count nowhere."""

    counted: NDArray[np.bool_]
    rows: Array

    def among(self, values: Floats, at_others: Floats | float) -> Floats:
        """Return one value per given row from those at the rows that count and those at the others."""
        result = np.empty(len(self.counted))
        result[self.counted], result[~self.counted] = values, at_others
        return result


@dataclass(frozen=True)
class Held:
    """The rows of both samples that are in memory, their weights (mean one), and the column names.

    `layout` is what new rows must look like. If some rows are not in memory, `streams` cover all rows, and
    `rows` are the indices of those in memory. Rows may belong to `groups`, by number. Rows that repeat others are not
    here, but in the weights; `mergings` lead back, and `given_weights` are those of all rows. Rows of weight zero are
    not here either, but in `absent`.
    """

    data: tuple[Array, Array]
    weights: tuple[Floats, Floats]
    names: Names
    layout: Layout
    streams: tuple[Stream, Stream] | None = None
    rows: tuple[Ints, Ints] | None = None
    groups: Groups = (None, None)
    mergings: Mergings = (None, None)
    given_weights: tuple[Floats, Floats] | None = None
    absent: tuple[Absent | None, Absent | None] = (None, None)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the kernel sums."""
        return np.result_type(*self.data)

    @property
    def clouds(self) -> tuple[Cloud, Cloud]:
        """All rows of both samples, as whitening sees them."""
        (p, q), (p_weight, q_weight) = self.data, self.weights
        if self.streams is None:
            return InMemory(p, p_weight), InMemory(q, q_weight)
        return StreamCloud(self.streams[0], p), StreamCloud(self.streams[1], q)

    def rests(self, coordinates: Callable[[Array], Floats]) -> list[Rest | None]:
        """Return, for each sample, the rows that are not in memory in these coordinates, or None."""
        if self.streams is None or self.rows is None:
            return [None, None]
        parts = [stream.without(rows) for stream, rows in zip(self.streams, self.rows, strict=True)]
        return [Rest(stream, coordinates) if len(stream) else None for stream in parts]

    def given_rows(self, side: int) -> Ints:
        """Return the numbers of the rows here among those that were given, as long as none were merged."""
        absent = self.absent[side]
        if self.rows is not None:
            return self.rows[side]
        return np.arange(len(self.data[side])) if absent is None else np.flatnonzero(absent.counted)

    def merged(self, mergings: Mergings) -> "Held":
        """Return the same with rows merged; None leaves a sample as it is."""
        sides = zip(self.data, self.weights, self.mergings, mergings, strict=True)
        p, q = (_merged(*side) for side in sides)
        given = self.given_weights or self.weights
        return replace(self, data=(p[0], q[0]), weights=(p[1], q[1]), mergings=(p[2], q[2]), given_weights=given)

    def spread(self, side: int, weight: Floats) -> Floats:
        """Return one weight per row that was given, with the same sums, from one weight per row here."""
        merging, given, absent = self.mergings[side], self.given_weights, self.absent[side]
        spread = weight if merging is None or given is None else merging.spread(weight, given[side])
        return spread if absent is None else absent.among(spread, 0.0)

    def part(self, rows: tuple[Ints, Ints]) -> dict[str, Any]:
        """Return some rows of both samples, with their weights and groups, as the arguments of a fit."""
        (p, q), (p_weight, q_weight), (p_group, q_group) = self.data, self.weights, self.groups
        return {
            "numerator": p[rows[0]],
            "denominator": q[rows[1]],
            "numerator_weight": p_weight[rows[0]],
            "denominator_weight": q_weight[rows[1]],
            "groups": (None if p_group is None else p_group[rows[0]], None if q_group is None else q_group[rows[1]]),
        }

    def expanded(self, side: int, values: Floats) -> Floats:
        """Return one value per row that was given with a positive weight, from one value per row here."""
        merging = self.mergings[side]
        return values if merging is None else merging.expand(values)


def _merged(
    x: Array, weight: Floats, before: Merging | None, merging: Merging | None
) -> tuple[Array, Floats, Merging | None]:
    if merging is None:
        return x, weight, before
    return x[merging.kept], merging.weight(weight), before.then(merging) if before else merging


def hold_all(
    numerator: Any, denominator: Any, weights: tuple[Any, Any], groups: Any = None, reading: Reading = PLAIN
) -> Held:
    """Check two samples that are in memory and return all their rows of positive weight."""
    pair = check_pair(numerator, denominator, reading)
    p, q = pair.numerator, pair.denominator
    p_weight = check_weight(weights[0], len(p), "numerator_weight")
    q_weight = check_weight(weights[1], len(q), "denominator_weight")
    p_group, q_group = check_group_pair(groups, (p_weight, q_weight), "fit")
    one, other = _with_weight(p, p_weight, p_group), _with_weight(q, q_weight, q_group)
    return Held(
        data=(one.values, other.values),
        weights=(one.weight, other.weight),
        names=pair.layout.names,
        layout=pair.layout,
        groups=(one.group, other.group),
        absent=(one.absent, other.absent),
    )


class _InMemory(NamedTuple):
    values: Array
    weight: Floats
    group: Ints | None
    absent: Absent | None


def _with_weight(x: Array, weight: Floats, group: Ints | None) -> _InMemory:
    """Return the rows of positive weight, and apart from them the others, if any."""
    counted = weight > 0
    if counted.all():
        return _InMemory(x, weight, group, None)
    positive = weight[counted]
    group = None if group is None else group[counted]
    return _InMemory(x[counted], positive / positive.mean(), group, Absent(counted, x[~counted]))


def without_repeats(held: Held) -> Held:
    """Return the same with exact repeats of rows turned into weights, in samples without groups."""
    if held.streams is not None:
        return held
    distinct = [find_distinct(x) for x in held.data]
    p, q = (
        merge_repeats(own, other) if group is None else None
        for own, other, group in zip(distinct, distinct[::-1], held.groups, strict=True)
    )
    return held.merged((p, q))


def hold_some(
    numerator: Any,
    denominator: Any,
    weights: tuple[Any, Any],
    most: int,
    seed: int,
    resources: Resources,
    reading: Reading = PLAIN,
) -> Held:
    """Return at most `most` randomly drawn rows of each sample, for samples in files or on a Dask cluster.

    Small samples are read completely and treated like arrays.
    """
    samples = {"numerator": numerator, "denominator": denominator}
    if are_mixed(samples, reading):
        if fit_in_memory(samples, most):
            return hold_all(numerator, denominator, weights, reading=reading)
        (p, q), layout = open_encoded(samples, reading)
        streams = Stream(p, "numerator", resources), Stream(q, "denominator", resources)
    else:
        streams = open_pair(numerator, denominator, resources)
        names = streams[0].source.names or streams[1].source.names
        if max(map(len, streams)) <= most:
            one, other = (frame_of_numbers(stream.source.take(np.arange(len(stream))), names) for stream in streams)
            return hold_all(one, other, weights, reading=reading)
        layout = Layout(names, streams[0].source.shape[1])
    return _hold_both(streams, weights, layout, most, seed)


def _hold_both(streams: tuple[Stream, Stream], weights: tuple[Any, Any], layout: Layout, most: int, seed: int) -> Held:
    random = np.random.default_rng(seed)
    one, other = (_hold(stream, weight, most, random) for stream, weight in zip(streams, weights, strict=True))
    return Held(
        data=(one.values, other.values),
        weights=(one.weight, other.weight),
        names=layout.names,
        layout=layout,
        streams=(one.stream, other.stream),
        rows=(one.rows, other.rows),
    )


class _Side(NamedTuple):
    values: Array
    weight: Floats
    stream: Stream
    rows: Ints


def _hold(stream: Stream, weight: Any, most: int, random: np.random.Generator) -> _Side:
    """Return some rows with their weights (mean one), and the stream with its weights on the same scale."""
    if weight is not None:
        stream = replace(stream, weight=check_weight(weight, len(stream), f"{stream.name}_weight"))
    rows = stream.draw(most, random)
    if stream.weight is not None:
        stream = replace(stream, weight=stream.weight / stream.weight[rows].mean())
    stream.check()
    row_weight = np.ones(len(rows)) if stream.weight is None else stream.weight[rows]
    return _Side(stream.source.take(rows), row_weight, stream, rows)
