"""Image files that appear in a folder. Each is given when it is whole: a camera or a copy may still be writing it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vwkde.inspection.data.files import list_images
from vwkde.inspection.data.layouts import Item
from vwkde.inspection.runs.earlier import without_overlays

Signature = tuple[int, int, int]
"""Size, time of the last change and number of a file: another signature is another content."""


@dataclass(frozen=True)
class Arrival:
    """A file that stayed as it is since the last look; `is_settled` if it did not change for a while either."""

    item: Item
    signature: Signature
    is_settled: bool


class Arrivals:
    """The images of a folder and of the folders below it, each given once for each content.

    Parameters
    ----------
    folder : Path
        The folder.
    patience : float, default=10.0
        Seconds after the last change of a file after which nobody is expected to write more of it.
    now : callable, default=time.time
        The clock of the file system.
    """

    def __init__(self, folder: Path, patience: float = 10.0, now: Callable[[], float] = time.time) -> None:
        self._folder, self._patience, self._now = folder, patience, now
        self._seen: dict[Path, Signature] = {}
        self._done: dict[Path, Signature] = {}

    def look(self) -> list[Arrival]:
        """Return the files that did not change since the last look and are not done yet."""
        before = self._seen
        found = {path: _signature(path) for path in without_overlays(list_images(self._folder, recursive=True))}
        self._seen = {path: signature for path, signature in found.items() if signature is not None}
        self._done = {path: signature for path, signature in self._done.items() if path in self._seen}
        return [
            Arrival(Item(path, path.relative_to(self._folder).as_posix()), signature, self._is_settled(signature))
            for path, signature in self._seen.items()
            if before.get(path) == signature and self._done.get(path) != signature
        ]

    def is_unchanged(self, arrival: Arrival) -> bool:
        """Return whether a file is still the one that was given: what was read of it is then its whole content."""
        return _signature(arrival.item.path) == arrival.signature

    def done(self, arrival: Arrival) -> None:
        """Do not give this file again unless it changes."""
        self._done[arrival.item.path] = arrival.signature

    def _is_settled(self, signature: Signature) -> bool:
        return self._now() - signature[1] / 1e9 >= self._patience


def _signature(path: Path) -> Signature | None:
    """Return the signature of a file; None if it is gone, or has no content yet."""
    try:
        status = path.stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ino) if status.st_size else None
