from threading import Barrier, Thread

import pytest
import scipy.linalg.cython_blas  # noqa: F401
from threadpoolctl import threadpool_info

from vwkde._compute import parallel
from vwkde._runtime import progress


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_slices_cover_the_range_once():
    assert parallel.split(10, 4) == [slice(0, 4), slice(4, 8), slice(8, 10)]
    assert parallel.split(0, 4) == []


def test_rows_fit_the_budget():
    assert parallel.block_rows(100, 1_000) == 10
    assert parallel.block_rows(100, 1) == 1


def test_thread_count_follows_the_environment(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "2")
    assert parallel.thread_count() == 2
    assert parallel.thread_count(5) == 5
    with parallel.at_most(1):
        assert parallel.thread_count() == 1
        assert parallel.thread_count(5) == 5
        with parallel.at_most(None):
            assert parallel.thread_count() == 2
    assert parallel.thread_count() == 2


@pytest.mark.parametrize("n_threads", [1, 2])
def test_every_block_runs_once_with_blas_on_one_thread(n_threads):
    before = blas_threads()
    seen = []
    parallel.run(lambda block: seen.append((block.start, blas_threads())), parallel.split(9, 2), "test", n_threads)
    assert sorted(start for start, _ in seen) == [0, 2, 4, 6, 8]
    assert all(set(threads) == {1} for _, threads in seen)
    assert blas_threads() == before


def test_overlapping_runs_restore_blas():
    before = blas_threads()
    meet = Barrier(2)
    runs = [Thread(target=parallel.run, args=(lambda _: meet.wait(5), [slice(0, 1)], "test", 1)) for _ in range(2)]
    for run in runs:
        run.start()
    for run in runs:
        run.join()
    assert blas_threads() == before


def test_an_error_in_a_block_reaches_the_caller_and_blas_is_restored():
    before = blas_threads()

    def fail(block):
        raise ValueError(f"block {block.start}")

    with pytest.raises(ValueError, match="block 0"):
        parallel.run(fail, parallel.split(4, 2), "test", 2)
    assert blas_threads() == before


def test_a_listener_hears_of_every_block():
    heard = []
    with progress.listening(lambda *news: heard.append(news)):
        parallel.run(lambda _: None, parallel.split(6, 2), "test", 2)
    assert heard == [("test", 1, 3), ("test", 2, 3), ("test", 3, 3)]
    parallel.run(lambda _: None, parallel.split(6, 2), "test", 2)
    assert len(heard) == 3


def test_blocks_within_blocks_do_not_wait_for_each_other():
    seen = []

    def outer(i):
        parallel.run(lambda j: seen.append((i, j)), [0, 1, 2], None, 2)

    run = Thread(target=parallel.run, args=(outer, [0, 1, 2], None, 2), daemon=True)
    run.start()
    run.join(10)
    assert not run.is_alive()
    assert sorted(seen) == [(i, j) for i in range(3) for j in range(3)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_blocks_tell_is_heard(n_threads):
    told = []
    with progress.listening(lambda stage, done, total: told.append((stage, done, total))):
        parallel.run(lambda i: list(progress.track(range(2), f"inner {i}", 2)), [0, 1], "outer", n_threads)
    inner = [(f"inner {i}", done, 2) for i in (0, 1) for done in (1, 2)]
    assert sorted(told) == sorted([*inner, ("outer", 1, 2), ("outer", 2, 2)])
