"""`vwkde bench growth` as it is typed: its options, files and exit statuses."""

import json

import pytest
from typer.testing import CliRunner

from vwkde.bench.growth import Run, study
from vwkde.bench.growth.kinds import KINDS
from vwkde.cli.growth import make_plan
from vwkde.cli.main import app

SMALL = ["--kind", "ring,mixed", "--method", "default", "--method", "nn", "--rows", "100,200", "--repetitions", "2"]
ALL = 2 * 2 * 2 * 2


@pytest.fixture
def measured(monkeypatch):
    """The tasks that are measured, each at once and exactly."""
    tasks = []

    def fake(task, *_):
        tasks.append(task)
        kl = KINDS[task.kind]().truth().kl
        return Run(task, 0.1 * task.rows, 5.0, 300.0, kl, kl - 0.1, kl + 0.1)

    monkeypatch.setattr(study, "run_apart", fake)
    return tasks


def bench(*arguments):
    return CliRunner().invoke(app, ["bench", *map(str, arguments)])


@pytest.mark.usefixtures("measured")
def test_it_prints_tables_and_leaves_numbers_and_a_picture(tmp_path):
    result = bench("growth", *SMALL, "-o", tmp_path / "out", "--threads", "1")
    assert result.exit_code == 0, result.output
    assert "Ring with three arcs" in result.output
    assert "4 of 4" in result.output
    numbers = json.loads((tmp_path / "out" / "growth.json").read_text())
    assert numbers["finished"] is True
    assert len(numbers["runs"]) == ALL
    assert numbers["machine"]["threads"] == numbers["plan"]["n_threads"] == 1
    assert numbers["kinds"]["ring"]["kl"] == pytest.approx(0.2327, abs=1e-4)
    assert {cell["error"] for cell in numbers["summary"]} == {0.0}
    assert (tmp_path / "out" / "growth.svg").read_text().startswith("<svg ")


@pytest.mark.usefixtures("measured")
def test_json_is_what_the_file_has(tmp_path):
    result = bench("growth", *SMALL, "--json", "-o", tmp_path)
    assert json.loads(result.stdout) == json.loads((tmp_path / "growth.json").read_text())
    assert f"Picture: {tmp_path / 'growth.svg'}" in result.stderr.replace("\n", "")


def test_a_run_that_was_stopped_goes_on(tmp_path, measured, monkeypatch):
    whole = study.run_apart

    def stopped(task, *rest):
        if len(measured) == 5:
            raise KeyboardInterrupt
        return whole(task, *rest)

    monkeypatch.setattr(study, "run_apart", stopped)
    first = bench("growth", *SMALL, "-o", tmp_path)
    assert first.exit_code == 130
    assert "the same command goes on" in " ".join(first.output.split())
    assert json.loads((tmp_path / "growth.json").read_text())["finished"] is False
    monkeypatch.setattr(study, "run_apart", whole)
    assert bench("growth", *SMALL, "-o", tmp_path).exit_code == 0
    assert len(measured) == len(set(measured)) == ALL
    assert bench("growth", *SMALL, "-o", tmp_path).exit_code == 0
    assert len(measured) == 2 * ALL  # a run that came to its end is made anew


def test_a_measurement_from_end_to_end(tmp_path):
    few = ["--kind", "ring", "--method", "gaussian-plug-in", "--rows", "60", "--repetitions", "1", "--seed", "3"]
    result = bench("growth", *few, "-o", tmp_path)
    assert result.exit_code == 0, result.output
    (run,) = json.loads((tmp_path / "growth.json").read_text())["runs"]
    assert run["problem"] is None
    assert (run["rows"], run["seed"]) == (60, 3)
    assert run["low"] < run["value"] < run["high"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["growth", "kl"], "growth is measured alone"),
        (["growth", "--engine", "numba"], "growth is measured alone"),
        (["kl", "--rows", "100"], "--rows is an option of growth"),
        (["--kind", "ring"], "--kind is an option of growth"),
        (["growth", "--kind", "star"], "no kind 'star'"),
        (["growth", "--method", "guess"], "no method 'guess'"),
        (["growth", "--rows", "1e3"], "--rows must be whole numbers such as 1000,4000. Got '1e3'"),
        (["growth", "--rows", "20"], "at least 50. Got 20"),
    ],
)
def test_what_does_not_go_together_is_refused(arguments, words, tmp_path, measured):
    result = bench(*arguments, "-o", tmp_path / "out")
    assert isinstance(result.exception, ValueError)
    assert words in str(result.exception)
    assert not measured
    assert not (tmp_path / "out").exists()


def test_options_change_the_plan():
    options = {"kinds": ["ring"], "methods": None, "rows": ["400"], "repetitions": 5, "seed": 0}
    plan = make_plan(True, 2, options | {"seconds": 9.0, "memory": None})
    assert (plan.kinds, plan.rows, plan.repetitions, plan.seed, plan.n_threads) == (("ring",), (400,), 5, 0, 2)
    assert plan.methods == study.QUICK.methods
    assert (plan.limits.seconds, plan.limits.memory) == (9.0, 4.0)
    assert make_plan(False, None, {}) == study.Plan()
