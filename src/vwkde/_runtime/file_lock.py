"""A lock for the time in which a file is read, changed and written again: one holder at a time, on one machine.

The lock is a small file next to the real one, which is replaced when it is written and so cannot be locked itself. The
system releases the lock when its holder ends, however it ends; a lock file that is left over does not matter.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import local
from time import monotonic, sleep

_PAUSE = 0.02
"""Seconds between two tries."""
_held = local()
"""The lock files that each thread holds, in `paths`."""


class BusyFileError(TimeoutError):
    """Another program holds the lock of a file."""


@contextmanager
def locked(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock of a file; `BusyFileError` if another program or thread still holds it after `patience` seconds.

    A thread that already holds it goes on.
    """
    lock, paths = lock_path(path), _held.__dict__.setdefault("paths", set())
    if lock in paths:
        yield
        return
    handle = _wait(lock, path, patience)
    paths.add(lock)
    try:
        yield
    finally:
        paths.remove(lock)
        with suppress(OSError):  # Windows does not remove an open file; it is used again
            os.unlink(lock)
        os.close(handle)


def lock_path(path: Path) -> Path:
    """Return the lock file of a file; all links to the file have the same one."""
    real = Path(os.path.realpath(path))
    return real.with_name(f".{real.name}.lock")


def _wait(lock: Path, path: Path, patience: float) -> int:
    end = monotonic() + patience
    while (handle := _try(lock)) is None:
        if monotonic() > end:
            raise BusyFileError(f"{path}: another program is changing this file. Try again when it has finished.")
        sleep(_PAUSE)
    return handle


def _try(lock: Path) -> int | None:
    """Return the open lock file if the lock is free, else None."""
    handle = os.open(lock, os.O_RDWR | os.O_CREAT, 0o666)
    if _holds(handle) and _is_current(handle, lock):
        return handle
    os.close(handle)
    return None


def _is_current(handle: int, lock: Path) -> bool:
    """Return whether the lock file still has its name: an earlier holder may have removed it after we opened it."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(lock))
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _holds(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _holds(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
