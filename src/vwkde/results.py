"""What the functions return: small immutable objects that carry their error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtri

from vwkde._display import html, svg
from vwkde._display.text import shown as shown

__all__ = ["Estimate"]


@dataclass(frozen=True)
class Estimate:
    """An estimated number, its errors, and how it was found. `float(estimate)` is its value.

    Parameters
    ----------
    value : float
        The estimate.
    standard_error : float
        The standard deviation over samples.
    kind : str
        What was estimated, for example "kl".
    unit : str
        "nats", or "" for numbers without a unit.
    systematic_error : float
        How far the remaining bias may move the value, as far as the data show it: by the disagreement of the candidates
        that share the answer, or by the bias that a weight leaves. The interval covers both errors.
    confidence_level : float
        The probability that the interval covers the truth.
    diagnostics : dict
        What was chosen from the data, and how well the samples overlap.
    """

    value: float
    standard_error: float
    kind: str
    unit: str = "nats"
    systematic_error: float = 0.0
    confidence_level: float = 0.95
    diagnostics: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """The ends of the interval that covers the truth with probability `confidence_level`."""
        width = float(ndtri(0.5 + self.confidence_level / 2) * np.hypot(self.standard_error, self.systematic_error))
        return self.value - width, self.value + width

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""
        names = ("kind", "value", "standard_error", "systematic_error", "unit", "confidence_level")
        return {name: getattr(self, name) for name in names} | {
            "interval": list(self.interval),
            "diagnostics": dict(self.diagnostics),
        }

    def __str__(self) -> str:
        """Return a short report."""
        lines = [self._headline(), *(f"  {remark}" for remark in self._remarks())]
        lines += [f"  {name.replace('_', ' ')}: {shown(value)}" for name, value in self.diagnostics.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the value, its interval as a picture, and the diagnostics."""
        details = {name: shown(value) for name, value in self.diagnostics.items()}
        errors = f"standard error {self.standard_error:.3g}, systematic error {self.systematic_error:.3g}"
        remarks = [html.note(remark) for remark in self._remarks()]
        drawn = svg.interval(self.value, *self.interval)
        return html.card(self._headline(), drawn, *remarks, errors, details=details)

    def _headline(self) -> str:
        low, high = self.interval
        value = f"{self.value:.4g} {self.unit}".strip()
        return f"{self.kind} = {value}, {100 * self.confidence_level:g} % interval {low:.4g} to {high:.4g}"

    def _remarks(self) -> list[str]:
        if -3 * self.standard_error <= self.value < 0:
            return ["negative: a divergence too small to tell from zero with these samples"]
        return []
