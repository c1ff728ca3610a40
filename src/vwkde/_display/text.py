"""Values of any kind as people read them."""

from typing import Any

import numpy as np


def shown(value: Any) -> str:
    """Return a number, text, list or dictionary as one line of text."""
    if isinstance(value, list):
        of_dicts = any(isinstance(part, dict) for part in value)
        return (" / " if of_dicts else ", ").join(map(shown, value))
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items())
    if value is None:
        return "–"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def visible(text: str) -> str:
    """Return a text, or words for one that nobody could see."""
    return text if text.strip() else "(empty)"


def with_interval(value: float, interval: tuple[float, float], unit: str, level: float) -> str:
    """Return a value and its interval as text; the value is a lower bound if the interval has no upper end."""
    low, high = interval
    amount = f"{'at least ' if high == np.inf else ''}{value:.4g} {unit}".strip()
    return f"{amount}, {100 * level:g} % interval {low:.4g} to {high:.4g}"
