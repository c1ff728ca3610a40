"""Compare a current table with a reference: has it changed, how much, in which columns, in which rows."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from vwkde._answers.independence import warn_of_repeats
from vwkde._data.groups import check_group_pair
from vwkde._data.reading import Reading
from vwkde._data.validation import is_number
from vwkde._display.waiting import shown_while_waiting
from vwkde._runtime.random_states import random_state_of
from vwkde.monitoring._columns import Column
from vwkde.monitoring._drawn import Picture, clouds_of, picture_of
from vwkde.monitoring._effects import alone, change, random_halves
from vwkde.monitoring._joint import JointTest, joint_test, nothing_to_test
from vwkde.monitoring._least import as_jensen_shannon, at_least, least_change
from vwkde.monitoring._measured import Measured
from vwkde.monitoring._measured import measure as measure_drift
from vwkde.monitoring._parts import ColumnDrift, PairDrift, RowDrift
from vwkde.monitoring._result import DriftResult
from vwkde.monitoring._tables import NAMES, Tables, read_pair

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MOST_ROWS = 20_000
"""Rows of each table that the tests use at most; of more, this many are drawn."""
_MOST_PICTURED = 4
_MOST_PAIRS = 2
_MATTERS = 0.02
"""Share in the joint difference from which a column has a picture."""
_ROWS_SHOWN = 10
_VALUES_SHOWN = 5


@shown_while_waiting
def drift(
    reference: Any,
    current: Any,
    *,
    level: float = 0.05,
    groups: Any = None,
    measure: Literal["always", "if-drift", "never"] = "always",
    missing: Literal["refuse", "indicator"] = "indicator",
    dates: Literal["refuse", "number", "drop"] = "drop",
    random_state: Any = 0,
) -> DriftResult:
    """Compare a table with a reference: has it changed, how much, in which columns and rows.

    One joint test decides. It looks at all columns together, so it also finds a change of how columns depend on each
    other while each column alone stays the same.

    Parameters
    ----------
    reference : array-like, DataFrame, Arrow table or path
        The table to compare with.
    current : array-like, DataFrame, Arrow table or path
        The table in question, with the same columns.
    level : float, default=0.05
        The level of the test, between 0.0001 and 0.5: the share of false findings among comparisons of tables that come
        from one distribution.
    groups : pair of array-like, optional
        Which rows belong together, such as those of a machine or of an hour: the labels of the reference's rows and
        those of the current table's, None for independent rows. Whole groups are permuted: they should be about as
        large in one table as in the other, or the level is not kept.
    measure : {"always", "if-drift", "never"}, default="always"
        When to measure how much changed, which takes most of the time. Shares and rows come with it.
    missing : {"refuse", "indicator"}, default="indicator"
        What missing values do: they raise an error, or they are information, so that more or fewer of them are drift.
    dates : {"refuse", "number", "drop"}, default="drop"
        What columns of dates or times do: they raise an error, become numbers, or are left out, since time goes on
        without any drift.
    random_state : int, RandomState or None, default=0
        Seeds every random choice.

    Returns
    -------
    DriftResult
        The answers; `print` it, or write `to_html()` to a file.

    Raises
    ------
    ValueError
        If a parameter is invalid, or the tables cannot be compared.

    Warns
    -----
    DegenerateDataWarning
        If columns label rows and were left out, or many rows repeat others, although the data are not discrete.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(3)
    >>> before = rng.normal(size=(400, 3))
    >>> after = rng.normal(size=(300, 3))
    >>> after[:, 1] = 0.8 * after[:, 0] + 0.6 * after[:, 1]  # each column alone is as before
    >>> result = vwkde.drift(before, after)
    >>> result.has_drifted, min(column.adjusted_p_value for column in result.columns) > 0.05
    (True, True)
    >>> result.pairs[0].columns
    ('0', '1')
    """
    _check(level, measure)
    tables = read_pair(reference, current, Reading(missing, dates, grouped=groups is not None))
    sizes = len(tables.encoded[0]), len(tables.encoded[1])
    group = check_group_pair(groups, (np.ones(sizes[0]), np.ones(sizes[1])), "drift", NAMES)
    if groups is None:
        warn_of_repeats(dict(zip(NAMES, tables.encoded, strict=True)))
    seed = int(random_state_of(random_state).randint(2**31))
    random = np.random.default_rng(seed)
    test = _tested(tables, group, level, random)
    result = _described(tables.columns, test, level, sizes, random)
    result = replace(result, left_out=tables.left_out)
    if _varies(tables) and (measure == "always" or (measure == "if-drift" and result.has_drifted)):
        measured = measure_drift(tables, group, random, seed)
        if result.has_drifted:
            measured = _as_found(measured, tables, group, random)
        result = _measured(result, tables, measured, _index(current, sizes[1]))
    return replace(result, pictures=_pictures(result, tables.columns, random))


def _check(level: object, measure: object) -> None:
    if not is_number(level) or not 1e-4 <= level <= 0.5:
        raise ValueError(f"The 'level' parameter of drift must be a number from 0.0001 to 0.5. Got {level!r} instead.")
    if measure not in ("always", "if-drift", "never"):
        raise ValueError(
            f"The 'measure' parameter of drift must be 'always', 'if-drift' or 'never'. Got {measure!r} instead."
        )


def _tested(
    tables: Tables, groups: tuple[Ints | None, Ints | None], level: float, random: np.random.Generator
) -> JointTest:
    """Return the joint test, by some rows of large tables."""
    one, other = _drawn_rows(tables, random)
    columns = [column.part(one, other) for column in tables.columns]
    encoded = tables.encoded[0][one], tables.encoded[1][other]
    if not _varies(tables):
        return nothing_to_test(len(columns))
    return joint_test(columns, encoded, _pooled_groups(groups, (one, other)), level, random)


def _drawn_rows(tables: Tables, random: np.random.Generator) -> tuple[Ints, Ints]:
    """Return the numbers of all rows of both tables, or of some if they are many."""
    one, other = (np.sort(random.permutation(len(side))[:MOST_ROWS]) for side in tables.encoded)
    return one, other


def _varies(tables: Tables) -> bool:
    """Return whether any two rows differ."""
    return bool((np.concatenate(tables.encoded) != tables.encoded[0][:1]).any())


def _pooled_groups(groups: tuple[Ints | None, Ints | None], rows: tuple[Ints, Ints]) -> Ints:
    """Return the number of each row's group in the pooled rows; a row without one is a group of its own."""
    p, q = (None if group is None else group[some] for group, some in zip(groups, rows, strict=True))
    if p is not None and q is not None and np.isin(p, q).any():
        raise ValueError(
            "The 'groups' parameter of drift must have different labels in the two tables, since a whole group is "
            "assigned to one of them. Got a label that occurs in both instead; give the rows of each table their own."
        )
    start = max((int(each.max()) + 1 for each in (p, q) if each is not None), default=0)
    own = start + np.arange(len(rows[0]) + len(rows[1]))
    first = len(rows[0])
    return np.concatenate([own[:first] if p is None else p, own[first:] if q is None else q])


def _described(
    columns: list[Column], test: JointTest, level: float, sizes: tuple[int, int], random: np.random.Generator
) -> DriftResult:
    halves = random_halves(sizes, random)
    described = [
        ColumnDrift(
            name=column.name,
            kind="category" if column.is_category else "number",
            change=change(column),
            alone=alone(column, halves),
            p_value=float(test.column_p_values[place]),
            adjusted_p_value=float(test.column_adjusted[place]),
        )
        for place, column in enumerate(columns)
    ]
    pairs = sorted(test.pairs.items(), key=lambda each: each[1])
    return DriftResult(
        p_value=test.p_value,
        level=float(level),
        total_variation=None,
        jensen_shannon=None,
        columns=tuple(sorted(described, key=lambda column: (column.adjusted_p_value, -column.alone))),
        pairs=tuple(PairDrift((columns[i].name, columns[j].name), float(p)) for (i, j), p in pairs),
        rows=(),
        p_values=test.parts,
        n_permutations=test.n_permutations,
        sizes=sizes,
    )


def _as_found(
    measured: Measured, tables: Tables, groups: tuple[Ints | None, Ints | None], random: np.random.Generator
) -> Measured:
    """Return amounts that are not below what a simple rule finds: the fitted ratio is blunter than the test."""
    one, other = _drawn_rows(tables, random)
    columns = [column.part(one, other) for column in tables.columns]
    group = [None if each is None else each[rows] for each, rows in zip(groups, (one, other), strict=True)]
    least = least_change(columns, (group[0], group[1]), random)
    return replace(
        measured,
        total_variation=at_least(measured.total_variation, least),
        jensen_shannon=at_least(measured.jensen_shannon, as_jensen_shannon(least)),
    )


def _measured(result: DriftResult, tables: Tables, measured: Measured, index: Any) -> DriftResult:
    """Add the answers of the fitted ratio; shares and rows only if there is drift to be shared."""
    names = [column.name for column in tables.columns]
    if not result.has_drifted:
        return replace(result, total_variation=measured.total_variation, jensen_shannon=measured.jensen_shannon)
    share: dict[str, float | None] = dict.fromkeys(names)
    same: dict[str, tuple[str, ...]] = dict.fromkeys(names, ())
    if measured.shares is not None:
        for group, value in zip(measured.shares.groups, measured.shares.share, strict=True):
            for column in group:
                share[names[column]] = float(value)
                same[names[column]] = tuple(names[other] for other in group if other != column)
    columns = [replace(column, share=share[column.name], same_as=same[column.name]) for column in result.columns]
    columns.sort(key=lambda column: (-round(column.share or 0.0, 2), column.adjusted_p_value))
    return replace(
        result,
        total_variation=measured.total_variation,
        jensen_shannon=measured.jensen_shannon,
        columns=tuple(columns),
        rows=_rows([column.name for column in columns[:_VALUES_SHOWN]], tables.columns, measured.log_ratio, index),
        explained=None if measured.shares is None else measured.shares.explained,
    )


def _rows(names: list[str], columns: list[Column], log_ratio: Floats, index: Any) -> tuple[RowDrift, ...]:
    """Return the current rows with the largest log ratios."""
    shown = {name: next(column for column in columns if column.name == name) for name in names}
    largest = np.argsort(-log_ratio, kind="stable")[:_ROWS_SHOWN]
    return tuple(
        RowDrift(index[row], float(log_ratio[row]), {name: _value(column, row) for name, column in shown.items()})
        for row in largest
    )


def _value(column: Column, row: int) -> Any:
    value = column.current[row]
    if np.isnan(value):
        return None
    return column.levels[int(value)] if column.is_category else float(value)


def _index(current: Any, rows: int) -> Any:
    """Return the labels of the current table's rows: those of a pandas index, or their numbers."""
    index = getattr(current, "index", None)
    return list(index) if index is not None and not callable(index) else range(rows)


def _pictures(result: DriftResult, columns: list[Column], random: np.random.Generator) -> tuple[Picture, ...]:
    """Return pictures of the pairs that changed and of the columns that matter, if there is drift."""
    if not result.has_drifted:
        return ()
    by_name = {column.name: column for column in columns}
    pairs = [pair for pair in result.pairs if pair.adjusted_p_value <= result.level][:_MOST_PAIRS]
    matter: list[str] = []
    for column in result.columns:
        shown = any(same in matter for same in column.same_as)
        if not shown and (column.adjusted_p_value <= result.level or (column.share or 0.0) >= _MATTERS):
            matter.append(column.name)
    clouds = [clouds_of(by_name[pair.columns[0]], by_name[pair.columns[1]], random) for pair in pairs]
    return (*clouds, *(picture_of(by_name[name]) for name in matter[:_MOST_PICTURED]))
