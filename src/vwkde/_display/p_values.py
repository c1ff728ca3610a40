"""The result of a permutation test with several statistics, and how it is shown."""

from dataclasses import dataclass
from typing import ClassVar

from vwkde._display import html, svg


@dataclass(frozen=True)
class PermutationResult:
    """What the results of permutation tests share: a p-value, that of each statistic, and how they are shown."""

    p_value: float
    p_values: dict[str, float]
    n_permutations: int

    _name: ClassVar[str]

    def __str__(self) -> str:
        """Return a short report."""
        parts = ", ".join(f"{name} {p:.3g}" for name, p in self.p_values.items())
        return f"{self._headline()}\n  on their own: {parts}"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the p-value, and a picture of the p-values of all statistics."""
        all_of_them = {"together": self.p_value} | self.p_values
        drawn = svg.dots(all_of_them, 1 / (self.n_permutations + 1), svg.Mark(0.05, "0.05"))
        details = {name: f"p = {p:.3g}" for name, p in all_of_them.items()}
        text = "p-values of the statistics, together and on their own"
        return html.card(self._headline(), text, drawn, details=details)

    def _headline(self) -> str:
        return f"{self._name}: p = {self.p_value:.3g} ({self.n_permutations} permutations)"
