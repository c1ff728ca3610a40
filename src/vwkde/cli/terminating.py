"""SIGTERM ends a command as Ctrl-C does: what was found so far is written. The exit status tells them apart."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vwkde.cli.options import INTERRUPTED, TERMINATED


class Terminating:
    """Whether SIGTERM has come."""

    def __init__(self) -> None:
        self.has_come = False

    def status(self, status: Any) -> Any:
        """Return the exit status: that of SIGTERM, if this is what interrupted the command."""
        return TERMINATED if self.has_come and status == INTERRUPTED else status

    def interrupt(self, *_: Any) -> None:
        """Interrupt the command."""
        self.has_come = True
        raise KeyboardInterrupt


@contextmanager
def terminating() -> Iterator[Terminating]:
    """Take SIGTERM as an interrupt for the length of a `with` statement."""
    terminate = Terminating()
    if threading.current_thread() is not threading.main_thread():  # signals come to the main thread alone
        yield terminate
        return
    before = signal.signal(signal.SIGTERM, terminate.interrupt)
    try:
        yield terminate
    finally:
        signal.signal(signal.SIGTERM, before)
