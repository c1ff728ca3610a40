"""Time and memory of inspection, as `vwkde bench inspect` measures them."""

import json

import pytest

from support.commands import runner
from vwkde.bench import inspecting


@pytest.fixture
def run(capfd, monkeypatch):
    return runner(capfd, monkeypatch, "bench")


def test_each_size_is_measured_in_a_process_of_its_own(run, tmp_path, monkeypatch):
    monkeypatch.setattr(inspecting, "QUICK_SIZES", ((64, 4),))
    status, told, errors = run("inspect", "--quick", "--threads", "1", "--json", "-o", str(tmp_path))
    assert status == 0, errors
    (found,) = json.loads(told)["inspect"]
    assert (found["side"], found["good"]) == (64, 4)
    assert 0 < found["checking"] < found["learning"]
    assert 50 < found["mebibytes"] < 2048
    assert json.loads((tmp_path / "inspect.json").read_text())["inspect"] == [found]


def test_inspect_is_measured_alone(run, tmp_path):
    status, _, errors = run("inspect", "kl", "-o", str(tmp_path))
    assert status == 2
    assert "inspect is measured alone" in errors
    status, _, errors = run("inspect", "--kind", "gaussian", "-o", str(tmp_path))
    assert status == 2
    assert "--kind is an option of growth" in errors
