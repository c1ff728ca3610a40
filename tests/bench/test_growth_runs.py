"""The measurements of `vwkde bench growth`: each in its own process, within limits, and kept."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

from vwkde.bench.growth import QUICK, Limits, Plan, Run, Task, record, run_growth, study, worker
from vwkde.bench.growth import process as processes
from vwkde.bench.growth.kinds import KINDS
from vwkde.bench.growth.methods import MEASURED, estimator, names
from vwkde.bench.growth.process import run_apart
from vwkde.bench.growth.study import check, reason_to_skip
from vwkde.results import Estimate

TASK = Task("ring", "gaussian-plug-in", 80, 5)
needs_proc = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells the memory of others")


def done(rows, seconds=1.0, method="kde", **fields):
    return Run(Task("ring", method, rows, 0), seconds=seconds, value=0.1, low=0.0, high=1.0, **fields)


@pytest.mark.parametrize("name", [*MEASURED, "nnwang"])
def test_every_estimator_answers(name):
    p, q = KINDS["ring"]().sample(150, 0)
    estimate = estimator(name)(p, q, 0)
    assert isinstance(estimate, Estimate)
    assert np.isfinite([estimate.value, estimate.standard_error]).all()
    assert name in names()


def test_the_gaussian_plug_in_attains_the_truth_of_gaussians():
    kind = KINDS["gaussians"]()
    estimate = estimator("gaussian-plug-in")(*kind.sample(4_000, 0), 0)
    assert abs(estimate.value - 1) < 3 * kind.truth().floor(4_000)
    assert estimate.standard_error == pytest.approx(kind.truth().floor(4_000), rel=0.3)


def test_a_process_measures_time_memory_and_estimate():
    run = run_apart(TASK, Limits(), n_threads=1)
    expected = estimator(TASK.method)(*KINDS["ring"]().sample(TASK.rows, TASK.seed), TASK.seed)
    assert run.task == TASK
    assert run.value == pytest.approx(expected.value)
    assert (run.low, run.high) == pytest.approx(expected.interval)
    assert 0 < run.seconds < 60
    assert run.problem is None
    assert 50 < run.process_memory < 4_000
    assert 0 <= run.memory < run.process_memory


@needs_proc
def test_memory_is_that_of_the_estimate(monkeypatch):
    """The peak of earlier work does not count, nor does what the process had before.

    Arrays are so large that they get pages of their own: smaller ones may reuse memory that was freed.
    """
    before = np.ones(2**26 // 8)  # 64 MiB, in use during the estimate

    def large(p, q, seed):
        del p, q, seed
        return Estimate(float(np.ones(2**27 // 8).sum() + before[0]), 1.0, "kl")

    monkeypatch.setattr(worker, "estimator", lambda _: large)
    monkeypatch.setattr(worker, "WARM_UP", 50)
    np.ones(2**28 // 8)  # 256 MiB, gone again
    assert worker.measure(TASK, 1).memory == pytest.approx(128, abs=4)


def test_errors_warnings_and_values_that_are_no_numbers_are_reported(monkeypatch):
    def strange(p, q, seed):
        del q, seed
        if len(p) == 80:
            warnings.warn("odd", UserWarning, stacklevel=2)
            return Estimate(0.1, 0.1, "kl", open_above=True)
        if len(p) == 90:
            return Estimate(np.nan, 0.1, "kl")
        raise ValueError("too\nfew")

    monkeypatch.setattr(worker, "estimator", lambda _: strange)
    run = worker.measure(TASK, 1)
    assert (run.warnings, run.high) == (("UserWarning",), None)
    assert run.covers(5.0)
    assert not run.covers(-5.0)
    assert worker.measure(TASK._replace(rows=90), 1).problem == "The value is nan"
    assert worker.measure(TASK._replace(rows=100), 1).problem == "ValueError: too few"


def test_a_process_ends_at_the_limit_of_time(monkeypatch):
    monkeypatch.setattr(processes, "_START", 0.0)
    run = run_apart(TASK, Limits(seconds=0.1), 1)
    assert (run.problem, run.over_limit, run.value) == ("over 0.1 s", True, None)


def test_the_start_of_a_process_does_not_count_but_the_estimate_does():
    run = run_apart(TASK, Limits(seconds=1e-6), 1)
    assert (run.problem, run.over_limit) == ("over 1e-06 s", True)


@needs_proc
def test_a_process_ends_at_the_limit_of_memory():
    run = run_apart(TASK, Limits(memory=0.02), 1)
    assert (run.problem, run.over_limit) == ("over 0.02 GiB", True)


def test_a_process_that_dies_says_why(monkeypatch):
    monkeypatch.setattr(processes, "_WORKER", "vwkde.bench.growth.nowhere")
    run = run_apart(TASK, Limits(), 1)
    assert "No module named" in run.problem
    assert not run.over_limit
    assert processes._last_words(-9, "") == "the process was ended by signal 9"


def test_what_went_over_a_limit_is_not_tried_with_more_rows():
    over = Run(Task("ring", "kde", 100, 0), problem="over 300 s", over_limit=True)
    for rows in (100, 400):
        assert reason_to_skip(Task("ring", "kde", rows, 1), [over], Limits()) == "over 300 s at 100 rows"
    assert reason_to_skip(Task("ring", "nn", 400, 1), [over], Limits()) is None
    assert reason_to_skip(Task("mixed", "kde", 400, 1), [over], Limits()) is None
    refused = Run(Task("ring", "kde", 100, 0), problem="ValueError: too few")
    assert reason_to_skip(Task("ring", "kde", 400, 1), [refused], Limits()) is None


def test_what_would_certainly_take_too_long_is_not_tried():
    task = Task("ring", "kde", 1_600, 0)
    steep, flat = [done(100, 10.0), done(400, 100.0)], [done(100, 99.0), done(400, 100.0)]
    assert reason_to_skip(task, steep, Limits(seconds=130)) == "would take over 130 s"  # 400 s are expected
    assert reason_to_skip(task, steep, Limits(seconds=135)) is None
    assert reason_to_skip(task, flat, Limits(seconds=101)) is None
    assert reason_to_skip(task, steep[1:], Limits(seconds=101)) is None


def test_a_run_goes_from_small_to_large_and_repeats_nothing(monkeypatch):
    plan = Plan(("ring", "mixed"), ("kde", "nn"), (200, 100), repetitions=2, seed=7)
    measured, kept = [], []

    def fake(task, limits, n_threads):
        assert (limits, n_threads) == (plan.limits, None)
        measured.append(task)
        slow = task.method == "nn" and task.kind == "ring"
        return Run(task, problem="over 300 s", over_limit=True) if slow else Run(task, 1.0, value=0.1)

    monkeypatch.setattr(study, "run_apart", fake)
    known = Run(Task("ring", "kde", 100, 7), seconds=9.0, value=0.5)
    runs = run_growth(plan, [known], lambda runs: kept.append(len(runs)))
    assert [run.task.rows for run in runs if run.task.kind == "mixed"] == sorted([100, 200] * 4)
    assert runs[0] is known
    assert known.task not in measured
    assert {task.seed for task in measured} == {7, 8}
    assert [task for task in measured if task[:2] == ("ring", "nn")] == [Task("ring", "nn", 100, 7)]
    assert len(runs) == 16
    assert kept == list(range(2, 17))


def test_what_does_not_exist_is_refused():
    with pytest.raises(ValueError, match=r"no kind 'star'. Choose among: gaussians, ring"):
        check(Plan(kinds=("star",)))
    with pytest.raises(ValueError, match=r"no method 'guess'. Choose among: default, vwkde-mb"):
        check(Plan(methods=("guess",)))
    with pytest.raises(ValueError, match=r"at least 50\. Got 10 instead"):
        check(Plan(rows=(1_000, 10)))
    check(Plan())
    check(QUICK)


def test_a_run_that_was_stopped_goes_on_and_others_do_not(tmp_path):
    path, plan = tmp_path / "growth.json", Plan(("ring",), ("kde",), (100, 400), repetitions=1, seed=0)
    assert record.unfinished(path, plan) == []
    runs = [done(100, memory=3.0, process_memory=90.0, warnings=("UserWarning",))]
    record.write(path, record.to_dict(plan, runs))
    assert record.unfinished(path, plan) == runs
    assert record.unfinished(path, Plan(("ring",), ("kde",), (100, 400), repetitions=2, seed=0)) == []
    assert record.unfinished(path, Plan(**vars(plan) | {"limits": Limits(seconds=5)})) == []
    record.write(path, record.to_dict(plan, [*runs, done(400)]))
    assert json.loads(path.read_text())["finished"] is True
    assert record.unfinished(path, plan) == []
    path.write_text("{")
    assert record.unfinished(path, plan) == []
