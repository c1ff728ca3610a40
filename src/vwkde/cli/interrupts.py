"""Signals that interrupt a command, but never an import: modules that are loaded by half give strange errors later."""

import signal
import time
from _thread import interrupt_main, start_new_thread
from threading import main_thread
from types import FrameType

_PAUSE = 0.02
"""Seconds after which a signal comes again that could not interrupt anything."""


class Interrupt:
    """A signal handler that raises KeyboardInterrupt, after the import if one is under way.

    Some modules catch every exception while they are imported, and the interrupt would be lost there. A second signal
    does not wait for the import: it ends the program.
    """

    def __init__(self) -> None:
        self.has_come = False
        self._is_waiting = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Raise KeyboardInterrupt now or after the import."""
        self.has_come = True
        if not _is_importing(frame):
            self._is_waiting = False
            raise KeyboardInterrupt
        if self._is_waiting:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        self.come_again(number)

    def come_again(self, number: int) -> None:
        """Let a signal come again in a moment."""
        self._is_waiting = True
        start_new_thread(self._wait, (number,))

    def forget(self) -> None:
        """Let a signal that still waits not come again: the command is over."""
        self._is_waiting = False

    def _wait(self, number: int) -> None:
        time.sleep(_PAUSE)
        if self._is_waiting:
            self._is_waiting = False
            _send(number)


def caused_by_interrupt(error: BaseException) -> bool:
    """Return whether an error is what compiled code made of an interrupt."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause is not None


def _is_importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib."):
            return True
        frame = frame.f_back
    return False


def _send(number: int) -> None:
    """Send a signal to the main thread, also if it waits in the system."""
    main = main_thread().ident
    if hasattr(signal, "pthread_kill") and main is not None:
        signal.pthread_kill(main, number)
    else:
        interrupt_main(signal.Signals(number))
