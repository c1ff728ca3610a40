"""An inspector that many people use at once: checks never wait for a change of the model, and never see half of one.

The inspector in use is never changed. Adding a good image makes a new inspector, which is saved first and then replaces
the old one; running checks continue with the one they started with. Few checks run at a time, because each already uses
all cores; the others wait in a queue and keep no pixels in memory.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vwkde.inspection.model.inspector import SurfaceInspector

T = TypeVar("T")
NamedImage = tuple[str, NDArray[np.float32]]

_CHECKS_AT_ONCE = 2
"""While one check computes on all cores, the image of another can be decoded or its map drawn."""


class ChangedFileError(RuntimeError):
    """The model file has changed since it was read, so that saving would undo someone's work."""


class NotSavedError(RuntimeError):
    """The model file could not be written."""


class Station:
    """An inspector in use, and the file to which added images are saved, if any."""

    def __init__(self, inspector: SurfaceInspector, path: Path | None = None) -> None:
        self.inspector = inspector
        self._path = path
        self._seen = _signature(path)
        self._checks = ThreadPoolExecutor(_CHECKS_AT_ONCE, thread_name_prefix="vwkde-check")
        self._changes = ThreadPoolExecutor(1, thread_name_prefix="vwkde-change")

    def close(self) -> None:
        """Accept no more work; running work continues to its end."""
        for pool in (self._checks, self._changes):
            pool.shutdown(wait=False, cancel_futures=True)

    async def check(self, work: Callable[[SurfaceInspector], T]) -> T:
        """Run the work with the inspector that is in use when its turn comes, and return the result."""
        return await asyncio.get_running_loop().run_in_executor(self._checks, lambda: work(self.inspector))

    async def add(self, read: Callable[[], NamedImage]) -> SurfaceInspector:
        """Add the good image that `read` returns, and return the new inspector; one change at a time."""
        return await asyncio.get_running_loop().run_in_executor(self._changes, self._add, read)

    def _add(self, read: Callable[[], NamedImage]) -> SurfaceInspector:
        changed = copy(self.inspector).add([read()])
        if self._path is not None:
            self._save(changed, self._path)
        self.inspector = changed
        return changed

    def _save(self, inspector: SurfaceInspector, path: Path) -> None:
        if _signature(path) != self._seen:
            raise ChangedFileError(
                f"{path.name}: another program has changed the model file since it was read; nothing was added. "
                "Start the server again."
            )
        try:
            inspector.save(path)
        except OSError as error:
            reason = error.strerror or error
            raise NotSavedError(f"{path.name}: the model cannot be saved ({reason}); nothing was added.") from None
        self._seen = _signature(path)


def _signature(path: Path | None) -> tuple[int, int, int] | None:
    """Return a signature that changes when the file is replaced; None if there is no file."""
    try:
        status = path.stat() if path is not None else None
    except OSError:
        return None
    return (status.st_ino, status.st_size, status.st_mtime_ns) if status is not None else None
