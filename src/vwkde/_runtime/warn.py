"""Warnings that point at the line of the user's code that called into this package."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the nearest line outside this package."""
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
