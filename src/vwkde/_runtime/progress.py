"""Progress of long computations, reported to a listener.

Loops over blocks wrap their iterable in `track`. Without a listener nothing is printed. The command line listens while
a command runs; long calls in terminals and notebooks listen for themselves (`vwkde._display.waiting`).
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")
Listener = Callable[[str, int, int], None]
"""Called with (stage, blocks done, total blocks)."""

_listener: ContextVar[Listener | None] = ContextVar("vwkde_progress", default=None)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Report every block that finishes inside the `with` statement to `listener`."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def is_heard() -> bool:
    """Return whether someone listens."""
    return _listener.get() is not None


def track(items: Iterable[T], stage: str, total: int) -> Iterator[T]:
    """Yield the items, and call the listener after each one."""
    listener = _listener.get()
    for done, item in enumerate(items, start=1):
        yield item
        if listener is not None:
            listener(stage, done, total)
