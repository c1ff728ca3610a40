"""Checks of the settings that baselines take."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_positive(name: str, value: Any) -> None:
    """Refuse what is neither None nor a positive number."""
    if value is not None and not (isinstance(value, Real) and 0 < float(value) < np.inf):
        raise ValueError(f"The {name!r} parameter must be positive and finite, or None. Got {value!r} instead.")


def check_count(name: str, value: Any, least: int) -> None:
    """Refuse what is not a whole number of at least so many."""
    if not isinstance(value, Integral) or value < least:
        raise ValueError(f"The {name!r} parameter must be at least {least}, and a whole number. Got {value!r} instead.")


def as_plain(value: Any) -> Any:
    """Return numbers of NumPy as those of Python, which JSON knows."""
    return value.item() if isinstance(value, np.generic) else value
