"""Atomic file writes: a file is written completely or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any
from uuid import uuid4


def can_be_replaced(path: Path) -> bool:
    """Return whether a file can be put there: nothing is there, or a regular file. Links are followed.

    One look decides about a name that is no link: between two, another thread may write the file.
    """
    try:
        return stat.S_ISREG(os.stat(os.path.realpath(path)).st_mode)
    except OSError:  # nothing is there, but a link may lead to what has no name, such as standard output
        return not (path.is_symlink() and path.exists())


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes; it appears under its name only when all its data are on disk.

    An existing file keeps its mode, and a link stays a link: the file that it points to is replaced. A pipe or a device
    is not replaced.
    """
    if not can_be_replaced(path) and not path.is_dir():  # the system has its own words for folders
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    named, path = path, Path(os.path.realpath(path))
    temporary = path.with_name(f".{path.name}.{uuid4().hex[:8]}")
    handle = _created(temporary, named)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileNotFoundError):
            os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
        os.replace(temporary, path)
    except BaseException:
        with suppress(FileNotFoundError):  # an interrupt may come when it has just got its name
            os.unlink(temporary)
        raise


def _created(temporary: Path, path: Path) -> int:
    """Create a temporary file and return its descriptor; errors name the file that is to be written."""
    try:
        return os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    except FileNotFoundError as error:
        words = f"there is no folder {temporary.parent}; create it first, or choose another"
        raise FileNotFoundError(error.errno, words, str(path)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def write_text(path: Path, text: str) -> None:
    """Write text in UTF-8."""
    with whole_file(path) as file:
        file.write(text.encode())


def save_picture(path: Path, figure: Any, **options: Any) -> None:
    """Write a Matplotlib figure as PNG."""
    with whole_file(path) as file:
        figure.savefig(file, format="png", **options)
