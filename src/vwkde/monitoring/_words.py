"""A comparison in sentences."""

from vwkde._data.frames import NAMELESS
from vwkde.monitoring._drawn import Picture
from vwkde.monitoring._parts import ColumnDrift, PairDrift, RowDrift
from vwkde.results import Estimate

_MOST_NAMED = 5
_SMALL = 0.005
_LEAST = 0.0005
"""Share that is shown as zero."""


class Told:
    """What was found about two tables, and how it is said in words."""

    p_value: float
    level: float
    total_variation: Estimate | None
    jensen_shannon: Estimate | None
    columns: tuple[ColumnDrift, ...]
    pairs: tuple[PairDrift, ...]
    rows: tuple[RowDrift, ...]
    n_permutations: int
    sizes: tuple[int, int]
    left_out: tuple[str, ...]
    explained: float | None
    pictures: tuple[Picture, ...]

    @property
    def has_drifted(self) -> bool:
        """Whether the joint test finds a difference at its level.

        Returns
        -------
        bool
            True if the p-value is at most the level.
        """
        return self.p_value <= self.level

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
            How much changed, in which columns and pairs, and which columns were not compared.
        """
        left_out = [name or NAMELESS for name in self.left_out]
        return [
            *self._amount_in_words(),
            *self.column_words,
            *([f"not compared: {_listed(left_out)}"] if left_out else []),
        ]

    def _amount_in_words(self) -> list[str]:
        if self.total_variation is None:
            return []
        value, (low, high) = max(0.0, self.total_variation.value), self.total_variation.interval
        if not self.has_drifted:
            return [f"how much: nothing beyond chance; a change of up to {percent(high)} of the rows may be hidden"]
        ends = f"95 % interval {self.from_in_words(low)} to {percent(high)}"
        amount = f"{percent(value)} of the rows would have to change ({ends})"
        if value < _LEAST:
            amount = f"too few rows would have to change to be measured ({ends})"
        return [
            f"how much: {amount}",
            f"from one row, a good guess of its table is right in {percent((1 + value) / 2)} of cases (chance: 50 %)",
        ]

    def from_in_words(self, low: float) -> str:
        """Return the lower end of how much changed, which is not zero if there is drift.

        Parameters
        ----------
        low : float
            The lower end, as a share of the rows.

        Returns
        -------
        str
            The share in percent.
        """
        return "more than 0" if self.has_drifted and low < _LEAST else percent(max(0.0, low))

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
        lines = [
            f"columns that changed by themselves: {_listed(alone)}" if alone else "no single column shows it by itself"
        ]
        return lines + ([f"changed together: {_listed(pairs)}"] if pairs else [])


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def percent(share: float) -> str:
    """Return a share in percent; small ones with two digits."""
    return f"{100 * share:.2g} %" if 0 < share < 0.095 else f"{100 * share:.0f} %"


def share_in_words(share: float) -> str:
    """Return a share in percent; a fitted ratio does not tell small ones from zero."""
    return f"{100 * share:.0f} %" if share >= _SMALL else "under 1 %"
