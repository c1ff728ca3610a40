"""What the functions return: small immutable objects that include their errors."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from vwkde._answers.kinds import UNITS, nats_in
from vwkde._display import html, svg
from vwkde._display.tabular import Tabular
from vwkde._display.text import shown as shown
from vwkde._display.text import with_interval

__all__ = ["Estimate"]

_LARGEST = {"jensen-shannon": float(np.log(2)), "hellinger": 1.0, "total-variation": 1.0}
"""The largest value of the divergences that are bounded, in nats if they have a unit."""
_OF_ANY_SIGN = ("mean",)
"""What is estimated that may be negative: means of an outcome by importance weights. No divergence is."""
_ERRORS = "standard_error", "systematic_error", "unseen"
_WITH_THE_UNIT = "by_copula", "by_neighbours", "terms"
"""The diagnostics that are in the unit of the value."""


@dataclass(frozen=True)
class Estimate(Tabular):
    """An estimated number with its errors and diagnostics.

    `float(estimate)` is the value, `f"{estimate:.2f}"` shows it, and `str(estimate)` is a short report. `to_dict()`,
    `to_frame()` and `to_latex()` hand it on to JSON, pandas and papers.

    Parameters
    ----------
    value : float
        The estimate.
    standard_error : float
        Its standard deviation over repeated samples.
    kind : str
        What was estimated, for example "kl".
    unit : str, default="nats"
        "nats", "bits", or "" for numbers without a unit.
    systematic_error : float, default=0.0
        How far the remaining bias may move the value, as far as the data show it: the disagreement of the candidates
        that are averaged, or the effect of the bias that the weight leaves.
    confidence_level : float, default=0.95
        The probability with which the interval should cover the true value.
    degrees_of_freedom : float, default=inf
        Of the t distribution that gives the interval its width: with few rows the standard error itself is uncertain.
    unseen : float, default=0.0
        How much of the divergence the fit may have missed, for an interval of 95 %: what no model finds makes samples
        look more alike. It raises the upper end only.
    open_above : bool, default=False
        Whether the true value may be infinite, or levels of categories had to be joined: the estimate is then a lower
        bound, and the interval ends at the largest possible value.
    diagnostics : dict
        What was chosen from the data, and how well the samples overlap; see `DensityRatio.diagnostics_`.

    Examples
    --------
    >>> from vwkde import Estimate
    >>> estimate = Estimate(1.0, 0.1, kind="kl")
    >>> float(estimate)
    1.0
    >>> print(estimate)
    kl = 1 nats, 95 % interval 0.804 to 1.196
    >>> print(Estimate(1.0, 0.1, kind="kl", open_above=True))
    kl = at least 1 nats, 95 % interval 0.804 to inf
    >>> print(estimate.to_latex())
    \\begin{tabular}{lrrrlrr}
    \\toprule
    kind & value & low & high & unit & standard error & confidence level \\\\
    \\midrule
    kl & 1 & 0.804 & 1.196 & nats & 0.1 & 0.95 \\\\
    \\bottomrule
    \\end{tabular}
    """

    value: float
    standard_error: float
    kind: str
    unit: str = "nats"
    systematic_error: float = 0.0
    confidence_level: float = 0.95
    degrees_of_freedom: float = np.inf
    unseen: float = 0.0
    open_above: bool = False
    diagnostics: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval, which covers the standard error, the systematic error and what may be unseen.

        With something unseen, nearly all errors are values that are too small. The lower end is then closer: at 95 %
        it is that of a one-sided interval. No end is beyond the range of the divergence, except that the interval
        contains a value below zero.

        Returns
        -------
        tuple of float
            The lower and the upper end. If the estimate is `open_above`, the latter is the largest possible value.
        """
        error = np.hypot(self.standard_error, self.systematic_error)
        upper = stdtrit(self.degrees_of_freedom, 0.5 + self.confidence_level / 2)
        lower = upper * ndtri(0.95) / ndtri(0.975) if self.unseen else upper
        unseen = self.unseen * ndtri(0.5 + self.confidence_level / 2) / ndtri(0.975)
        low, high = self.value - float(lower * error), self.value + float(upper * error + unseen)
        largest = max(_LARGEST.get(self.kind, np.inf) / UNITS.get(self.unit, 1.0), self.value)
        if self.kind not in _OF_ANY_SIGN:
            low = max(low, min(self.value, 0.0))
        return low, largest if self.open_above else min(high, largest)

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    def __format__(self, form: str) -> str:
        """Return the value in a number's format, such as ".3f", or the report if none is given."""
        return format(self.value, form) if form else str(self)

    def __round__(self, digits: int | None = None) -> float:
        """Return the value, rounded."""
        return round(self.value, digits)

    def in_unit(self, unit: str) -> "Estimate":
        """Return the same estimate in another unit.

        Parameters
        ----------
        unit : {"nats", "bits"}
            Logarithms to the base e, or to the base 2.

        Returns
        -------
        Estimate
            The value, its errors and the diagnostics in that unit.

        Raises
        ------
        ValueError
            If the unit is unknown, or the estimate is a number without a unit.

        Examples
        --------
        >>> from vwkde import Estimate
        >>> print(Estimate(1.0, 0.1, kind="kl").in_unit("bits"))
        kl = 1.443 bits, 95 % interval 1.16 to 1.725
        """
        factor = nats_in(self.unit, self.kind) / nats_in(unit, self.kind)
        if unit == self.unit:
            return self
        scaled = {name: getattr(self, name) * factor for name in ("value", *_ERRORS)}
        diagnostics = {
            name: _times(value, factor) if name in _WITH_THE_UNIT else value for name, value in self.diagnostics.items()
        }
        return replace(self, unit=unit, diagnostics=diagnostics, **scaled)

    def _answers(self) -> dict[str, Any]:
        names = ["kind", "value", "unit", "interval", "confidence_level", "standard_error", "open_above"]
        return {name: getattr(self, name) for name in names}

    def _details(self) -> dict[str, Any]:
        names = ["systematic_error", "unseen", "degrees_of_freedom", "diagnostics"]
        return {name: getattr(self, name) for name in names}

    def _lines(self) -> list[dict[str, Any]]:
        low, high = self.interval
        names = ["kind", "value", "low", "high", "unit", "standard_error", "confidence_level"]
        ends = {"low": low, "high": high}
        return [{name: ends[name] if name in ends else getattr(self, name) for name in names}]

    def __str__(self) -> str:
        """Return a short report."""
        lines = [self._headline(), *(f"  {remark}" for remark in self._remarks())]
        lines += [f"  {name.replace('_', ' ')}: {shown(value)}" for name, value in self.diagnostics.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the value, a picture of its interval, and the diagnostics."""
        details = {name: shown(value) for name, value in self.diagnostics.items()}
        errors = f"standard error {self.standard_error:.3g}, systematic error {self.systematic_error:.3g}"
        errors += f", unseen up to {self.unseen:.3g}" if self.unseen else ""
        remarks = [html.note(remark) for remark in self._remarks()]
        drawn = svg.interval(self.value, *self.interval)
        return html.card(self._headline(), drawn, *remarks, errors, details=details)

    def _headline(self) -> str:
        return f"{self.kind} = {with_interval(self.value, self.interval, self.unit, self.confidence_level)}"

    def _remarks(self) -> list[str]:
        if self.value < 0 <= self.interval[1]:
            return ["negative: a divergence too small to distinguish from zero with these samples"]
        return []


def _times(value: Any, factor: float) -> Any:
    return [part * factor for part in value] if isinstance(value, list) else value * factor
