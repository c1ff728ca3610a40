"""The parts of a comparison: what is said of one column, of a pair of columns, of a row."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ColumnDrift:
    """The drift of one column.

    Parameters
    ----------
    name : str
        The column.
    kind : str
        "number" or "category".
    change : str
        The largest change in words, from the reference to the current table.
    alone : float
        How far the column tells the tables apart by itself: its total variation, from 0 (equal) to 1.
    p_value : float
        That of the column alone.
    adjusted_p_value : float
        The same, valid for all columns together: Westfall and Young's step-down method over shared permutations, which
        controls the same error as Holm's, the probability of any false finding.
    share : float or None
        The column's share in the joint difference of the tables, from 0 to 1; None if the difference was not measured
        or there is none.
    same_as : tuple of str
        Columns that say the same as this one. They have one share in common.

    Examples
    --------
    >>> from vwkde.monitoring import ColumnDrift
    >>> ColumnDrift("speed", "number", "median 3 → 4", 0.4, 0.002, 0.004, 1.0).share
    1.0
    """

    name: str
    kind: str
    change: str
    alone: float
    p_value: float
    adjusted_p_value: float
    share: float | None = None
    same_as: tuple[str, ...] = ()


@dataclass(frozen=True)
class PairDrift:
    """The change of the dependence of two columns.

    Parameters
    ----------
    columns : tuple of str
        The two columns.
    adjusted_p_value : float
        The p-value of a change of their correlation (of ranks, or of indicators of categories), valid for all pairs
        together.

    Examples
    --------
    >>> from vwkde.monitoring import PairDrift
    >>> PairDrift(("speed", "load"), 0.002).columns
    ('speed', 'load')
    """

    columns: tuple[str, str]
    adjusted_p_value: float


@dataclass(frozen=True)
class RowDrift:
    """A row of the current table that is unlike the reference.

    Parameters
    ----------
    index : object
        The row's index in a DataFrame, or its number.
    log_ratio : float
        The logarithm of how many times as common such rows are in the current table as in the reference.
    values : dict
        The row's values in the columns that matter most.

    Examples
    --------
    >>> from vwkde.monitoring import RowDrift
    >>> RowDrift(17, 2.3, {"speed": 4.1}).index
    17
    """

    index: Any
    log_ratio: float
    values: dict[str, Any] = field(default_factory=dict)
