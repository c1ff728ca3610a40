"""A state of the whole process that several threads may want at once."""

import os
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
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self) -> None:
        """Forget a lock that another thread held when this process was forked: nobody is left to release it."""
        self._lock = Lock()

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
