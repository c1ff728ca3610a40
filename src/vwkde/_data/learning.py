"""What is learnt from samples about their columns: which to use, and how they become numbers."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from vwkde._data.encoding import Category, Column, Encoding, Number, Pools
from vwkde._data.exclusive import only_in
from vwkde._data.frames import subject
from vwkde._data.kinds import CATEGORY, DATE
from vwkde._data.labels import is_called_id
from vwkde._data.reading import FEW_LEVELS, Reading
from vwkde._data.tallies import ColumnError, Tally, tally
from vwkde._runtime.warn import warn
from vwkde.exceptions import DegenerateDataWarning, OverlapWarning

if TYPE_CHECKING:
    import pyarrow as pa

_EXPECTED, _SMALL_SHARE = 5.0, 0.05
"""A level is rare if some sample would have fewer rows of it than this, were the shares equal in all samples, so that
it may be absent there by chance, and if it has a smaller share than this of all rows."""
_ENOUGH = 20.0
"""Rows that the smaller sample would have of a level beyond the first few, if it has a column: each costs time."""
_LARGE_SHARE = 0.05
"""Share of rare levels among a sample's rows from which there is a warning."""
_FEW_ROWS = 20
"""Rows up to which different texts in all of them are no sign of names or ids."""
_MOST_NAMED = 3


@dataclass(frozen=True)
class Tallied:
    """A sample, by name, and what each of its columns shows."""

    sample: str
    columns: dict[str, Tally]

    def plus(self, other: "Tallied") -> "Tallied":
        """Return what both pieces of the sample show."""
        return Tallied(self.sample, {name: each.plus(other.columns[name], name) for name, each in self.columns.items()})

    def renamed(self, pools: dict[str, Pools]) -> "Tallied":
        """Return the sample with the names of pools in place of their levels."""
        names = {column: {level: name for name, levels in each for level in levels} for column, each in pools.items()}
        return Tallied(
            self.sample,
            {name: each.renamed(names[name]) if names.get(name) else each for name, each in self.columns.items()},
        )


@dataclass(frozen=True)
class Learnt:
    """How to encode the columns that are used, and the names of those that are not."""

    encoding: Encoding
    left_out: tuple[str, ...]


def tally_table(table: "pa.Table", sample: str) -> Tallied:
    """Return what each column of a table shows."""
    pairs = zip(table.column_names, table.columns, strict=True)
    return Tallied(sample, {name: tally(column, name, sample) for name, column in pairs})


def learn(samples: Sequence[Tallied], reading: Reading, chosen: bool = False) -> Learnt:
    """Return how the columns of all samples become numbers.

    Texts that differ in most rows, or are all rare, are left out, as names and ids are, unless the columns were
    `chosen`. Rare levels that only one of two samples has are one level if chance does not explain them; the others of
    a category are joined if there are two samples to compare, and all levels stay apart if there is only one.
    """
    together = _together(samples)
    dates = [name for name, each in together.items() if each.kind == DATE]
    if dates and reading.dates == "refuse":
        raise _dates_refused(dates, together)
    dropped = dates if reading.dates == "drop" else []
    used = [name for name in together if name not in dropped]
    if reading.missing == "refuse":
        for sample in samples:
            refuse_missing(sample.sample, {name: sample.columns[name].missing for name in used})
    categories = [name for name in used if together[name].kind == CATEGORY]
    differing = [name for name in categories if _differ_in_most_rows(name, samples)]
    pools = {name: _pools(name, samples, reading) for name in categories if name not in differing}
    counted = [sample.renamed(pools) for sample in samples]
    texts = [name for name in categories if name in differing or _are_all_rare(name, counted)]
    if texts:
        _report_texts(texts, together, chosen or len(texts) == len(used))
    if not used:
        raise ColumnError("No column is left: all hold dates or times. Give dates='number' to use them as numbers.")
    kept = [name for name in used if name not in texts]
    whole = _together(counted)
    wide = sum(len(whole[name].levels) > FEW_LEVELS for name in kept)
    most = max(FEW_LEVELS, reading.most_levels // max(1, wide))
    columns = [_column(name, counted, whole[name], most, pools.get(name, ())) for name in kept]
    return Learnt(Encoding(tuple(columns)), (*dropped, *texts))


def _together(samples: Sequence[Tallied]) -> dict[str, Tally]:
    """Return what each column shows in all samples together."""
    return {
        name: reduce(lambda one, other: one.plus(other, name), (sample.columns[name] for sample in samples))
        for name in samples[0].columns
    }


def refuse_missing(sample: str, missing: dict[str, int]) -> None:
    """Raise if values are missing, by the number of them in each column."""
    gaps = {name: count for name, count in missing.items() if count}
    if not gaps:
        return
    listed = ", ".join(f"{count} in column {name!r}" for name, count in list(gaps.items())[:_MOST_NAMED])
    more = f" and others in {len(gaps) - _MOST_NAMED} more columns" if len(gaps) > _MOST_NAMED else ""
    raise ColumnError(
        f"{subject(sample)} must have no missing values. Got {listed}{more}; give missing='indicator' to use them as "
        f"information, drop those rows, or fill them in."
    )


def _dates_refused(names: list[str], together: dict[str, Tally]) -> ColumnError:
    listed = ", ".join(f"{name!r} ({together[name].data_type})" for name in names[:_MOST_NAMED])
    return ColumnError(
        f"The samples must hold numbers, true and false, or categories. Got dates or times in column {listed} instead; "
        f"give dates='number' to use them as numbers, or dates='drop' to leave them out."
    )


def _differ_in_most_rows(name: str, samples: Sequence[Tallied]) -> bool:
    """Return whether a column has another text in most rows of each sample: names, ids, remarks."""
    columns = [sample.columns[name] for sample in samples]
    distinct = all(each.present > _FEW_ROWS and each.distinct > each.present / 2 for each in columns)
    return distinct or any(each.texts for each in columns)


def _are_all_rare(name: str, samples: Sequence[Tallied]) -> bool:
    """Return whether no level of a column has enough rows to be compared."""
    levels = [sample.columns[name].levels for sample in samples]
    return any(levels) and not _by_frequency(levels)[0]


def _pools(name: str, samples: Sequence[Tallied], reading: Reading) -> Pools:
    """Return the rare levels that only one of two samples has, if these are too many for chance and no ids."""
    if len(samples) != 2 or reading.grouped or is_called_id(name):
        return ()
    p, q = (sample.columns[name].levels for sample in samples)
    rare = _by_frequency([p, q])[1] if p and q else []
    found = [only_in(p, q, rare), only_in(q, p, rare)]
    return tuple(
        (f"({len(levels)} levels only in the {sample.sample})", levels)
        for levels, sample in zip(found, samples, strict=True)
        if levels
    )


def _report_texts(names: list[str], together: dict[str, Tally], must_be_used: bool) -> None:
    listed = ", ".join(f"{name!r} ({together[name].distinct} in {together[name].present} rows)" for name in names)
    if must_be_used:
        raise ColumnError(
            f"Categories must have few levels for their rows. Got too many different texts, as names and ids are, in "
            f"{listed}; drop these columns, or turn them into categories, numbers or dates."
        )
    warn(
        f"Columns with too many different texts to compare, as names and ids are, were left out: {listed}. To use "
        f"them, turn them into categories, numbers or dates.",
        DegenerateDataWarning,
    )


def _column(name: str, samples: Sequence[Tallied], whole: Tally, most: int, pools: Pools) -> Column:
    gaps, rows = bool(whole.missing), [sample.columns[name].rows for sample in samples]
    marks = len(samples) == 1 or not _is_rare(whole.missing, rows)
    if whole.kind != CATEGORY:
        return Number(name, whole.kind, whole.middle if gaps else None, marks, whole.single)
    counts = [sample.columns[name].levels for sample in samples]
    frequent, rare = _by_frequency(counts, most)
    if len(samples) == 1:
        return Category(name, (*frequent, *rare), may_be_missing=gaps, apart=len(whole.levels) <= FEW_LEVELS)
    _report_absent(name, frequent, samples)
    if _is_rare(sum(whole.levels[level] for level in rare), rows):
        return Category(name, tuple(frequent), tuple(rare), may_be_missing=gaps, marks=marks, pools=pools)
    coarse = _report_rare(name, rare, counts)
    levels = tuple(frequent)
    return Category(name, levels, (), bool(rare), may_be_missing=gaps, marks=marks, coarse=coarse, pools=pools)


def _by_frequency(counts: list[Counter[str]], most: int = FEW_LEVELS) -> tuple[list[str], list[str]]:
    """Return the levels, the most frequent first, and apart from them those that are rare, or beyond the most."""
    together = sum(counts, Counter())
    order = sorted(together, key=lambda level: (-together[level], level))
    rows = [each.total() for each in counts]
    share = min(rows) / max(1, sum(rows))
    few = [level for level in order[:FEW_LEVELS] if not _is_rare(together[level], rows)]
    frequent = few + [level for level in order[FEW_LEVELS:most] if share * together[level] >= _ENOUGH]
    return frequent, order[len(frequent) :]


def _is_rare(count: int, rows: list[int]) -> bool:
    """Return whether some sample may lack by chance what so many rows of all samples have."""
    share = count / max(1, sum(rows))
    return share < _SMALL_SHARE and share * min(rows) < _EXPECTED


def _report_absent(name: str, levels: list[str], samples: Sequence[Tallied]) -> None:
    """Warn about levels that a sample lacks."""
    for sample in samples:
        own = sample.columns[name].levels
        absent = [level for level in levels if not own[level]]
        if absent and own:
            listed = ", ".join(map(repr, absent[:_MOST_NAMED])) + (" and others" if absent[_MOST_NAMED:] else "")
            warn(
                f"Column {name!r} has levels that do not occur in the {sample.sample}: {listed}. The samples do not "
                f"overlap there. Drop those rows, or join levels.",
                OverlapWarning,
            )


def _report_rare(name: str, rare: list[str], counts: list[Counter[str]]) -> bool:
    """Warn if many rows have rare levels, and return whether they do."""
    share = max(sum(each[level] for level in rare) / max(1, each.total()) for each in counts)
    if share > _LARGE_SHARE:
        warn(
            f"Column {name!r} has so many levels that {len(rare)} of them, with {share:.0%} of the rows of a sample, "
            f"count as one: differences among these do not show, and divergences are lower limits. Join levels that "
            f"belong together.",
            DegenerateDataWarning,
        )
    return share > _LARGE_SHARE
