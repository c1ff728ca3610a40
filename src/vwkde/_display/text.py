"""Values of any kind as people read them."""

from typing import Any


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
