"""The result of a permutation test with several statistics, and how it is shown."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

from vwkde._display import html, svg
from vwkde._display.tabular import Tabular


@dataclass(frozen=True)
class PermutationResult(Tabular):
    """What the results of permutation tests share: a p-value, that of each statistic, and how they are shown."""

    p_value: float
    p_values: dict[str, float]
    n_permutations: int
    statistics: dict[str, float] = field(default_factory=dict)
    sizes: tuple[int, ...] = ()

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

    def _answers(self) -> dict[str, Any]:
        found = {"p_value": self.p_value, "sizes": self.sizes, "p_values": self.p_values, "statistics": self.statistics}
        return {"test": self._name, **found}

    def _details(self) -> dict[str, Any]:
        return {"n_permutations": self.n_permutations}

    def _lines(self) -> list[dict[str, Any]]:
        """Return a line for the test, and one for each statistic on its own."""
        all_of_them = {"together": self.p_value} | self.p_values
        return [
            {"test": self._name, "part": part, "statistic": self.statistics.get(part), "p_value": p}
            for part, p in all_of_them.items()
        ]

    def _headline(self) -> str:
        rows = f"{' and '.join(f'{size:,}' for size in self.sizes)} rows, " if self.sizes else ""
        return f"{self._name}: p = {self.p_value:.3g} ({rows}{self.n_permutations:,} permutations)"
