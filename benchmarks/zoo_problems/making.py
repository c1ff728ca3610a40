"""Problems from seeds."""

from functools import lru_cache

import numpy as np

from zoo_problems.closed_forms import changed
from zoo_problems.definition import Problem
from zoo_problems.shapes import random_columns, random_rows, random_target
from zoo_problems.tilted import tilted

_TILTED = 0.6
"""Share of problems that are a tilt of a base; the others are a change of a density in closed form."""


@lru_cache(maxsize=4)
def problem(seed: int) -> Problem:
    """Return the problem of a seed.

    Parameters
    ----------
    seed : int
        Not negative. Seeds below 10,000 are for tuning, the others for reporting.

    Returns
    -------
    Problem
        The same for the same seed.
    """
    shape, parts = np.random.default_rng([seed, 2]), np.random.default_rng([seed, 3])
    rows, columns, target = random_rows(shape), random_columns(shape), random_target(shape)
    make = tilted if shape.uniform() < _TILTED else changed
    return make(seed, rows, columns, target, parts)
