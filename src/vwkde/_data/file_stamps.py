"""Whether a file is still the one that was opened: files are read in parts, and others may replace them meanwhile."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

_SMALL = 2**20
"""Bytes up to which all of a memory map is compared with its file."""
_COMPARED = 4
"""Rows of a larger one that are compared, evenly spaced: with each, the system keeps a MiB around it in memory."""


@dataclass(frozen=True)
class Stamp:
    """Size and time of the last change of a file; copies on other machines have the same."""

    size: int
    changed: int

    def check(self, path: str) -> None:
        """Raise an error if the file has changed since it was opened."""
        if stamp_of(Path(path)) != self:
            raise ValueError(
                f"{path}: the file was changed or replaced while it was read, so that its rows do not belong together. "
                "Start again, and let nobody write to it meanwhile."
            )


def stamp_of(path: Path) -> Stamp:
    """Return the stamp of a file; one that is gone has none of any other's."""
    try:
        status = os.stat(path)
    except OSError:
        return Stamp(-1, -1)
    return Stamp(status.st_size, status.st_mtime_ns)


def shows_file(mapped: NDArray[Any], take: Callable[[NDArray[np.intp]], NDArray[Any]]) -> bool:
    """Return whether a memory map shows what its file has now: a map goes on to show a file that was replaced."""
    count = len(mapped) if mapped.nbytes <= _SMALL else min(_COMPARED, len(mapped))
    rows = np.unique(np.linspace(0, len(mapped) - 1, count).astype(np.intp))
    try:
        found = take(rows)
    except (ValueError, OSError, TypeError):  # the new file is shorter
        return False
    return bool(np.array_equal(found, mapped[rows].astype(found.dtype), equal_nan=True))
