"""The default features, and checks of an inspector's parameters and of the number of good images."""

from numbers import Integral
from typing import Any

from vwkde.inspection.model.frames import LEAST_SIDE

RECOMMENDED = "combined"
"""The features that are used if none are named: of those that need no network, they find most on most surfaces."""
_FEWEST = 3
"""Minimum number of good images: each is judged by at least two others."""


def check_enough(count: int) -> None:
    """Raise an error if there are too few good images to compare."""
    if count < _FEWEST:
        raise ValueError(f"At least {_FEWEST} good images are needed, and 20 or more are better. Got {count} instead.")


def check_size(size: Any) -> None:
    """Raise an error if a size is neither None nor a height and a width that can be used."""
    is_pair = isinstance(size, tuple | list) and len(size) == 2
    if size is None or (is_pair and all(isinstance(side, Integral) and int(side) >= LEAST_SIDE for side in size)):
        return
    raise ValueError(
        f"The 'size' parameter must be a height and a width of at least {LEAST_SIDE} pixels, for example (512, 512), "
        f"or None. Got {size!r} instead."
    )


def check_count(value: Any, name: str, example: int) -> None:
    """Raise an error if a parameter is not a positive integer."""
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"The '{name}' parameter must be a positive integer, for example {example}. Got {value!r} instead."
        )
