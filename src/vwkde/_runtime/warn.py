"""Warnings that point at the line of the caller."""

import warnings


def warn(message: str, category: type[Warning]) -> None:
    """Warn."""
    warnings.warn(message, category, stacklevel=2)
