"""Work in blocks: how large they may be, and how they spread over the cores.

Threads, not processes: the heavy parts (compiled loops, BLAS) release the interpreter's lock. While blocks run, BLAS
itself is held to one thread, because the blocks already fill the cores.

How many threads there may be is said once, where a public function is entered, by `at_most`; everything below it,
on whatever thread, keeps to that. A block of work stays on its thread.
"""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from typing import TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from vwkde._runtime.progress import track
from vwkde._runtime.shared import Shared

T = TypeVar("T")
R = TypeVar("R")

DEFAULT_MEMORY_BUDGET = 2**28
"""Bytes that temporary blocks may take by default, all threads together."""
_NUMBERS = 2**19
"""Numbers that a thread takes at a time where the work on each is little."""

_is_block: ContextVar[bool] = ContextVar("vwkde_is_block", default=False)
"""Whether this is a block of work, on a thread that others wait for."""
_most_threads: ContextVar[int | None] = ContextVar("vwkde_most_threads", default=None)


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Let the work that follows take this many threads at most; None leaves the limit as it is.

    Limits within limits: the smallest holds.
    """
    limits = [limit for limit in (n_threads, _most_threads.get()) if limit is not None]
    token = _most_threads.set(min(limits, default=None))
    try:
        yield
    finally:
        _most_threads.reset(token)


@contextmanager
def as_block() -> Iterator[None]:
    """Treat what follows as one block among others that run at the same time: it stays on this thread."""
    token = _is_block.set(True)
    try:
        yield
    finally:
        _is_block.reset(token)


def thread_count() -> int:
    """Return the number of threads to use here: the limit that was set, or what the machine and its environment allow.

    Within a block of work it is one.
    """
    if _is_block.get():
        return 1
    environment = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    allowed = min([int(limit) for limit in environment if limit.isdigit()], default=joblib.cpu_count())
    return _most_threads.get() or max(1, allowed)


def block_rows(bytes_per_row: int, memory_budget: int) -> int:
    """Return how many rows of that size fit the budget, at least one."""
    return max(1, memory_budget // max(1, bytes_per_row))


def rows_at_a_time(columns: int) -> int:
    """Return how many rows of this many numbers a thread takes at a time where the work on each number is little."""
    return max(1, _NUMBERS // columns)


def split(n: int, size: int) -> list[slice]:
    """Return consecutive slices of at most `size` that cover range(n)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def run(work: Callable[[T], R], items: Sequence[T], stage: str | None = None) -> list[R]:
    """Return what `work` makes of every item, in their order, by several threads with BLAS held to one thread each.

    Progress is reported under the stage's name, if it has one; what the work itself reports is heard from every thread.
    """
    threads = min(thread_count(), len(items))
    with _single_threaded_blas():
        results: Iterator[R] = _shared_out(work, items, threads) if threads > 1 else map(work, items)
        return list(track(results, stage, len(items)) if stage else results)


def run_over_rows(work: Callable[[slice], R], rows: int, size: int) -> list[R]:
    """Return what `work` makes of blocks of at most `size` rows; for a single block there is nothing to set up."""
    return [work(slice(0, rows))] if rows <= size else run(work, split(rows, size))


def _shared_out(work: Callable[[T], R], items: Sequence[T], threads: int) -> Iterator[R]:
    """Yield the results of items in their order, done by this thread and by free threads of the pool.

    Each of them takes the next item that nobody has begun. So this thread waits only for items that are being done, and
    never for a pool whose threads are all taken by others, who may be waiting in turn.
    """
    results: list[Future[R]] = [Future() for _ in items]
    not_begun = deque(zip(items, results, strict=True))

    def do_next() -> bool:
        try:
            item, result = not_begun.popleft()
        except IndexError:
            return False
        _do(work, item, result)
        return True

    def do_all() -> None:
        while do_next():
            pass

    with suppress(RuntimeError):  # no threads can be started, for example while the interpreter shuts down
        for _ in range(threads - 1):
            _pool(threads - 1).submit(copy_context().run, do_all)
    try:
        for result in results:
            while not result.done() and do_next():
                pass
            yield result.result()
    finally:
        not_begun.clear()


def _do(work: Callable[[T], R], item: T, result: "Future[R]") -> None:
    """Do one item as a block; what goes wrong is raised where the result is asked for, an interruption at once."""
    try:
        with as_block():
            result.set_result(work(item))
    except BaseException as error:
        result.set_exception(error)
        if not isinstance(error, Exception):
            raise


@contextmanager
def single_threaded() -> Iterator[None]:
    """Hold BLAS, and OpenMP loops started by this thread, to one thread.

    For many small operations: waking more threads costs more than they gain, and very much more on a busy machine.
    """
    with _single_threaded_blas(), _openmp().limit(limits=1, user_api="openmp"):
        yield


@contextmanager
def openmp() -> Iterator[None]:
    """Let OpenMP loops started by this thread use as many threads as they may here."""
    with _openmp().limit(limits=openmp_threads(), user_api="openmp"):
        yield


def openmp_threads() -> int:
    """Return the number of threads that OpenMP may use here.

    In a forked process it is one: the OpenMP of GNU would wait for threads that only the parent has.
    """
    return 1 if _is_forked else thread_count()


@cache
def _openmp() -> ThreadpoolController:
    import sklearn.utils._openmp_helpers  # noqa: F401  the OpenMP that scikit-learn calls must be loaded to be found

    return ThreadpoolController()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that stay: starting them anew would cost more than a small problem takes."""
    return ThreadPoolExecutor(threads, thread_name_prefix="vwkde")


def _note_fork() -> None:
    """Forget, in a child process, the pool whose threads it has not inherited."""
    global _is_forked
    _is_forked = True
    _pool.cache_clear()


_is_forked = False
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg.cython_blas  # noqa: F401  the BLAS that compiled code calls must be loaded to be found

    return ThreadpoolController()


_single_threaded_blas = Shared(lambda: _blas().limit(limits=1, user_api="blas"))
