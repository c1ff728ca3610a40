"""Exact copies of rows inside a sample: whether they are repeats of one observation, or ties of discrete data.

A repeated observation tells nothing new, but a row that is left out of its own estimate still meets its copies there,
and the sample looks denser at its own rows than it is. So repeats become one row with the summed weight. Ties of
discrete data are different observations that happen to be equal, and stay. Three signs tell them apart, all by counting
pairs of equal rows:

- in discrete data, equal pairs are about as frequent between the samples as within them;
- in data on a lattice (integers, rounded numbers), pairs that differ by one step in one column are about as frequent as
  equal pairs. This also works if the samples hardly overlap;
- if distinct rows often agree in each of several columns, columns that agree at the same time make rows equal. Rows of
  common values only are also looked at alone, such as those in which all measurements are missing.

One is enough: ties that were taken for repeats would bias the estimate. Where there are ties, the multiplicities of the
values may still show copies among them; see `multiplicities`. They do not if the rows are a factorial design: all
combinations of the columns' values, equally often.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtrc

from vwkde._compute import parallel
from vwkde._data.merging import Merging, merge_into
from vwkde._data.multiplicities import are_balanced, find_copying
from vwkde._data.validation import Array

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_RARE, _FREQUENT = 0.3, 4.0
"""Frequencies of equal pairs between the samples, relative to those within, that discrete data have. They are lower if
rows were copied, and higher if one sample is a part of the other."""
_EXPLAINED, _SURPRISE = 0.3, 0.01
"""Share of equal pairs that independent columns must give to explain them, as columns mostly are not independent, and
the probability below which more pairs than that are no chance."""
_STEPS = 0.3
"""Frequency of pairs one step apart in a given direction, relative to equal pairs, from which a lattice explains the
latter."""
_EVEN = 0.01
"""How far from a whole number of steps a value may be, for rounding."""
_MOST_STEPS = 1e9
"""Steps between the smallest and the largest value beyond which rounding hides them."""
_MANY = 100_000
"""Values among which a step that is too small is looked for first."""
_ATOM, _MOST_COPIES = 0.05, 10
"""A value with more than this share of the rows, and more than this many rows, is an atom of the distribution."""


@dataclass(frozen=True)
class Distinct:
    """The distinct rows of a sample: their values, first places and numbers of copies, and that behind each row.

    `elsewhere` says which are atoms of another sample; None if no other one is known.
    """

    values: Array
    first: Ints
    counts: Ints
    behind: Ints
    elsewhere: NDArray[np.bool_] | None = None

    @property
    def atoms(self) -> NDArray[np.bool_]:
        """Which distinct rows are atoms, here or elsewhere: they are never repeats, and do not count as copies."""
        here = self.counts > _atom_size(len(self.behind))
        return here if self.elsewhere is None else here | self.elsewhere

    def beside(self, other: "Distinct") -> "Distinct":
        """Return the same rows, of which those that are atoms of another sample are atoms, however rare they are."""
        elsewhere = np.zeros(len(self.values), dtype=bool)
        for value in other.values[other.atoms]:
            elsewhere |= (self.values == value).all(axis=1)
        return replace(self, elsewhere=elsewhere)

    @property
    def copied(self) -> NDArray[np.bool_]:
        """Which distinct rows have copies."""
        return (self.counts > 1) & ~self.atoms

    @property
    def equal_pairs(self) -> float:
        """The number of pairs of equal rows."""
        counts = self.counts[self.copied].astype(np.float64)
        return float((counts * (counts - 1)).sum() / 2)

    @property
    def frequency(self) -> float:
        """The share of equal pairs among all pairs; half a pair is added, so that it is never zero."""
        rows = len(self.behind)
        return (self.equal_pairs + 0.5) / (0.5 * rows * (rows - 1))


def _atom_size(rows: int) -> float:
    return max(_MOST_COPIES, _ATOM * rows)


def find_distinct(x: Array) -> Distinct:
    """Return the distinct rows of a sample."""
    if _differ_for_sure(x):
        every = np.arange(len(x))
        return Distinct(x, every, np.ones(len(x), dtype=np.intp), every)
    _, first, behind, counts = np.unique(_items(x + 0.0), return_index=True, return_inverse=True, return_counts=True)
    return Distinct(x[first], first, counts, behind.ravel())


def _differ_for_sure(x: Array) -> bool:
    """Return whether all rows have different hashes: this is much faster than to sort the rows themselves."""
    if x.dtype.itemsize not in (4, 8):
        return False
    kind = np.dtype(np.uint64 if x.dtype.itemsize == 8 else np.uint32)
    factors = 2 * np.random.default_rng(0).integers(2**63, size=(x.shape[1],), dtype=np.uint64) + 1
    hashes = np.empty(len(x), dtype=np.uint64)

    def work(rows: slice) -> None:
        bits: NDArray[Any] = np.ascontiguousarray(x[rows] + 0.0).view(kind)
        hashes[rows] = bits @ factors  # products and sums of these integers wrap around

    parallel.run_over_rows(work, len(x), parallel.rows_at_a_time(x.shape[1]))
    hashes.sort()
    return bool((hashes[1:] != hashes[:-1]).all())


def merge_repeats(own: Distinct, other: Distinct) -> Merging | None:
    """Return how repeats become weights, given the other sample of the pair; None if there are none."""
    own, other = own.beside(other), other.beside(own)
    if not own.copied.any() or _is_factorial(own):
        return None
    if _is_on_lattice(own) or _is_like_chance(own, other) or _is_explained_by_columns(own, own.values):
        copying = find_copying(own.counts)
        originals = own.counts if copying is None else copying.originals_behind(own.counts)
    else:
        originals = np.where(own.atoms | _are_ties_of_common_values(own), own.counts, 1)
    return _merge_down_to(originals, own) if 1 < originals.sum() < len(own.behind) else None


def _is_factorial(rows: Distinct) -> bool:
    """Return whether all combinations of the values of several columns occur, equally often."""
    levels = np.array([len(np.unique(column)) for column in rows.values.T], dtype=np.float64)
    crossed = np.count_nonzero(levels > 1) > 1 and levels.prod() == len(rows.values)
    return bool(crossed and are_balanced(rows.counts))


def _merge_down_to(originals: Ints, rows: Distinct) -> Merging:
    """Return the merging that leaves so many of the rows with each value, with weights as even as possible."""
    order = np.argsort(rows.behind, kind="stable")
    start = np.cumsum(rows.counts) - rows.counts
    behind = rows.behind[order]
    place = (np.arange(len(order)) - start[behind]) * originals[behind] // rows.counts[behind]
    _, first, target = np.unique(np.column_stack([behind, place]), axis=0, return_index=True, return_inverse=True)
    kept = np.sort(order[first])
    number = np.searchsorted(kept, order[first])[target.ravel()]
    return merge_into(kept, number[np.argsort(order)])


def _is_like_chance(own: Distinct, other: Distinct) -> bool:
    """Return whether equal pairs are about as frequent between the samples as within them."""
    _, place = np.unique(_items(np.concatenate([own.values, other.values]) + 0.0), return_inverse=True)
    places = np.split(place.ravel(), [len(own.counts)])
    counts = [
        np.bincount(at, weights=np.where(each.atoms, 0, each.counts), minlength=len(place))
        for at, each in zip(places, (own, other), strict=True)
    ]
    between = (counts[0] @ counts[1] + 0.5) / (len(own.behind) * len(other.behind))
    return bool(_RARE < between / np.sqrt(own.frequency * other.frequency) < _FREQUENT)


def _is_explained_by_columns(rows: Distinct, values: Array) -> bool:
    """Return whether rows, distinct ones or all, agree in each column so often that some agree in all columns."""
    counts = [np.unique(column, return_counts=True)[1] for column in values.T]
    agreeing = np.prod([(count * (count - 1)).sum() / len(values) ** 2 for count in counts])
    expected = agreeing * 0.5 * len(rows.behind) ** 2
    return bool(rows.equal_pairs < 1 or pdtrc(rows.equal_pairs - 1, expected / _EXPLAINED) > _SURPRISE)


def _are_ties_of_common_values(rows: Distinct) -> NDArray[np.bool_]:
    """Return which distinct rows have common values only, if their columns explain how often these are equal.

    Such are the rows without a value where one is missing, which are discrete although the others are not.
    """
    common = np.ones(len(rows.values), dtype=bool)
    for column in rows.values.T:
        _, place = np.unique(column, return_inverse=True)
        common &= (np.bincount(place, weights=rows.counts) > _atom_size(len(rows.behind)))[place]
    counts = rows.counts[common]
    part = Distinct(rows.values[common], rows.first[common], counts, np.repeat(np.arange(len(counts)), counts))
    # all rows, not distinct ones: few combinations may have been drawn many times each
    return common & (len(counts) > 0 and _is_explained_by_columns(part, part.values[part.behind]))


def _is_on_lattice(rows: Distinct) -> bool:
    """Return whether pairs that differ by one step, in one column only, are about as frequent as equal pairs."""
    in_steps = [in_steps_of(column) for column in rows.values.T]
    codes = np.column_stack([code for code, _ in in_steps])
    even = [column for column, (_, is_even) in enumerate(in_steps) if is_even]
    apart = sum(_pairs_one_apart(codes, rows.counts, column) for column in even)
    return bool(even) and apart >= _STEPS * 2 * len(even) * rows.equal_pairs


def in_steps_of(column: Array) -> tuple[Ints, bool]:
    """Return a column as whole numbers of its smallest step, or as ranks, and whether all its steps are whole."""
    values, place = np.unique(column.astype(np.float64), return_inverse=True)
    whole = _whole_steps(values)
    return (np.arange(len(values)) if whole is None else whole)[place.ravel()], whole is not None


def has_even_steps(column: Array) -> bool:
    """Return whether the steps between the values of a column are whole numbers of the smallest one.

    Some values may show that there would be too many steps: among more values the smallest step is no larger.
    """
    some = np.unique(column[:: max(1, len(column) // _MANY)].astype(np.float64))
    if _span_in_steps(some) >= _MOST_STEPS:
        return False
    return _whole_steps(np.unique(column.astype(np.float64))) is not None


def _whole_steps(values: Floats) -> Ints | None:
    """Return increasing values as whole numbers of the smallest step between them; None if they are not."""
    if len(values) < 2 or _span_in_steps(values) >= _MOST_STEPS:
        return None
    steps = (values - values[0]) / np.diff(values).min()
    whole = np.round(steps)
    return whole.astype(np.intp) if (np.abs(steps - whole) < _EVEN).all() else None


def _span_in_steps(values: Floats) -> float:
    return float((values[-1] - values[0]) / np.diff(values).min()) if len(values) > 1 else 0.0


def _pairs_one_apart(codes: Ints, counts: Ints, column: int) -> float:
    """Return the number of pairs of rows that differ by one step in a column, and agree in the others."""
    moved = codes.copy()
    moved[:, column] += 1
    items, wanted = _items(codes), _items(moved)
    order = np.argsort(items)
    match = order[np.minimum(np.searchsorted(items[order], wanted), len(items) - 1)]
    return float((counts * counts[match])[items[match] == wanted].sum())


def _items(x: NDArray[Any]) -> NDArray[np.void]:
    """Return rows as single items that can be sorted and compared."""
    x = np.ascontiguousarray(x)
    return x.view(np.dtype((np.void, x.dtype.itemsize * x.shape[1]))).ravel()
