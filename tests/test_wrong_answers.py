"""The benchmark of confident wrong answers: its samplers run, its truths are true, and a failure does not end it."""

import importlib
import json
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from vwkde import OverlapWarning

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"
sys.path.append(str(BENCHMARKS))  # its modules are found by name; those of the tests go first
scenario_module = importlib.import_module("scenarios.scenario")
information = importlib.import_module("scenarios.information")
overlap = importlib.import_module("scenarios.overlap")
real_tables = importlib.import_module("scenarios.real_tables")
wrong_answers = importlib.import_module("wrong_answers")
SCENARIOS = importlib.import_module("scenarios").all_scenarios()
HERE = [name for name, each in SCENARIOS.items() if each.needs != "plotnine"]
REAL = [name for name in HERE if SCENARIOS[name].item == 9]


@pytest.mark.parametrize("name", HERE)
def test_every_sampler_gives_the_same_samples_for_the_same_seed(name):
    one, other = (SCENARIOS[name].draw(np.random.default_rng(1)) for _ in range(2))
    for first, second in zip(one, other, strict=True):
        if isinstance(first, str):
            assert first == second
        else:
            assert np.isfinite(np.asarray(first)).all()
            np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", [name for name in HERE if name not in REAL])
def test_every_truth_is_a_range(name):
    lowest, highest = SCENARIOS[name].right()
    assert 0 <= lowest <= highest
    assert np.isfinite(highest) or SCENARIOS[name].item == 7


@pytest.mark.parametrize("name", [name for name in REAL if name.startswith("diabetes")])  # others take much longer
def test_the_bounds_of_real_tables_leave_room(name):
    lowest, highest = SCENARIOS[name].right()
    assert 0 <= lowest <= highest < 1


def test_every_item_is_measured_on_fresh_data_too():
    items = range(1, 15)
    assert {each.item for each in SCENARIOS.values() if not each.fresh} == set(items)
    assert all(sum(each.fresh for each in SCENARIOS.values() if each.item == item) >= 2 for item in items)


@pytest.mark.parametrize(
    ("p", "q", "closed_form"),
    [
        (stats.norm(0.3), stats.norm(), 0.045),
        (stats.laplace(), stats.laplace(2.0), np.exp(-2) + 1),
        (stats.cauchy(), stats.cauchy(1.0), np.log(5 / 4)),
        (stats.expon(scale=1.7), stats.expon(), 0.7 - np.log(1.7)),
        (stats.uniform(), stats.uniform(-0.2, 1.4), np.log(1.4)),
    ],
    ids=["normal", "laplace", "cauchy", "exponential", "uniform"],
)
def test_integrals_agree_with_closed_forms(p, q, closed_form):
    assert scenario_module.kl_of(p, q, 2)() == pytest.approx(2 * closed_form, rel=1e-6)


def test_mutual_informations_agree_with_the_entropy_of_large_samples():
    """Vasicek's estimate of the entropy of one column needs no density."""
    random = np.random.default_rng(0)
    angle, radius = random.uniform(0, 2 * np.pi, 200_000), random.normal(1.0, 0.1, 200_000)
    joint = stats.norm(scale=0.1).entropy() + np.log(2 * np.pi) + np.log(radius).mean()
    ring = 2 * stats.differential_entropy(radius * np.cos(angle)) - joint
    assert information.ring_truth() == pytest.approx(ring, abs=0.02)
    x, noise = random.normal(size=(2, 200_000))
    product = stats.differential_entropy(x * noise) - stats.norm.entropy() - np.log(np.abs(x)).mean()
    assert information.product_truth() == pytest.approx(product, abs=0.02)
    waves = {"y = sin(8πx) + noise, n = 1,000": (information.sine, 0.2)}
    waves["y = triangle of 5 periods + noise, n = 800"] = (information.triangle, 0.15)
    for name, (curve, scale) in waves.items():
        y = curve(random.uniform(size=200_000)) + scale * noise
        shared = stats.differential_entropy(y) - stats.norm(scale=scale).entropy()
        assert SCENARIOS[name].right()[0] == pytest.approx(shared, abs=0.02)


def test_the_divergence_of_strays_is_the_mean_log_ratio():
    x = np.random.default_rng(0).normal(size=400_000)
    x[:40_000] += 9.0
    log_ratio = np.logaddexp(np.log(0.9), np.log(0.1) + 9 * x - 40.5)
    error = log_ratio[:40_000].std() / np.sqrt(40_000)
    truth = SCENARIOS["10 % of P 9 σ away, 3 columns"].right()[0]
    assert log_ratio.mean() == pytest.approx(truth, abs=4 * 0.1 * error)


def test_bounds_hold_where_the_divergence_is_known():
    """P is the part above zero of a normal column: its share is one half, and nothing is hidden."""
    x = np.random.default_rng(0).normal(size=(2_000, 2))
    lowest, highest = real_tables.bounds(x, x[:, 0] > 0)
    assert 0.5 < lowest < np.log(2) < highest + 0.05


def test_an_answer_is_recorded_with_its_warnings():
    def ask(x, y):
        warnings.warn("so so", OverlapWarning, stacklevel=1)
        return scenario_module.Answer(float(x[0] + y[0]), 0.0, 1.0)

    one = replace(SCENARIOS["P = Q, 3-D, n = 20"], draw=lambda random: random.uniform(size=(2, 1)), ask=ask)
    record = one.run(3)
    assert record["warnings"] == {"OverlapWarning": 1}
    assert record["warned"]
    assert (record["low"], record["high"]) == (0.0, 1.0)
    assert record["value"] == one.run(3)["value"] != one.run(4)["value"]


def test_what_fails_is_recorded():
    def ask(*_):
        raise ValueError("no")

    record = replace(SCENARIOS["P = Q, 3-D, n = 20"], ask=ask).run(0)
    assert (record["error"], record["words"]) == ("ValueError", "no")


def record(value, low, high, **rest):
    return {"value": value, "low": low, "high": high, "seconds": 1.0, "warnings": {}, "warned": False} | rest


def test_the_summary_counts_what_misleads():
    scenario = {"right": [1.0, 1.0], "measure": "interval"}
    warned = {"warnings": {"OverlapWarning": 1}, "warned": True}
    records = [
        record(1.1, 0.9, 1.3),
        record(2.0, 1.8, 2.2),
        record(2.0, 1.8, 2.2, **warned),
        {"error": "ValueError", "seconds": 1.0, "warnings": {}, "warned": False},
    ]
    result = wrong_answers.summary(scenario, records)
    assert result["misleads"] == result["refused"] == 0.25
    assert result["covers"] == pytest.approx(1 / 3)
    assert result["RMSE"] == pytest.approx(np.sqrt(2.01 / 3))
    endless = wrong_answers.summary({"right": [np.inf, np.inf], "measure": "interval"}, records[:2])
    assert endless["misleads"] == 1.0
    assert "RMSE" not in endless
    level = wrong_answers.summary({"right": [0.0, 1.0], "measure": "level"}, [record(p, 0, 0) for p in (0.05, 0.1, 1)])
    assert (level["p ≤ 0.05"], level["p ≤ 0.1"]) == pytest.approx((1 / 3, 2 / 3))


def test_a_run_goes_on_where_it_stopped_and_can_be_compared(tmp_path, monkeypatch, capsys):
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for path, value in zip(files, (2.0, 1.0), strict=True):
        asked = []

        def run(_, tasks, *__, asked=asked, value=value):
            asked += tasks
            return [record(value, value - 0.1, value + 0.1, name=name, seed=seed) for name, seed in tasks]

        monkeypatch.setattr(wrong_answers, "run_tasks", run)
        for repetitions in ("2", "3"):
            line = ["", "--only", "10-D, n = 20", "--repetitions", repetitions, "--json", str(path), "--seed", "5"]
            monkeypatch.setattr(sys, "argv", line)
            wrong_answers.main()
        assert [seed for _, seed in asked] == [5, 6, 7]
        assert len(json.loads(path.read_text())["records"]) == 3
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["", "--compare", *map(str, files)])
    wrong_answers.main()
    head, rule, line = capsys.readouterr().out.splitlines()
    assert head.count("|") == rule.count("|") == line.count("|")
    assert "+1.500 ± 0.000 → +0.500 ± 0.000" in line
