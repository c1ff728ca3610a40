"""An inspector that many people use at once: checks never wait for a change of the model, and never see half of one.

The inspector in use is never changed. Adding a good image makes a new inspector, which is saved first and then replaces
the old one; running checks continue with the one they started with. The model file is the one truth: if another program
changes it, the server reads it again, and an addition is made to what the file then has.

Few checks run at a time, because each already uses all cores. The others wait in a queue of limited length, and keep no
pixels in memory.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import LifoQueue
from threading import Lock
from typing import Any

from vwkde._runtime.warn import without
from vwkde.exceptions import FewImagesWarning
from vwkde.inspection.model.files.container import ModelFileError
from vwkde.inspection.model.files.model import locked_model
from vwkde.inspection.model.inspector import SurfaceInspector
from vwkde.inspection.server import tasks
from vwkde.inspection.server.limits import MOST_WAITING
from vwkde.inspection.server.worker import Task
from vwkde.inspection.server.workers import Allowance, Worker

Read = Callable[[], Awaitable[bytes]]
"""Returns what a client has sent, or raises an error if the client is gone."""

_Signature = tuple[int, int, int]

_CHECKS_AT_ONCE = 2
"""While one check computes on all cores, the image of another can be decoded or its map drawn."""
_PATIENCE = 20.0
"""Seconds that an addition waits while another program changes the model file."""


class BusyError(RuntimeError):
    """There is more work waiting than the server accepts."""


class ChangedFileError(RuntimeError):
    """The model file cannot be read any more, or another program is changing it."""


class NotSavedError(RuntimeError):
    """The model file could not be written."""


class Station:
    """An inspector in use, and its model file, if any."""

    def __init__(
        self,
        inspector: SurfaceInspector,
        path: Path | None = None,
        allowance: Allowance | None = None,
        most_waiting: int = MOST_WAITING,
    ) -> None:
        self.inspector = inspector
        self._path = path
        self._seen: _Signature | None = None  # the file may have changed since it was read
        self._reading = Lock()
        self._most_waiting, self._waiting = most_waiting, 0
        self._turns = asyncio.Semaphore(_CHECKS_AT_ONCE)
        allowance = allowance or Allowance()
        self._free: LifoQueue[Worker] = LifoQueue()
        self._workers = [Worker(allowance) for _ in range(_CHECKS_AT_ONCE)]
        for worker in self._workers:
            self._free.put(worker)
        self._changer, self._clerk = Worker(allowance), Worker(allowance)
        self._checks = ThreadPoolExecutor(_CHECKS_AT_ONCE, thread_name_prefix="vwkde-check")
        self._changes, self._tables = (
            ThreadPoolExecutor(1, thread_name_prefix=f"vwkde-{name}") for name in ("change", "table")
        )

    @property
    def path(self) -> Path | None:
        """The model file, if any."""
        return self._path

    @property
    def is_full(self) -> bool:
        """Whether further work would be refused."""
        return self._waiting >= self._most_waiting

    def warm_up(self) -> None:
        """Start the workers for checks now, so that the first client does not wait for them."""
        for _ in self._workers:
            self._checks.submit(self._do, self.inspector, tasks.nothing, b"")

    def close(self) -> None:
        """Accept no more work, and end what is running."""
        for pool in (self._checks, self._changes, self._tables):
            pool.shutdown(wait=False, cancel_futures=True)
        for worker in (*self._workers, self._changer, self._clerk):
            worker.close()

    async def do(self, task: Task, read: Read, *arguments: Any) -> Any:
        """Do a task with the inspector that is in use when its turn comes, and with what `read` then returns."""
        with self._place():
            async with self._turns:
                data = await read()
                await self.refresh()
                run = asyncio.get_running_loop().run_in_executor
                return await run(self._checks, self._do, self.inspector, task, data, *arguments)

    async def add(self, read: Read, name: str, by: str) -> SurfaceInspector:
        """Add a good image, and return the new inspector; one change at a time."""
        with self._place():
            data = await read()
            return await asyncio.get_running_loop().run_in_executor(self._changes, self._add, data, name, by)

    async def table(self, read: Read) -> bytes:
        """Return a table of judgements, written by a worker of its own: checks do not wait for tables."""
        with self._place():
            data = await read()
            run = asyncio.get_running_loop().run_in_executor
            return await run(self._tables, self._clerk.do, self.inspector, tasks.table, data)

    @contextmanager
    def _place(self) -> Iterator[None]:
        """Take a place in the queue for the length of a `with` statement."""
        if self.is_full:
            raise BusyError("The server has too much to do. Try again in a moment.")
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1

    async def refresh(self) -> None:
        """Read the model file again if it has changed; one that cannot be read is left aside."""
        if self._path is not None and _signature(self._path) != self._seen:
            await asyncio.to_thread(self._read_again)

    def _read_again(self) -> None:
        if not self._reading.acquire(blocking=False):  # an addition, or another check, is about to do it
            return
        try:
            self._read_if_changed()
        except ModelFileError:
            pass
        finally:
            self._reading.release()

    def _read_if_changed(self) -> None:
        """Read the model file if it is not what is in use; the caller holds the lock of this station."""
        if self._path is None:
            return
        signature = _signature(self._path)
        if signature != self._seen:
            self._seen = signature
            with without(FewImagesWarning):
                self.inspector = SurfaceInspector.load(self._path)

    def _do(self, inspector: SurfaceInspector, task: Task, data: bytes, *arguments: Any) -> Any:
        worker = self._free.get()
        try:
            return worker.do(inspector, task, data, *arguments)
        finally:
            self._free.put(worker)

    def _add(self, data: bytes, name: str, by: str) -> SurfaceInspector:
        if self._path is None:
            self.inspector = self._grown(self.inspector, data, name, by)
            return self.inspector
        try:
            with self._reading, locked_model(self._path, _PATIENCE):
                return self._add_to_file(self._path, data, name, by)
        except ModelFileError as error:
            raise ChangedFileError(f"{self._path.name}: nothing was added. {error}") from None

    def _grown(self, inspector: SurfaceInspector, data: bytes, name: str, by: str) -> SurfaceInspector:
        """Return the inspector with a further image; it may take as long as a check of each good image, which it is."""
        grown: SurfaceInspector = self._changer.do(
            inspector, tasks.add, data, name, by, times=1 + len(inspector.names_)
        )
        return grown

    def _add_to_file(self, path: Path, data: bytes, name: str, by: str) -> SurfaceInspector:
        self._read_if_changed()
        before = self.inspector
        changed = self._grown(before, data, name, by)
        if len(changed.names_) > len(before.names_):
            try:
                changed.save(path)
            except OSError as error:
                reason = error.strerror or error
                raise NotSavedError(f"{path.name}: the model cannot be saved ({reason}); nothing was added.") from None
            self._seen = _signature(path)
            self.inspector = changed
        return self.inspector


def _signature(path: Path) -> _Signature | None:
    """Return a signature that changes when the file is replaced; None if there is no file."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
