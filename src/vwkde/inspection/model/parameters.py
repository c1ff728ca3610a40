"""The default features, and checks of an inspector's parameters and of the number of good images."""

from numbers import Integral
from typing import Any

RECOMMENDED = "combined"
"""The features that are used if none are named: of those that need no network, they find most on most surfaces."""
_FEWEST = 3
"""Minimum number of good images: each is judged by at least two others."""


def check_enough(count: int) -> None:
    """Raise an error if there are too few good images to compare."""
    if count < _FEWEST:
        raise ValueError(f"At least {_FEWEST} good images are needed, and 20 or more are better. Got {count} instead.")


def check_count(value: Any, name: str, example: int) -> None:
    """Raise an error if a parameter is not a positive integer."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"The '{name}' parameter must be a positive integer, for example {example}. Got {value!r} instead."
        )
