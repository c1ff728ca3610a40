import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, Event, Lock, Thread, current_thread
from time import sleep

import numpy as np
import pytest
import scipy.linalg.cython_blas  # noqa: F401
from threadpoolctl import threadpool_info, threadpool_limits

from support.together import PATIENCE, together
from vwkde._compute import parallel
from vwkde._runtime import progress
from vwkde._runtime.lazy import lazy

MANY = 10**6


@pytest.fixture(autouse=True)
def _more_than_one_blas_thread():
    """Give every test a limit to lower and to restore, on any machine."""
    with threadpool_limits(3, user_api="blas"):
        yield


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


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
    together(*[partial(parallel.run, lambda _: meet.wait(5), [0])] * 2)
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

    def call():
        with parallel.at_most(2):
            return [Layered(3).total for _ in range(5)]

    assert together(*[call] * 6) == [[expected] * 5] * 6


def test_threads_of_others_that_run_blocks_do_not_wait_for_the_pool_that_waits_for_them():
    """A block may hand work to threads of another library, which do not know that they are inside a block."""

    def work(i):
        with ThreadPoolExecutor(1) as other, parallel.at_most(2):
            return sum(other.submit(parallel.run, int, [i, i + 1]).result(PATIENCE))

    def call():
        with parallel.at_most(2):
            return parallel.run(work, range(6))

    assert together(*[call] * 3) == [[2 * i + 1 for i in range(6)]] * 3


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
    busy.wait(PATIENCE)  # now the thread of the pool is taken

    def call():
        with parallel.at_most(2):
            return parallel.run(abs, [-1, -2, -3])

    assert together(call) == [[1, 2, 3]]
    free.set()
    filler.join(PATIENCE)


def test_as_many_threads_work_at_once_as_allowed():
    lock, now, seen = Lock(), [], set()

    def work(item):
        with lock:
            now.append(item)
            seen.add(len(now))
        sleep(0.001)
        with lock:
            now.remove(item)

    for _ in range(20):
        with parallel.at_most(2):
            parallel.run(work, range(20))
    assert max(seen) == 2


def test_an_interruption_of_the_caller_is_raised_before_the_rest_is_done():
    done, meet = [], Barrier(2)

    def work(item):
        if item < 2:
            meet.wait(PATIENCE)  # one on each thread
            if current_thread() is caller:
                raise KeyboardInterrupt
            raised.wait(PATIENCE)
        done.append(item)

    caller, raised = current_thread(), Event()
    with pytest.raises(KeyboardInterrupt), parallel.at_most(2):
        parallel.run(work, range(50))
    raised.set()
    assert len(done) < 3


def test_an_interruption_on_a_thread_of_the_pool_reaches_the_caller():
    meet = Barrier(2)

    def work(_):
        meet.wait(PATIENCE)
        if current_thread() is not caller:
            raise SystemExit

    caller = current_thread()
    with pytest.raises(SystemExit), parallel.at_most(2):
        parallel.run(work, range(2))


LAST_THREAD = """
import time
from threading import Thread, main_thread
from vwkde._compute import parallel

def call():
    main_thread().join()
    time.sleep(0.5)  # the pool is closed now
    with parallel.at_most(2):
        print(parallel.run(abs, [-1, -2, -3]))

with parallel.at_most(2):
    parallel.run(abs, [-1, -2])
Thread(target=call).start()
"""


def test_a_thread_that_outlives_the_main_one_does_its_blocks():
    ended = subprocess.run([sys.executable, "-c", LAST_THREAD], capture_output=True, text=True, timeout=PATIENCE)
    assert (ended.stdout, ended.stderr) == ("[1, 2, 3]\n", "")


@pytest.mark.parametrize("n_threads", [1, 3])
def test_tasks_side_by_side_come_in_order_and_may_use_threads_themselves(n_threads):
    def task(number):
        allowed = parallel.thread_count()
        return allowed, parallel.run(lambda block: 10 * number + block, range(4))

    with parallel.at_most(n_threads):
        found = parallel.concurrently(task, range(5), MANY)
    assert found == [(n_threads, [10 * number + block for block in range(4)]) for number in range(5)]


@pytest.mark.parametrize(("rows", "together"), [(MANY, True), (10, False)])
@pytest.mark.parametrize("run", [parallel.run_if_many, parallel.concurrently])
def test_few_rows_stay_on_the_callers_thread(run, rows, together):
    meeting = Barrier(2)

    def task(_):
        if together:
            meeting.wait(PATIENCE)
        return current_thread()

    with parallel.at_most(2):
        assert len(set(run(task, range(2), rows))) == 1 + together


def test_an_error_in_a_task_reaches_the_caller():
    with parallel.at_most(2), pytest.raises(ZeroDivisionError):
        parallel.concurrently(lambda number: 1 / number, [1, 0, 2], MANY)


@pytest.mark.parametrize("n_threads", [1, 3])
def test_numbers_and_rows_in_blocks(n_threads, monkeypatch):
    monkeypatch.setattr(parallel, "_NUMBERS", 64)
    random = np.random.default_rng(0)
    x, y, matrix = random.normal(size=100), random.normal(size=100), random.normal(size=(100, 3))
    rows = random.permutation(100)[:70]
    with parallel.at_most(n_threads):
        np.testing.assert_array_equal(parallel.elementwise(np.hypot, x, y), np.hypot(x, y))
        np.testing.assert_array_equal(parallel.take_rows(matrix, rows), matrix[rows])
        np.testing.assert_array_equal(parallel.converted(matrix, np.float32), matrix.astype(np.float32))
    assert parallel.converted(matrix, np.float64) is matrix


def test_blas_has_one_thread_for_few_numbers_only():
    def threads():
        return {library["num_threads"] for library in parallel._blas().info() if library["user_api"] == "blas"}

    free = threads()
    with parallel.blas_for(200_000):
        assert threads() == {1}
    with parallel.blas_for(200_001):
        assert threads() == free
    assert threads() == free
