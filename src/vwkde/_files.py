"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for writing bytes; it takes its place when all is written, and not before."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8."""
    with whole_file(path) as file:
        file.write(text.encode())


def save_picture(path: Path, figure: Any, **options: Any) -> None:
    """Write a Matplotlib figure as PNG."""
    with whole_file(path) as file:
        figure.savefig(file, format="png", **options)


def _umask() -> int:
    """Return the mode bits that new files shall not have; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
