"""Who added good images to a model, when, and what was taken back."""

import getpass
import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal


@dataclass(frozen=True)
class Change:
    """A change of a fitted model: good images were added, or the last ones added were taken back.

    Attributes
    ----------
    kind : {"add", "undo"}
        Whether images were added or taken back.
    names : tuple of str
        The names of these images in the model.
    who : str
        Who made the change: user and machine, or the client of a server.
    when : str
        The time in UTC, as in ISO 8601.
    """

    kind: Literal["add", "undo"]
    names: tuple[str, ...]
    who: str
    when: str

    def to_dict(self) -> dict[str, Any]:
        """Return the change as in a model file."""
        return asdict(self) | {"names": list(self.names)}


def make_change(kind: Literal["add", "undo"], names: Iterable[str], who: str | None) -> Change:
    """Return a change that is made now; by default by the user of this process."""
    when = datetime.now(UTC).isoformat(timespec="seconds")
    return Change(kind, tuple(names), this_user() if who is None else who, when)


def this_user() -> str:
    """Return the name of the user and of the machine."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a user without a name, as in some containers
        user = f"user {os.getuid()}" if hasattr(os, "getuid") else "unknown user"
    return f"{user}@{socket.gethostname()}"


def standing(changes: Sequence[Change]) -> list[Change]:
    """Return the additions that were not taken back, in order."""
    additions: list[Change] = []
    for change in changes:
        if change.kind == "add":
            additions.append(change)
        elif additions:
            additions.pop()
    return additions


def read_changes(saved: Any, names: Sequence[str]) -> tuple[Change, ...]:
    """Return the changes of a model file; ValueError if they do not fit the names of its images."""
    changes = tuple(_read_change(each) for each in saved)
    added = [name for change in standing(changes) for name in change.names]
    if added != list(names[len(names) - len(added) :]):
        raise ValueError("the history does not fit the images")
    return changes


def _read_change(saved: Any) -> Change:
    texts = saved["kind"], saved["who"], saved["when"], *saved["names"]
    if saved["kind"] not in ("add", "undo") or not all(isinstance(text, str) for text in texts):
        raise ValueError("the history cannot be read")
    return Change(saved["kind"], tuple(saved["names"]), saved["who"], saved["when"])
