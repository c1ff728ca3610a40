"""A state of the whole process that several threads may want at once."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any


class Shared:
    """A context that is entered by the first of several simultaneous users and left by the last.

    If each of them changed the state and restored what it had found, the state could end up changed.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = Lock()
        self._users = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold the state for the length of a `with` statement."""
        with self._lock:
            if self._users == 0:
                self._context = self._make()
                self._context.__enter__()
            self._users += 1
        try:
            yield
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._context.__exit__(None, None, None)
