"""The generator that a `random_state` stands for."""

from numbers import Integral
from typing import Any

import numpy as np


def random_state_of(given: Any) -> np.random.RandomState:
    """Return what scikit-learn's `check_random_state` returns, without loading scikit-learn.

    A whole number is a seed. None is the generator of `np.random`, whose functions are its methods.
    """
    if given is None or given is np.random:
        return np.random.random.__self__  # type: ignore[attr-defined]
    if isinstance(given, Integral):
        return np.random.RandomState(int(given))
    if isinstance(given, np.random.RandomState):
        return given
    raise ValueError(
        f"The 'random_state' parameter must be a whole number of at least 0, a RandomState of NumPy or None. "
        f"Got {given!r} instead."
    )
