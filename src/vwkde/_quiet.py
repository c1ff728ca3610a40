"""Warnings of other libraries that tell users nothing, held back on several threads at once.

Python's filters belong to the whole process: two threads that each change and restore them may leave them changed. So
the first of several simultaneous users changes them, and the last one restores what the first one found.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

_lock = Lock()
_users = 0
_filters: Any = None


@contextmanager
def without_convergence_warnings() -> Iterator[None]:
    """Hold back scikit-learn's warning that an optimiser stopped early: candidates that did are judged as they are."""
    global _users, _filters
    from sklearn.exceptions import ConvergenceWarning

    with _lock:
        _users += 1
        if _users == 1:
            _filters = warnings.catch_warnings()
            _filters.__enter__()
            warnings.simplefilter("ignore", ConvergenceWarning)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                _filters.__exit__(None, None, None)
