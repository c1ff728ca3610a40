"""`vwkde drift` as a pipeline calls it: output, exit status, one line per error."""

import json

import numpy as np
import pandas as pd
import pytest

from support.commands import runner


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    random = np.random.default_rng(0)
    for name, shift in (("before", 0.0), ("after", 0.0), ("moved", 1.0)):
        columns = {"x": random.normal(shift, 1, size=80), "kind": random.choice(["a", "b"], size=80)}
        pd.DataFrame(columns).to_csv(tmp_path / f"{name}.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return runner(capfd, monkeypatch, "drift")


def test_the_status_is_the_finding(run, tmp_path):
    status, out, err = run("before.csv", "after.csv")
    assert (status, err) == (0, "")
    assert out.startswith("no drift found: p = ")
    status, out, err = run("before.csv", "moved.csv", "-o", "report.html")
    assert (status, err) == (1, "report written to report.html\n")
    assert "changed alone: x" in out
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_json_and_options_before_the_files(run):
    status, out, _ = run("--json", "before.csv", "moved.csv", "--columns", "kind", "--level", "0.01")
    found = json.loads(out)
    assert (status, found["level"], [column["name"] for column in found["columns"]]) == (0, 0.01, ["kind"])


def test_a_reference_is_saved_and_checked(run):
    status, out, err = run("fit", "before.csv", "-o", "ref.model")
    assert (status, out) == (0, "")
    assert err == "80 rows of 2 columns: reference written to ref.model\n"
    assert run("check", "ref.model", "after.csv")[0] == 0
    status, out, _ = run("check", "ref.model", "moved.csv", "--json")
    assert (status, json.loads(out)["has_drifted"]) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("before.csv", "nothing.csv"), "nothing.csv: there is no such file"),
        (("check", "before.csv", "after.csv"), "before.csv: not a reference, or damaged"),
        (("before.csv", "after.csv", "-o", "after.csv"), "is an input of this command"),
        (("before.csv", "after.csv", "-o", "no/where.html"), "there is no folder no"),
        (("before.csv", "after.csv", "--level", "7"), "must be a number from 0.0001 to 0.5"),
        (("before.csv",), "Missing argument 'CUR'"),
    ],
)
def test_errors_are_one_line_and_status_two(run, arguments, words):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
