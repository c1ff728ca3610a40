"""What `drift` returns: answers that can be read, printed, put into a page, a table or JSON."""

import math
from dataclasses import asdict, dataclass, field
from typing import Any

from vwkde._display import html
from vwkde._display.markup import element
from vwkde._display.tabular import Tabular
from vwkde.monitoring._drawn import Picture
from vwkde.monitoring._parts import ColumnDrift, PairDrift, RowDrift
from vwkde.monitoring._report import Reported
from vwkde.monitoring._words import share_in_words
from vwkde.results import Estimate

_MOST_SHOWN = 8


@dataclass(frozen=True)
class DriftResult(Reported, Tabular):
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
    >>> round(sum(column.share for column in result.columns), 6)
    1.0
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

    def __str__(self) -> str:
        """Return a short report."""
        lines = [self.headline, *(f"  {line}" for line in self.words)]
        for column in self.columns[:_MOST_SHOWN]:
            share = "" if column.share is None else f", share {share_in_words(column.share)}"
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
