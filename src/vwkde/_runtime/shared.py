"""Process-wide state that several threads may need at the same time."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import Any


class Shared:
    """A context that the first of several concurrent users enters and the last one leaves.

    If each user saved and restored the state on its own, overlapping users could leave it changed.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = Lock()
        self._users = 0
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._renew_lock)

    def _renew_lock(self) -> None:
        """Replace a lock that another thread held during a fork: no thread is left in the child to release it."""
        self._lock = Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Keep the state during a `with` statement."""
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
