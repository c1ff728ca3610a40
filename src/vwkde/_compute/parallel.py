"""Work in blocks: how large the blocks may be, and how they are distributed over the cores.

Blocks run in threads, not processes: the heavy parts (compiled loops, BLAS) release the interpreter's lock. While
blocks run, BLAS itself is limited to one thread, because the blocks already fill the cores.

The number of threads is limited once, by `at_most`, at the entry of a public function. Everything called from there
respects the limit, on any thread. A block of work stays on its thread.
"""

import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import cache
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import ThreadpoolController

from vwkde._compute.cores import allowed_cores
from vwkde._runtime.progress import track
from vwkde._runtime.shared import Shared

T = TypeVar("T")
R = TypeVar("R")

DEFAULT_MEMORY_BUDGET = 2**28
"""Default limit, in bytes, for the temporary blocks of all threads together."""
_NUMBERS = 2**19
"""Numbers that a thread processes at a time if each needs little work."""

_FEW_NUMBERS = 200_000
"""Numbers in two samples up to which BLAS has one thread: waking more costs more than they gain."""

_MANY_ROWS = 100_000
"""Rows from which single passes over them are worth a thread."""

_is_block: ContextVar[bool] = ContextVar("vwkde_is_block", default=False)
"""Whether the current code is a block of work, on a thread that others wait for."""
_most_threads: ContextVar[int | None] = ContextVar("vwkde_most_threads", default=None)


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Limit the work inside the `with` statement to this many threads; None leaves the limit as it is.

    Of nested limits, the smallest applies.
    """
    limits = [limit for limit in (n_threads, _most_threads.get()) if limit is not None]
    token = _most_threads.set(min(limits, default=None))
    try:
        yield
    finally:
        _most_threads.reset(token)


@contextmanager
def as_block() -> Iterator[None]:
    """Treat the work inside the `with` statement as one of several concurrent blocks: it stays on this thread."""
    token = _is_block.set(True)
    try:
        yield
    finally:
        _is_block.reset(token)


def thread_count() -> int:
    """Return the number of threads to use here: the limit that was set, or what the machine and environment allow.

    Inside a block of work it is one.
    """
    if _is_block.get():
        return 1
    return _most_threads.get() or _allowed_threads()


def _allowed_threads() -> int:
    """Return what the environment allows, or else the machine, which is asked last: it reads files."""
    environment = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    limits = [int(limit) for limit in environment if limit.isdigit()]
    return max(1, min(limits)) if limits else _machine_threads()


_machine_threads = cache(allowed_cores)


def block_rows(bytes_per_row: int, memory_budget: int) -> int:
    """Return how many rows of this size fit into the budget, at least one."""
    return max(1, memory_budget // max(1, bytes_per_row))


def rows_at_a_time(columns: int) -> int:
    """Return how many rows a thread processes at a time if each number needs little work."""
    return max(1, _NUMBERS // columns)


def split(n: int, size: int) -> list[slice]:
    """Return consecutive slices of at most `size` that cover range(n)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def run(work: Callable[[T], R], items: Sequence[T], stage: str | None = None) -> list[R]:
    """Apply `work` to every item on several threads, with BLAS limited to one thread each; return the results in order.

    Progress is reported under the name of the stage, if there is one. Progress that the work itself reports is received
    from every thread.
    """
    threads = min(thread_count(), len(items))
    with single_threaded_blas():
        results: Iterator[R] = _shared_out(work, items, threads) if threads > 1 else map(work, items)
        return list(track(results, stage, len(items)) if stage else results)


def run_over_rows(work: Callable[[slice], R], rows: int, size: int) -> list[R]:
    """Apply `work` to blocks of at most `size` rows and return the results; a single block runs directly."""
    return [work(slice(0, rows))] if rows <= size else run(work, split(rows, size))


def run_if_many(work: Callable[[T], R], items: Sequence[T], rows: int) -> list[R]:
    """Apply `work`, which goes through so many rows, to every item: on several threads only if the rows are many."""
    return run(work, items) if rows >= _MANY_ROWS else [work(item) for item in items]


def concurrently(work: Callable[[T], R], items: Sequence[T], rows: int) -> list[R]:
    """Apply `work` like `run_if_many`, but let each item use several threads in turn.

    For a few large tasks of different length, whose own blocks fill the cores that are left. Small tasks would spend
    more time waiting for the interpreter's lock than they gain.
    """
    threads = min(thread_count(), len(items)) if rows >= _MANY_ROWS else 1
    return list(_shared_out(work, items, threads, blocks=False)) if threads > 1 else [work(item) for item in items]


def elementwise(function: Callable[..., NDArray[np.float64]], *arrays: NDArray[Any]) -> NDArray[np.float64]:
    """Apply a function of numbers to the rows of arrays, in blocks that stay in a core's cache, on several threads."""
    result = np.empty(len(arrays[0]))

    def work(rows: slice) -> None:
        result[rows] = function(*(array[rows] for array in arrays))

    run_over_rows(work, len(result), _NUMBERS // 8)
    return result


def take_rows(x: NDArray[Any], rows: NDArray[np.intp], dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return rows of a matrix in some order, in another precision if one is given, gathered by several threads."""
    result = np.empty((len(rows), x.shape[1]), x.dtype if dtype is None else dtype)

    def work(part: slice) -> None:
        result[part] = x[rows[part]]

    run_over_rows(work, len(rows), rows_at_a_time(x.shape[1]))
    return result


def converted(x: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    """Return a matrix in another precision, converted by several threads; the same one if it has that precision."""
    return x if x.dtype == dtype else take_rows(x, np.arange(len(x)), dtype)


def _shared_out(work: Callable[[T], R], items: Sequence[T], threads: int, blocks: bool = True) -> Iterator[R]:
    """Yield the results of the items in order, computed by this thread and by free threads of the pool.

    Each of these threads takes the next item that none has started. This thread waits only for items that have been
    started, never for a pool thread to become free. So there is no deadlock when all pool threads are busy with callers
    that wait in turn.
    """
    results: list[Future[R]] = [Future() for _ in items]
    not_started = deque(zip(items, results, strict=True))

    def do_next() -> bool:
        try:
            item, result = not_started.popleft()
        except IndexError:
            return False
        _do(work, item, result, blocks)
        return True

    def do_all() -> None:
        while do_next():
            pass

    with suppress(RuntimeError):  # no thread can be started, for example while the interpreter shuts down
        for _ in range(threads - 1):
            _pool(threads - 1).submit(copy_context().run, do_all)
    try:
        for result in results:
            while not result.done() and do_next():
                pass
            yield result.result()
    finally:
        not_started.clear()


def _do(work: Callable[[T], R], item: T, result: "Future[R]", block: bool) -> None:
    """Run one item. An error is raised where the result is read; an interruption also here, at once."""
    try:
        with as_block() if block else nullcontext():
            result.set_result(work(item))
    except BaseException as error:
        result.set_exception(error)
        if not isinstance(error, Exception):
            raise


@contextmanager
def single_threaded() -> Iterator[None]:
    """Limit BLAS, and OpenMP loops started by this thread, to one thread.

    For many small operations: waking more threads costs more than it gains, and much more on a busy machine.
    """
    with single_threaded_blas(), _openmp("sklearn" in sys.modules).limit(limits=1, user_api="openmp"):
        yield


@contextmanager
def openmp() -> Iterator[None]:
    """Limit OpenMP loops started by this thread to the number of threads that they may use here."""
    with _openmp("sklearn" in sys.modules).limit(limits=openmp_threads(), user_api="openmp"):
        yield


def openmp_threads() -> int:
    """Return the number of threads that OpenMP may use here.

    It is one in a forked process: GNU OpenMP would wait for threads that exist only in the parent.
    """
    return 1 if _is_forked else thread_count()


@cache
def _openmp(of_scikit_learn: bool) -> ThreadpoolController:
    """Return what limits OpenMP; that of scikit-learn must be loaded to be found, and may not be loaded yet."""
    if of_scikit_learn:
        import sklearn.utils._openmp_helpers  # noqa: F401

    return ThreadpoolController()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a persistent pool: starting threads again would take longer than a small problem."""
    return ThreadPoolExecutor(threads, thread_name_prefix="vwkde")


def _note_fork() -> None:
    """Drop the pool in a child process, which does not inherit its threads."""
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


single_threaded_blas = Shared(lambda: _blas().limit(limits=1, user_api="blas"))
"""Limit BLAS to one thread during a `with` statement: in blocks of work, and where its operations are small."""


def blas_for(numbers: int) -> AbstractContextManager[Any]:
    """Return the limit of BLAS during a fit to so many numbers: one thread if they are few, else none."""
    return single_threaded_blas() if numbers <= _FEW_NUMBERS else nullcontext()
