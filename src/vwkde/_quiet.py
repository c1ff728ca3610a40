"""Warnings of other libraries that tell users nothing."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from vwkde._shared import Shared


@contextmanager
def _ignoring_convergence() -> Iterator[None]:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


without_convergence_warnings = Shared(_ignoring_convergence)
"""Hold back scikit-learn's warning that an optimiser stopped early: candidates that did are judged as they are."""
