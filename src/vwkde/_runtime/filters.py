"""Warning filters, which apply to the whole process.

`warnings.catch_warnings` restores the filters that it found. If several threads enter and leave it at overlapping
times, the last one may restore filters that another thread had changed, and they stay. So all filters of this package
share one `catch_warnings`.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from vwkde._runtime.shared import Shared

_restored_at_the_end = Shared(warnings.catch_warnings)


def ignoring(**which: Any) -> Shared:
    """Return a context that suppresses warnings of other packages, chosen as in `warnings.filterwarnings`."""
    return Shared(partial(_ignored, which))


@contextmanager
def _ignored(which: dict[str, Any]) -> Iterator[None]:
    with _restored_at_the_end():
        warnings.filterwarnings("ignore", **which)
        yield
