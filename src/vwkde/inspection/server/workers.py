"""The worker processes of a server, seen from the server: few at a time, each task with a time limit."""

import multiprocessing
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from threading import Lock
from time import monotonic
from typing import Any

from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.server.largest import most_pixels
from vwkde.inspection.server.limits import BUSY_FACTOR, DECODE_SECONDS, MOST_MEMORY, MOST_SECONDS
from vwkde.inspection.server.worker import MEGAPIXEL, Task, work

_START_SECONDS = 120.0
"""Time for a worker to start: it loads the library first."""

_LONGEST_WAIT = 3600.0
"""Seconds to wait at once: systems refuse to wait for more than some weeks."""


class TooSlowError(ValueError):
    """A task took longer than it may."""


class LostWorkerError(RuntimeError):
    """A worker ended in the middle of a task."""


@dataclass(frozen=True)
class Allowance:
    """What a task may take: seconds after decoding, processor time of decoding a megapixel, and bytes of memory."""

    seconds: float = MOST_SECONDS
    decode_seconds: float = DECODE_SECONDS
    memory: int = MOST_MEMORY


class Worker:
    """A process that does tasks one after the other; it is started when it is needed, and again after it was ended."""

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._process: BaseProcess | None = None
        self._line: Connection | None = None
        self._inspector: SurfaceInspector | None = None
        self._is_closed = False
        self._changing = Lock()  # a server that ends closes workers while other threads start and use them

    def do(self, inspector: SurfaceInspector, task: Task, *arguments: Any, times: int = 1) -> Any:
        """Return what the task returns for this inspector, or raise what it raises; it may take `times` as long."""
        try:
            line = self._ready(inspector)
            line.send((task, arguments))
            return self._result(line, inspector, times)
        except (EOFError, OSError):
            self.end()
            raise LostWorkerError("The work was ended by the system; the image may need too much memory.") from None
        except TooSlowError:
            self.end()
            raise

    def end(self) -> None:
        """End the process, whatever it does; the next task starts another."""
        with self._changing:
            if self._process is not None:
                self._process.kill()
                self._process.join()
            if self._line is not None:
                self._line.close()
            self._process = self._line = self._inspector = None

    def close(self) -> None:
        """End the process, and start no other."""
        self._is_closed = True
        self.end()

    def _ready(self, inspector: SurfaceInspector) -> Connection:
        """Return the line to a process that has this inspector."""
        if self._line is None or self._process is None or not self._process.is_alive():
            self.end()
            line = self._start()
            _await_ready(line)
        else:
            line = self._line
        if self._inspector is not inspector:
            line.send(inspector)
            self._inspector = inspector
            _await_ready(line)
        return line

    def _start(self) -> Connection:
        context = _context()
        with self._changing:
            if self._is_closed:
                raise LostWorkerError("The server is being stopped.")
            line, theirs = context.Pipe()
            arguments = theirs, self._allowance.memory, self._allowance.decode_seconds
            process = context.Process(target=work, args=arguments, daemon=True)
            process.start()
            theirs.close()
            self._process, self._line = process, line
        return line

    def _result(self, line: Connection, inspector: SurfaceInspector, times: int) -> Any:
        limit = BUSY_FACTOR * self._allowance.decode_seconds * max(1.0, most_pixels(inspector) / MEGAPIXEL)
        is_decoded = False
        while True:
            try:
                kind, value = _received(line, limit)
            except EOFError:
                if is_decoded:
                    raise
                raise TooSlowError("The image takes too long to decode; save it again in another format.") from None
            if kind == "done":
                return value
            if kind == "failed":
                raise value
            limit, is_decoded = times * self._allowance.seconds, True


def _await_ready(line: Connection) -> None:
    """Wait until a worker has loaded the library, or what a new inspector needs."""
    if not line.poll(_START_SECONDS):
        line.close()
        raise TooSlowError("The server is too busy to start a worker. Try again later.")
    line.recv()


def _received(line: Connection, limit: float) -> tuple[str, Any]:
    end = monotonic() + limit
    while not line.poll(min(_LONGEST_WAIT, max(0.0, end - monotonic()))):
        if monotonic() >= end:
            raise TooSlowError(f"The image takes longer than {limit:g} seconds; save it in another format, or smaller.")
    kind, value = line.recv()
    return kind, value


def _context() -> Any:
    """Return how processes are started: from a small process that has loaded the library once, where there is one."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    with suppress(ValueError):
        context.set_forkserver_preload(["vwkde.inspection.server.tasks"])
    return context
