"""Filters of warnings, which are those of the whole process.

`warnings.catch_warnings` puts back the filters that it found. If threads enter and leave it in turn, the last to leave
puts back what another thread had changed, for good. So all filters of this package share one.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from vwkde._runtime.shared import Shared

_restored_in_the_end = Shared(warnings.catch_warnings)


def ignoring(**which: Any) -> Shared:
    """Return a context that holds back warnings of other packages; see `warnings.filterwarnings` for which."""
    return Shared(partial(_ignored, which))


@contextmanager
def _ignored(which: dict[str, Any]) -> Iterator[None]:
    with _restored_in_the_end():
        warnings.filterwarnings("ignore", **which)
        yield
