"""`vwkde mi` and `vwkde test`: output, exit status, one line for each error."""

import json

import numpy as np
import pandas as pd
import pytest

import vwkde
from support.commands import runner

RANDOM = np.random.default_rng(0)
TABLE = pd.DataFrame({"a": RANDOM.integers(2, size=300), "c": RANDOM.integers(3, size=300)})
TABLE["b"] = np.where(RANDOM.random(300) < 0.1, 1 - TABLE["a"], TABLE["a"])
TABLE["colour"] = np.where(TABLE["b"] == 1, "red", "blue")
TABLE["patient"] = np.arange(300) // 10
SHIFTED = TABLE.assign(a=1, patient=TABLE["patient"] + 100)


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    TABLE.to_csv(tmp_path / "t.csv", index=False)
    SHIFTED.to_parquet(tmp_path / "u.parquet")
    TABLE[["b"]].to_csv(tmp_path / "b.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return runner(capfd, monkeypatch)


def test_mi_of_columns_in_bits(run):
    expected = vwkde.mutual_information(TABLE["a"], TABLE["colour"], unit="bits")
    assert run("mi", "t.csv", "--x", "a", "--y", "colour", "--unit", "bits") == (0, f"{expected}\n", "")


def test_mi_of_two_files_with_groups(run):
    expected = vwkde.mutual_information(TABLE["a"], TABLE["b"], groups=TABLE["patient"])
    status, out, _ = run("mi", "t.csv", "b.csv", "--x", "a", "--groups", "patient", "--json")
    assert status == 0
    assert json.loads(out)["value"] == pytest.approx(expected.value)
    assert json.loads(out)["standard_error"] == pytest.approx(expected.standard_error)


def test_mi_given_what_is_known_at_a_lag(run):
    known = vwkde.conditional_mutual_information(TABLE["a"], TABLE["b"], TABLE["c"], lag=1, z_lag=2, blocks=10)
    options = ["--given", "c", "--lag", "1", "--given-lag", "2", "--blocks", "10"]
    status, out, _ = run("mi", "t.csv", "--x", "a", "--y", "b", *options, "--json")
    assert status == 0
    assert json.loads(out)["kind"] == "conditional-mutual-information"
    assert json.loads(out)["interval"] == pytest.approx(list(known.interval))


def test_mi_of_every_two_of_some_columns(run):
    status, out, _ = run("mi", "t.csv", "--columns", "a,colour", "--json")
    assert (status, json.loads(out)["columns"]) == (0, ["a", "colour"])
    status, out, err = run("mi", "t.csv", "--columns", "a,b", "--x", "a", "--y", "b")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "--columns compares every two" in err


def test_mi_of_a_file_is_a_matrix(run):
    status, out, _ = run("mi", "t.csv", "--groups", "patient", "--json")
    assert status == 0
    assert json.loads(out)["columns"] == ["a", "c", "b", "colour"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--x", "a", "--y", "d"], "there are no columns ['d']; the file has ['a', 'c', 'b', 'colour', 'patient']"),
        (["--x", "a"], "Say which columns are X and Y, for example --x a,b --y c, or give two files."),
        (["--x", "a", "--y", "b", "--unit", "bit"], "The --unit option must be one of ['nats', 'bits']. Got 'bit'"),
        (["--x", "a", "--y", "b", "--lag", "295"], "must leave at least 10 of 300 rows"),
    ],
)
def test_mi_tells_errors_in_one_line(run, arguments, message):
    status, out, err = run("mi", "t.csv", *arguments)
    assert (status, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


def test_test_finds_a_difference(run):
    status, out, err = run("test", "t.csv", "u.parquet", "--columns", "a,c", "--permutations", "99")
    assert (status, err) == (1, "")
    assert out.startswith("the samples differ at the level 0.05\ntwo-sample test: p = 0.01 (300 and 300 rows")


def test_test_of_equal_samples_finds_nothing(run):
    status, out, _ = run("test", "t.csv", "t.csv", "--permutations", "19", "--json")
    found = json.loads(out)
    assert (status, found["differ"], found["level"], found["p_value"]) == (0, False, 0.05, 1.0)


def test_test_permutes_groups(run):
    status, out, _ = run("test", "t.csv", "u.parquet", "--groups", "patient", "--permutations", "99", "--json")
    groups = TABLE["patient"], SHIFTED["patient"]
    columns = ["a", "c", "b", "colour"]
    expected = vwkde.two_sample_test(TABLE[columns], SHIFTED[columns], groups=groups, n_permutations=99)
    assert status == 1
    assert json.loads(out)["p_values"] == pytest.approx(expected.p_values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--level", "0.001"], "--level must be at least 0.002, the smallest p-value of 499 permutations"),
        (["--level", "5"], "error: --level must be below 1, for example 0.05. Got 5 instead.\n"),
        (["--level", "nan"], "--level must be below 1"),
        (["--permutations", "3"], "must be an int of at least 19"),
        (["--groups", "ward"], "there are no columns ['ward']"),
    ],
)
def test_test_tells_errors_in_one_line(run, options, message):
    status, out, err = run("test", "t.csv", "u.parquet", *options)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err


def test_the_help_says_what_each_method_is(run):
    for command in ([], ["kl"]):
        status, out, _ = run(*command, "-h")
        assert status == 0
        assert "kliep: Ratio as a kernel expansion of the largest likelihood" in " ".join(out.split())
