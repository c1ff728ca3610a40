"""SIGTERM ends a command as Ctrl-C does: what was found so far is written. The exit status tells them apart."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from vwkde.cli.interrupts import Interrupt
from vwkde.cli.options import INTERRUPTED, TERMINATED


class Terminating(Interrupt):
    """Whether SIGTERM has come; and no interrupt, of either kind, gets lost."""

    def __init__(self) -> None:
        super().__init__()
        self._shown = sys.unraisablehook

    def status(self, status: Any) -> Any:
        """Return the exit status: that of SIGTERM, if this is what interrupted the command."""
        return TERMINATED if self.has_come and status == INTERRUPTED else status

    def ignored(self, exception: Any) -> None:
        """Take an interrupt up again that was ignored, as by compiled code that called Python."""
        if issubclass(exception.exc_type, KeyboardInterrupt):
            self.come_again(signal.SIGTERM if self.has_come else signal.SIGINT)
        else:
            self._shown(exception)


@contextmanager
def terminating() -> Iterator[Terminating]:
    """Take SIGTERM as an interrupt for the length of a `with` statement."""
    terminate = Terminating()
    if threading.current_thread() is not threading.main_thread():  # signals come to the main thread alone
        yield terminate
        return
    before, shown = signal.signal(signal.SIGTERM, terminate), sys.unraisablehook
    sys.unraisablehook = terminate.ignored
    try:
        yield terminate
    finally:
        terminate.forget()
        sys.unraisablehook = shown
        signal.signal(signal.SIGTERM, before)
