"""Contexts that suppress warnings which tell users nothing new."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from sklearn.exceptions import ConvergenceWarning

from vwkde._runtime.shared import Shared
from vwkde.exceptions import DegenerateDataWarning


@contextmanager
def _ignoring(category: type[Warning]) -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category)
        yield


without_convergence_warnings = Shared(partial(_ignoring, ConvergenceWarning))
"""Suppress scikit-learn's warning that an optimiser stopped early: such candidates are compared as they are."""
without_degenerate_data_warnings = Shared(partial(_ignoring, DegenerateDataWarning))
"""Suppress warnings that were already raised for the same data in other coordinates."""
