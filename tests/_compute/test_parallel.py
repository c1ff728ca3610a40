import multiprocessing
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import numpy as np
import pytest
import scipy.linalg.cython_blas  # noqa: F401
from threadpoolctl import threadpool_info

from support.work import kl_of_two_samples
from vwkde._compute import parallel
from vwkde._runtime import progress
from vwkde._runtime.lazy import lazy

PATIENCE = 60
"""Seconds after which work that should take less than one is taken to hang."""


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def finish(threads):
    """Start threads and wait for them with a time limit: threads that hang do not block the tests."""
    for thread in threads:
        thread.daemon = True
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert not any(thread.is_alive() for thread in threads)


def test_slices_cover_the_range_once():
    assert parallel.split(10, 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert parallel.split(0, 4) == []


def test_rows_fit_the_budget():
    assert parallel.block_rows(100, 1_000) == 10
    assert parallel.block_rows(100, 1) == 1
    assert parallel.rows_at_a_time(2**30) == 1


def test_thread_count_follows_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert parallel.thread_count() == 2
    with parallel.at_most(5):
        assert parallel.thread_count() == 5
    assert parallel.thread_count() == 2


def test_the_smallest_limit_holds():
    with parallel.at_most(2), parallel.at_most(3):
        assert parallel.thread_count() == 2
        with parallel.at_most(None), parallel.at_most(1):
            assert parallel.thread_count() == 1
        assert parallel.thread_count() == 2


@pytest.mark.parametrize("n_threads", [1, 3])
def test_blocks_keep_to_the_limit_and_to_their_thread(n_threads):
    limits = [parallel._most_threads.get()]

    def work(_):
        limits.append(parallel._most_threads.get())
        return parallel.thread_count()

    with parallel.at_most(n_threads):
        assert parallel.run(work, range(4)) == [1, 1, 1, 1]
    assert limits == [None, *[n_threads] * 4]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_results_come_in_order_with_blas_on_one_thread(n_threads):
    before = blas_threads()
    with parallel.at_most(n_threads):
        seen = parallel.run(lambda block: (block.start, blas_threads()), parallel.split(9, 2), "test")
    assert [start for start, _ in seen] == [0, 2, 4, 6, 8]
    assert all(set(threads) == {1} for _, threads in seen)
    assert blas_threads() == before


def test_results_over_rows_are_those_of_the_blocks():
    x = np.arange(10.0)
    for size in (3, 100):
        np.testing.assert_array_equal(np.concatenate(parallel.run_over_rows(lambda rows: 2 * x[rows], 10, size)), 2 * x)
    assert parallel.run(str, []) == []


def test_overlapping_runs_restore_blas():
    before = blas_threads()
    meet = Barrier(2)
    finish([Thread(target=parallel.run, args=(lambda _: meet.wait(5), [0])) for _ in range(2)])
    assert blas_threads() == before


def test_an_error_in_a_block_reaches_the_caller_and_blas_is_restored():
    before = blas_threads()

    def fail(block):
        raise ValueError(f"block {block.start}")

    with pytest.raises(ValueError, match="block 0"), parallel.at_most(2):
        parallel.run(fail, parallel.split(4, 2), "test")
    assert blas_threads() == before


def test_a_listener_hears_of_every_block():
    heard = []
    with parallel.at_most(2), progress.listening(lambda *news: heard.append(news)):
        parallel.run(str, range(3), "test")
    assert heard == [("test", 1, 3), ("test", 2, 3), ("test", 3, 3)]
    parallel.run(str, range(3), "test")
    assert len(heard) == 3


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_blocks_report_is_heard(n_threads):
    heard = []
    with parallel.at_most(n_threads), progress.listening(lambda *news: heard.append(news)):
        parallel.run(lambda i: list(progress.track(range(2), f"inner {i}", 2)), [0, 1], "outer")
    inner = [(f"inner {i}", done, 2) for i in (0, 1) for done in (1, 2)]
    assert sorted(heard) == sorted([*inner, ("outer", 1, 2), ("outer", 2, 2)])


class Layered:
    """A value that blocks compute, each of them by a value of another instance that blocks compute."""

    def __init__(self, depth):
        self.depth = depth

    @lazy
    def total(self):
        if self.depth == 0:
            return 1.0
        return sum(parallel.run(lambda _: Layered(self.depth - 1).total + self.share, range(4)))

    @lazy
    def share(self):
        return float(np.sum(parallel.run(lambda i: np.ones((50, 50)) @ np.full(50, i), range(3)))) / 7_500


def test_many_callers_with_lazy_values_and_blocks_within_blocks_finish():
    expected = Layered(3).total
    found = []

    def call():
        with parallel.at_most(2):
            found.extend(Layered(3).total for _ in range(5))

    finish([Thread(target=call) for _ in range(6)])
    assert found == [expected] * 30


def test_threads_of_others_that_run_blocks_do_not_wait_for_the_pool_that_waits_for_them():
    """A block may hand work to threads of another library, which do not know that they are inside a block."""

    def work(i):
        with ThreadPoolExecutor(1) as other, parallel.at_most(2):
            return sum(other.submit(parallel.run, int, [i, i + 1]).result(PATIENCE))

    found = []

    def call():
        with parallel.at_most(2):
            found.append(parallel.run(work, range(6)))

    finish([Thread(target=call) for _ in range(3)])
    assert found == [[2 * i + 1 for i in range(6)]] * 3


def test_a_caller_does_what_a_busy_pool_has_not_begun():
    busy, free = Barrier(3), Event()

    def wait(_):
        busy.wait(PATIENCE)
        free.wait(PATIENCE)

    def fill():
        with parallel.at_most(2):
            parallel.run(wait, range(2))

    filler = Thread(target=fill, daemon=True)
    filler.start()
    busy.wait(PATIENCE)  # now both threads of the pool are taken
    found = []

    def call():
        with parallel.at_most(2):
            found.append(parallel.run(abs, [-1, -2, -3]))

    finish([Thread(target=call)])
    free.set()
    filler.join(PATIENCE)
    assert found == [[1, 2, 3]]


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", [m for m in multiprocessing.get_all_start_methods() if m != "forkserver"])
def test_a_child_process_estimates_what_its_parent_does(method):
    expected = kl_of_two_samples()  # the pool has threads now, which a forked child lacks
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=kl_of_two_samples, args=(sender,), daemon=True)
    child.start()
    assert receiver.poll(2 * PATIENCE)
    assert receiver.recv() == pytest.approx(expected, rel=1e-12)
    child.join(PATIENCE)
    assert child.exitcode == 0
