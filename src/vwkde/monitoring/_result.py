"""What `drift` returns: answers that can be read, printed, put into a page, a table or JSON."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from vwkde._display import html
from vwkde._display.markup import element
from vwkde._display.tabular import Tabular
from vwkde.monitoring._drawn import Picture
from vwkde.results import Estimate


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


@dataclass(frozen=True)
class DriftResult(Tabular):
    """The result of a comparison of two tables.

    Parameters
    ----------
    p_value : float
        That of the joint test: the one to decide by.
    level : float
        The level of the test: the share of false findings among comparisons of tables that come from one distribution.
    total_variation : Estimate or None
        How much changed, from 0 to 1: the share of rows that would have to be others to turn one table into the
        other. None if it was not measured.
    jensen_shannon : Estimate or None
        How much changed, from 0 to log 2 = 0.69 nats.
    columns : tuple of ColumnDrift
        Every column, the one that matters most first.
    pairs : tuple of PairDrift
        Pairs of columns, the largest change of dependence first.
    rows : tuple of RowDrift
        The rows of the current table that are most unlike the reference.
    p_values : dict of str to float
        The p-value of each statistic of the joint test.
    n_permutations : int
        The number of random permutations of the labels.
    sizes : tuple of int
        The rows of the reference and of the current table.
    left_out : tuple of str
        Columns that were not used.
    explained : float or None
        How much of the joint difference single columns and pairs explain; the rest lies in three columns or more.
    pictures : tuple
        What the report draws.

    Examples
    --------
    >>> import numpy as np, vwkde
    >>> rng = np.random.default_rng(0)
    >>> result = vwkde.drift(rng.normal(size=(300, 2)), rng.normal(0.5, 1, size=(200, 2)))
    >>> result.has_drifted, result.columns[0].adjusted_p_value
    (True, 0.002)
    >>> [round(column.share, 1) for column in result.columns]
    [0.5, 0.5]
    >>> list(result.to_frame())
    ['name', 'kind', 'change', 'alone', 'p_value', 'adjusted_p_value', 'share', 'same_as']
    """

    p_value: float
    level: float
    total_variation: Estimate | None
    jensen_shannon: Estimate | None
    columns: tuple[ColumnDrift, ...]
    pairs: tuple[PairDrift, ...]
    rows: tuple[RowDrift, ...]
    p_values: dict[str, float]
    n_permutations: int
    sizes: tuple[int, int]
    left_out: tuple[str, ...] = ()
    explained: float | None = None
    pictures: tuple[Picture, ...] = field(default=(), repr=False, compare=False)

    @property
    def has_drifted(self) -> bool:
        """Whether the joint test finds a difference at its level.

        Returns
        -------
        bool
            True if the p-value is at most the level.
        """
        return self.p_value <= self.level

    def _answers(self) -> dict[str, Any]:
        amounts = {name: getattr(self, name) for name in ("total_variation", "jensen_shannon")}
        return {
            "has_drifted": self.has_drifted,
            "p_value": self.p_value,
            "level": self.level,
            **{name: None if each is None else each.to_dict() for name, each in amounts.items()},
            **{name: [_plain(asdict(part)) for part in getattr(self, name)] for name in ("columns", "pairs", "rows")},
        }

    def _details(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("p_values", "n_permutations", "sizes", "left_out", "explained")}

    def _lines(self) -> list[dict[str, Any]]:
        """Return a line for each column."""
        return [asdict(column) | {"same_as": ", ".join(column.same_as)} for column in self.columns]

    def to_html(self) -> str:
        """Return a report as one HTML page, which needs no network.

        Returns
        -------
        str
            The page.

        Examples
        --------
        >>> import numpy as np, vwkde
        >>> x = np.random.default_rng(0).normal(size=(100, 2))
        >>> vwkde.drift(x[:50], x[50:], measure="if-drift").to_html()[:15]
        '<!doctype html>'
        """
        from vwkde.monitoring._report import report

        return report(self)

    def __str__(self) -> str:
        """Return a short report."""
        lines = [self.headline, *(f"  {line}" for line in self.words)]
        for column in self.columns[:_MOST_SHOWN]:
            share = "" if column.share is None else f", share {100 * column.share:.0f} %"
            lines.append(
                f"  {column.name}: {column.change}, alone {column.alone:.2f} (p = {column.adjusted_p_value:.3g}){share}"
            )
        if len(self.columns) > _MOST_SHOWN:
            lines.append(f"  and {len(self.columns) - _MOST_SHOWN} more columns")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the finding, the amount, and the columns that matter most."""
        details = {f"p-value of {name}": f"{p:.3g}" for name, p in self.p_values.items()}
        shown = [picture.drawn() for picture in self.pictures[:2]]
        lines = [element("div", line) for line in self.words]
        return html.card(self.headline, lines, *shown, details=details)

    @property
    def headline(self) -> str:
        """The finding in one line.

        Returns
        -------
        str
            Whether the tables differ, and the p-value.
        """
        found = "drift found" if self.has_drifted else "no drift found"
        return f"{found}: p = {self.p_value:.3g} at level {self.level:g} ({self.sizes[0]:,} and {self.sizes[1]:,} rows)"

    @property
    def words(self) -> list[str]:
        """The answers in sentences.

        Returns
        -------
        list of str
            How much changed, and in which columns and pairs.
        """
        return [*self._amount_in_words(), *self.column_words]

    def _amount_in_words(self) -> list[str]:
        if self.total_variation is None:
            return []
        value, (low, high) = max(0.0, self.total_variation.value), self.total_variation.interval
        guess = 50 * (1 + value)
        return [
            f"how much: {100 * value:.0f} % of the rows would have to change (95 % interval {100 * max(0.0, low):.0f} to "
            f"{100 * high:.0f} %); a good guess which table a row is from is right for {guess:.0f} % of rows (chance: 50 %)"
        ]

    @property
    def column_words(self) -> list[str]:
        """Which columns and pairs of columns changed, in sentences.

        Returns
        -------
        list of str
            Nothing if there is no drift.
        """
        if not self.has_drifted:
            return []
        alone = [column.name for column in self.columns if column.adjusted_p_value <= self.level]
        pairs = [" with ".join(pair.columns) for pair in self.pairs if pair.adjusted_p_value <= self.level]
        if not alone and not pairs:
            return ["no single column or pair of columns stands out: the change is spread over many"]
        lines = [f"changed alone: {_listed(alone)}" if alone else "no single column shows it by itself"]
        return lines + ([f"changed together: {_listed(pairs)}"] if pairs else [])


_MOST_SHOWN = 8
_MOST_NAMED = 5


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _plain(value: Any) -> Any:
    """Return a value as JSON knows it: an infinite number is None, anything unknown is text."""
    if isinstance(value, dict):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
