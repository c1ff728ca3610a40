"""A state of the whole process that several threads may want at once."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from threading import Lock, get_ident
from typing import Any


class Shared:
    """A context that is entered by the first of several simultaneous users and left by the last.

    If each of them changed the state and restored what it had found, the state could end up changed.
    """

    def __init__(self, make: Callable[[], AbstractContextManager[Any]]) -> None:
        self._make = make
        self._lock = Lock()
        self._state = ExitStack()
        self._thread_of_user: dict[object, int] = {}
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget_other_threads)

    def _forget_other_threads(self) -> None:
        """Forget the lock and the users of threads that this forked process has not inherited."""
        self._lock = Lock()
        here = get_ident()
        self._thread_of_user = {user: thread for user, thread in self._thread_of_user.items() if thread == here}
        if not self._thread_of_user:
            self._state.close()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Hold the state for the length of a `with` statement."""
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
