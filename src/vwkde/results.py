"""What the functions return: small immutable objects that carry their error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Estimate:
    """An estimated number, its sampling error, and how it came about. `float(estimate)` is its value.

    `standard_error` and `interval` (95 %) describe the scatter over samples, not the bias that may be left.
    """

    value: float
    standard_error: float
    kind: str
    unit: str = "nats"
    diagnostics: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def interval(self) -> tuple[float, float]:
        """Return the value plus and minus 1.96 standard errors."""
        return self.value - 1.96 * self.standard_error, self.value + 1.96 * self.standard_error

    def __float__(self) -> float:
        """Return the value."""
        return self.value

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers, strings and lists, ready for JSON."""
        names = ("kind", "value", "standard_error", "unit")
        return {name: getattr(self, name) for name in names} | {
            "interval": list(self.interval),
            "diagnostics": dict(self.diagnostics),
        }

    def __str__(self) -> str:
        """Return a short report."""
        low, high = self.interval
        value = f"{self.value:.4g} {self.unit}".strip()
        lines = [f"{self.kind} = {value}, 95 % interval {low:.4g} to {high:.4g}"]
        if -3 * self.standard_error <= self.value < 0:
            lines.append("  negative: a divergence too small to tell from zero with these samples")
        lines += [f"  {name.replace('_', ' ')}: {_shown(value)}" for name, value in self.diagnostics.items()]
        return "\n".join(lines)


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    return f"{value:.4g}" if isinstance(value, float) else str(value)
