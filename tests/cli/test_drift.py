"""`vwkde drift` as a pipeline calls it: output, exit status, one line per error."""

import json

import numpy as np
import pandas as pd
import pytest

import vwkde
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
    assert "how much: nothing beyond chance; a change of up to " in out
    status, out, err = run("before.csv", "moved.csv", "-o", "report.html")
    assert (status, err) == (1, "report written to report.html\n")
    assert "columns that changed by themselves: x" in out
    assert (tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_a_report_has_the_name_of_a_page(run, tmp_path):
    (tmp_path / "report.pdf").write_text("kept")
    for words in (("before.csv", "moved.csv"), ("check", "before.csv", "moved.csv")):
        assert run(*words, "-o", "report.pdf") == (
            2,
            "",
            "error: report.pdf: a report is a page. Name it report.html.\n",
        )
    assert (tmp_path / "report.pdf").read_text() == "kept"


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


def test_a_reference_of_some_columns_is_compared_with_these_columns(run):
    assert run("fit", "before.csv", "-o", "ref.model", "--columns", "kind")[0] == 0
    status, out, _ = run("check", "ref.model", "moved.csv", "--json")
    assert (status, [column["name"] for column in json.loads(out)["columns"]]) == (0, ["kind"])


def test_groups_are_permuted_as_a_whole(run, tmp_path):
    tables = {}
    for name, first_hour in (("one", 0), ("other", 10)):
        hours = np.repeat(np.arange(first_hour, first_hour + 10), 8)
        x = np.random.default_rng(first_hour).normal(size=20)[hours] + 0.1 * np.arange(80) % 0.7
        tables[name] = pd.DataFrame({"x": x, "hour": hours})
        tables[name].to_csv(tmp_path / f"{name}.csv", index=False)
    one, other = tables.values()
    expected = vwkde.drift(one[["x"]], other[["x"]], groups=(one["hour"], other["hour"]), measure="never").p_value
    assert expected > 10 * vwkde.drift(one[["x"]], other[["x"]], measure="never").p_value
    assert json.loads(run("one.csv", "other.csv", "--groups", "hour", "--json")[1])["p_value"] == expected
    assert run("fit", "one.csv", "-o", "ref.model", "--groups", "hour")[0] == 0
    status, out, _ = run("check", "ref.model", "other.csv", "--groups", "hour", "--json")
    assert (status, json.loads(out)["p_value"]) == (0, expected)
    assert run("fit", "one.csv", "-o", "ref.model", "--groups", "hour", "--columns", "x")[0] == 0
    status, out, _ = run("check", "ref.model", "other.csv", "--groups", "hour", "--json")
    assert (status, json.loads(out)["p_value"]) == (0, expected)


def test_a_reference_replaces_only_a_reference(run, tmp_path):
    (tmp_path / "notes.txt").write_text("keep this")
    pd.DataFrame({"x": [1.0, 2.0]}).to_parquet(tmp_path / "table.parquet")
    for name in ("notes.txt", "after.csv", "table.parquet"):
        kept = (tmp_path / name).read_bytes()
        status, out, err = run("fit", "before.csv", "-o", name)
        assert (status, out) == (2, "")
        assert err.startswith(f"error: {name}: already exists and is not a reference")
        assert "--force" in err
        assert (tmp_path / name).read_bytes() == kept
    assert run("fit", "before.csv", "-o", "notes.txt", "--force")[0] == 0
    assert run("fit", "after.csv", "-o", "notes.txt")[0] == 0  # it is one now


def test_a_reference_in_place_of_a_table_is_told(run):
    assert run("fit", "before.csv", "-o", "ref.model")[0] == 0
    status, _, err = run("ref.model", "after.csv")
    assert status == 2
    assert err == "error: ref.model: a saved reference. Compare tables with it by `vwkde drift check`.\n"
    status, _, err = run("check", "after.csv", "before.csv")
    assert err.endswith("Write one with `vwkde drift fit`, or restore a copy.\n")


def test_a_reference_of_one_row_is_refused(run, tmp_path):
    (tmp_path / "one.csv").write_text("x,kind\n1,a\n")
    status, out, err = run("fit", "one.csv", "-o", "ref.model")
    assert (status, out) == (2, "")
    assert err.startswith("error: The reference table has 1 row; at least 2 are needed")
    assert not (tmp_path / "ref.model").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("before.csv", "nothing.csv"), "nothing.csv: there is no such file"),
        (("check", "before.csv", "after.csv"), "before.csv: not a reference, or damaged"),
        (("before.csv", "after.csv", "-o", "after.csv"), "is an input of this command"),
        (("before.csv", "after.csv", "-o", "no/where.html"), "there is no folder no"),
        (("before.csv", "after.csv", "--level", "7"), "must be a number from 0.0001 to 0.5"),
        (("before.csv",), "Missing argument 'CUR'"),
        (("before.csv", "after.csv", "--groups", "hour"), "there are no columns ['hour']"),
        (("before.csv", "after.csv", "--groups", "kind"), "at least 5 different labels"),
    ],
)
def test_errors_are_one_line_and_status_two(run, arguments, words):
    status, out, err = run(*arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1


@pytest.mark.filterwarnings("always:Columns with too many different texts")
def test_columns_that_were_not_compared_are_named(run, tmp_path):
    for name in ("before", "after"):
        table = pd.read_csv(tmp_path / f"{name}.csv")
        table.assign(note=[f"{name} {place}" for place in range(80)]).to_csv(tmp_path / f"{name}.csv", index=False)
    status, out, err = run("before.csv", "after.csv")
    assert status == 0
    assert "\n  not compared: note\n" in out
    assert "too many different texts" in err
