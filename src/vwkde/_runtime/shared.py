"""Process-wide state that several threads may need at the same time."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock, get_ident
from typing import Any


class Shared:
    """A context that the first of several concurrent users enters and the last one leaves.

    If each user saved and restored the state on its own, overlapping users could leave it changed.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = Lock()
        self._state = ExitStack()
        self._thread_of_user: dict[object, int] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_other_threads)

    def _forget_other_threads(self) -> None:
        """Drop the lock and the users of other threads, which do not exist in a forked process."""
        self._lock = Lock()
        here = get_ident()
        self._thread_of_user = {user: thread for user, thread in self._thread_of_user.items() if thread == here}
        if not self._thread_of_user:
            self._state.close()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Keep the state during a `with` statement."""
        user = object()
        with self._lock:
            if not self._thread_of_user:
                self._state.enter_context(self._make())
            self._thread_of_user[user] = get_ident()
        try:
            yield
        finally:
            with self._lock:
                self._thread_of_user.pop(user, None)
                if not self._thread_of_user:
                    self._state.close()
