"""Who added good images to a model, when, and what was taken back."""

import getpass
import os
import socket
from collections.abc import Iterable, Sequence
from dataclasses import asdict, astuple, dataclass
from datetime import UTC, datetime
from typing import Any, Literal, get_args

from vwkde._runtime.versions import VERSION

Kind = Literal["add", "undo", "calibrate"]


@dataclass(frozen=True)
class Making:
    """How a model was made.

    Attributes
    ----------
    who : str
        Who fitted it: user and machine; empty if an old model file does not say it.
    when : str
        The time in UTC, as in ISO 8601.
    version : str
        The version of vwkde.
    note : str
        What the user wrote about it.
    """

    who: str = ""
    when: str = ""
    version: str = ""
    note: str = ""


@dataclass(frozen=True)
class Change:
    """A change of a fitted model: good images were added, the last ones added were taken back, or bad ones were shown.

    Attributes
    ----------
    kind : {"add", "undo", "calibrate"}
        Whether good images were added or taken back, or known bad images have moved the threshold.
    names : tuple of str
        The names of these images in the model.
    who : str
        Who made the change: user and machine, or the client of a server.
    when : str
        The time in UTC, as in ISO 8601.
    """

    kind: Kind
    names: tuple[str, ...]
    who: str
    when: str

    def to_dict(self) -> dict[str, Any]:
        """Return the change as in a model file."""
        return asdict(self) | {"names": list(self.names)}


def make_change(kind: Kind, names: Iterable[str], who: str | None) -> Change:
    """Return a change that is made now; by default by the user of this process."""
    return Change(kind, tuple(names), this_user() if who is None else who, _now())


def make_making(note: str) -> Making:
    """Return that a model is made now, by the user of this process."""
    return Making(this_user(), _now(), VERSION, note)


def read_making(saved: Any) -> Making:
    """Return how a model file says that it was made; ValueError if it cannot be read."""
    making = Making(**saved)
    if not all(isinstance(text, str) for text in astuple(making)):
        raise ValueError("how the model was made cannot be read")
    return making


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


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
        elif change.kind == "undo" and additions:
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
    if saved["kind"] not in get_args(Kind) or not all(isinstance(text, str) for text in texts):
        raise ValueError("the history cannot be read")
    return Change(saved["kind"], tuple(saved["names"]), saved["who"], saved["when"])
