"""Work in blocks: how large they may be, and how they spread over the cores.

Threads, not processes: the heavy parts (compiled loops, BLAS) release the interpreter's lock. While blocks run, BLAS
itself is held to one thread, because the blocks already fill the cores.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from functools import cache
from typing import Any, TypeVar

import joblib
from threadpoolctl import ThreadpoolController

from vwkde._runtime.progress import track
from vwkde._runtime.shared import Shared

T = TypeVar("T")

_is_block: ContextVar[bool] = ContextVar("vwkde_is_block", default=False)
"""Whether this is a block of work, on a thread that others wait for."""

DEFAULT_MEMORY_BUDGET = 2**28
"""Bytes that temporary blocks may take, all threads together, unless told otherwise."""


_most_threads: ContextVar[int | None] = ContextVar("vwkde_most_threads", default=None)


@contextmanager
def at_most(n_threads: int | None) -> Iterator[None]:
    """Let work that is not told how many threads to use take so many, at most; None leaves it to the machine."""
    token = _most_threads.set(n_threads or _most_threads.get())
    try:
        yield
    finally:
        _most_threads.reset(token)


def thread_count(n_threads: int | None = None) -> int:
    """Return the number of threads to use: the one asked for, else what the machine and its environment allow."""
    n_threads = n_threads or _most_threads.get()
    if n_threads is not None:
        return n_threads
    limits = [os.environ.get(name, "") for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS")]
    return max(1, min([int(limit) for limit in limits if limit.isdigit()], default=joblib.cpu_count()))


def block_rows(bytes_per_row: int, memory_budget: int) -> int:
    """Return how many rows of that size fit the budget, at least one."""
    return max(1, memory_budget // max(1, bytes_per_row))


def split(n: int, size: int) -> list[slice]:
    """Return consecutive slices of at most `size` that cover range(n)."""
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def run(work: Callable[[T], Any], blocks: list[T], stage: str | None = None, n_threads: int | None = None) -> list[Any]:
    """Call `work` on every block, on several threads, with BLAS held to one thread each.

    Progress is told under the stage's name, if it has one; what the work itself tells is heard from every thread. Work
    that runs blocks in turn does so on its own thread: waiting for others, it would keep them from ever being free.
    """
    threads = 1 if _is_block.get() else min(thread_count(n_threads), len(blocks))
    with _single_threaded_blas():
        results: Iterator[Any] = map(work, blocks)
        if threads > 1:

            def as_block(context: Context, block: T) -> Any:
                context.run(_is_block.set, True)
                return context.run(work, block)

            results = _pool(threads).map(as_block, [copy_context() for _ in blocks], blocks)
        return list(track(results, stage, len(blocks)) if stage else results)


def run_over_rows(work: Callable[[slice], None], rows: int, size: int, n_threads: int | None = None) -> None:
    """Call `work` on blocks of at most `size` rows; where one block holds them all, there is nothing to set up."""
    if rows <= size:
        work(slice(0, rows))
    else:
        run(work, split(rows, size), None, n_threads)


@contextmanager
def as_block() -> Iterator[None]:
    """Treat what follows as one block among others that run at the same time: it stays on this thread."""
    token = _is_block.set(True)
    try:
        yield
    finally:
        _is_block.reset(token)


@contextmanager
def single_threaded() -> Iterator[None]:
    """Hold BLAS, and OpenMP loops started by this thread, to one thread.

    For many small operations: waking more threads costs more than they gain, and very much more on a busy machine.
    """
    with _single_threaded_blas(), _openmp().limit(limits=1, user_api="openmp"):
        yield


@cache
def _openmp() -> ThreadpoolController:
    import sklearn.utils._openmp_helpers  # noqa: F401  the OpenMP that scikit-learn calls must be loaded to be found

    return ThreadpoolController()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return threads that stay: starting them anew would cost more than a small problem takes."""
    return ThreadPoolExecutor(threads, thread_name_prefix="vwkde")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child process inherits the pool, but not its threads


@cache
def _blas() -> ThreadpoolController:
    import scipy.linalg.cython_blas  # noqa: F401  the BLAS that compiled code calls must be loaded to be found

    return ThreadpoolController()


_single_threaded_blas = Shared(lambda: _blas().limit(limits=1, user_api="blas"))
