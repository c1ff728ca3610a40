"""Checks of the baselines' settings."""

from numbers import Integral, Real
from typing import Any

import numpy as np


def check_positive(name: str, value: Any) -> None:
    """Raise unless the value is None or a positive, finite number."""
    if value is not None and not (_is_number(value, Real) and 0 < float(value) < np.inf):
        raise ValueError(f"The {name!r} parameter must be positive and finite, or None. Got {value!r} instead.")


def check_count(name: str, value: Any, least: int) -> None:
    """Raise unless the value is an integer of at least `least`."""
    if not _is_number(value, Integral) or value < least:
        raise ValueError(f"The {name!r} parameter must be an integer of at least {least}. Got {value!r} instead.")


def _is_number(value: Any, kind: type) -> bool:
    """Return whether a value is a number of this kind; True and False are not meant as such."""
    return isinstance(value, kind) and not isinstance(value, bool)


def as_plain(value: Any) -> Any:
    """Return NumPy numbers as Python numbers, which can be written as JSON."""
    return value.item() if isinstance(value, np.generic) else value
