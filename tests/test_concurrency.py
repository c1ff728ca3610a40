"""Estimates by several threads at once, and in processes that are forked after, or while, threads compute."""

import subprocess
import sys
import warnings
from functools import partial
from importlib.util import find_spec
from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import vwkde
from support.processes import METHODS, forks, ignores_fork_warning, in_child
from support.together import PATIENCE, together
from support.trees import classifier_of
from support.work import kl_of
from vwkde._compute import parallel
from vwkde._compute.engines import torch_engine
from vwkde._data.sample import make_unordered_sample
from vwkde._models.guides.boosting import BOOSTING
from vwkde._models.guides.classifiers import WORTH_THREADS, fit_classifier
from vwkde.baselines import nearest

RANDOM = np.random.default_rng(0)


def test_threads_that_estimate_at_once_get_what_each_gets_alone():
    alone = [kl_of(seed) for seed in range(3)]
    before = list(warnings.filters)
    assert together(*(partial(kl_of, seed) for seed in (0, 1, 2, 0))) == pytest.approx([*alone, alone[0]], rel=1e-9)
    assert list(warnings.filters) == before


def test_threads_that_share_a_fitted_ratio_get_what_one_gets():
    p, q = RANDOM.normal(size=(300, 3)), RANDOM.normal(0.5, 1, (300, 3))
    alone = vwkde.DensityRatio(guide=None, n_threads=2).fit(p, q)
    expected = alone.divergence("kl").value, alone.log_ratio(q).sum()
    shared = vwkde.DensityRatio(guide=None, n_threads=2).fit(p, q)
    for found in together(*[lambda: (shared.divergence("kl").value, shared.log_ratio(q).sum())] * 4):
        assert found == pytest.approx(expected, rel=1e-9)


FIRST_USE = """
from threading import Thread
import vwkde
from support.together import together
from support.work import kl_of
print(len(set(together(*[lambda: kl_of(0)] * 4))))
"""


def test_threads_may_be_the_first_to_use_the_package(request):
    """Imports, compilation and the search for libraries then happen at the same time."""
    command = [sys.executable, "-c", FIRST_USE]
    folder = request.config.rootpath / "tests"
    ended = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, cwd=folder)
    assert (ended.stdout, ended.stderr) == ("1\n", "")


@ignores_fork_warning
@pytest.mark.parametrize("method", METHODS)
def test_a_child_started_while_threads_estimate_gets_what_its_parent_gets(method):
    expected, started, stop = kl_of(0), Event(), Event()

    def estimate():
        while not stop.is_set():
            kl_of(1)
            started.set()

    threads = [Thread(target=estimate, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    started.wait(PATIENCE)
    try:
        assert in_child(kl_of, 0, method=method) == pytest.approx(expected, rel=1e-9)
    finally:
        stop.set()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()


def boosted_trees():
    samples = [make_unordered_sample(RANDOM.normal(shift, 1, (300, 4))) for shift in (0, 0.5)]
    guide = fit_classifier(classifier_of(BOOSTING), *samples)
    many = RANDOM.normal(size=(WORTH_THREADS // 4, 4))
    return lambda: guide(many).sum()


def nearest_neighbours():
    p, q = RANDOM.normal(size=(600, 20)), RANDOM.normal(0.5, 1, (600, 20))
    return lambda: nearest.nn(p, q, 0).kl


def torch_sums():
    import torch

    x, y = RANDOM.normal(size=(1_000, 8)), RANDOM.normal(size=(1_000, 8))
    arguments = np.ones(1), np.zeros((1_000, 1)), np.empty(0, np.int64), 2**24, "cpu"

    def work():
        before = torch.get_num_threads()
        torch.set_num_threads(2)  # the environment may allow one only, for which nothing waits
        try:
            return torch_engine.log_sums(x, y, *arguments).sum()
        finally:
            torch.set_num_threads(before)

    return work


needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="no torch")


@forks
@ignores_fork_warning
@pytest.mark.parametrize("make", [boosted_trees, nearest_neighbours, pytest.param(torch_sums, marks=needs_torch)])
def test_openmp_loops_run_in_a_child_of_a_process_that_has_run_them(make):
    work = make()
    with parallel.at_most(2), threadpool_limits(2, user_api="openmp"):
        expected = work()
        assert in_child(work) == pytest.approx(expected, rel=1e-12)
