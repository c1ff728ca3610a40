"""Warnings that tell users nothing, or nothing new."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from vwkde._shared import Shared
from vwkde.exceptions import DegenerateDataWarning


@contextmanager
def _ignoring_convergence() -> Iterator[None]:
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@contextmanager
def _ignoring_degenerate_data() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateDataWarning)
        yield


without_convergence_warnings = Shared(_ignoring_convergence)
"""Hold back scikit-learn's warning that an optimiser stopped early: candidates that did are judged as they are."""
without_degenerate_data_warnings = Shared(_ignoring_degenerate_data)
"""Hold back what was told of the same data in other coordinates."""
