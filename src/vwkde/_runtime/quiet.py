"""Warnings which tell users nothing new are suppressed."""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from vwkde._runtime.filters import ignoring

without_convergence_warnings = ignoring(category=ConvergenceWarning)
"""Suppress scikit-learn's warning that an optimiser stopped early: such candidates are compared as they are."""

_IN_OUR_WORDS = {
    "inhomogeneous": "X must have shape (rows, columns), and y (rows,). Got rows of several lengths; make them equal.",
    "could not convert": "X must hold numbers only. Got text instead; drop or encode those columns.",
}
"""What NumPy says of data that are no array of numbers, and what is said instead."""


@np.errstate(over="ignore", invalid="ignore")
def validated(*arguments: Any, **named: Any) -> Any:
    """Return what scikit-learn's `validate_data` returns. It adds up all numbers, and sums of large ones overflow."""
    try:
        return validate_data(*arguments, **named)
    except ValueError as error:
        words = next((told for told in _IN_OUR_WORDS if told in str(error)), None)
        if words is None:
            raise
    raise ValueError(_IN_OUR_WORDS[words])
