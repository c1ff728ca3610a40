"""What stands where a command writes: its own earlier output is replaced, a file of the user only by `--force`."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from support.commands import runner

RATIO = "ratio", "p.csv", "q.csv", "--at", "p.csv", "--method", "kde"
REWEIGHT = "reweight", "p.csv", "q.csv", "--estimator", "logistic"
DRIFT = "drift", "p.csv", "q.csv"
FIT = "drift", "fit", "p.csv"
OURS = [(RATIO, "a.csv"), (RATIO, "a.parquet"), (REWEIGHT, "a.csv"), (REWEIGHT, "a.parquet"), (DRIFT, "a.html")]


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    random = np.random.default_rng(0)
    for name in ("p.csv", "q.csv"):
        np.savetxt(tmp_path / name, random.normal(size=(40, 2)), delimiter=",", header="a,b", comments="")
    monkeypatch.chdir(tmp_path)
    return runner(capfd, monkeypatch)


@pytest.mark.parametrize(("command", "name"), [*OURS, (FIT, "a.model")])
def test_a_command_can_be_repeated(run, command, name):
    Path(name).touch()  # an empty file holds nothing, as one of mktemp
    assert run(*command, "-o", name)[0] in (0, 1)
    written = Path(name).read_bytes()
    status, _, err = run(*command, "-o", name)
    assert status in (0, 1)
    assert "error" not in err
    assert Path(name).read_bytes() == written


@pytest.mark.parametrize(("command", "name"), OURS)
@pytest.mark.parametrize("content", [b"log_ratio,posterior,comment\n1,1,mine\n", b"<!doctype html>\nmine", b"\xff\x00"])
def test_a_file_of_the_user_is_replaced_only_by_force(run, command, name, content):
    Path(name).write_bytes(content)
    status, out, err = run(*command, "-o", name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"error: {name}: already exists and is not a ")
    assert err.endswith("Choose another name, or overwrite it with --force.\n")
    assert Path(name).read_bytes() == content
    assert run(*command, "-o", name, "--force")[0] in (0, 1)
    assert Path(name).read_bytes() != content


def test_a_table_of_another_command_is_replaced_only_by_force(run):
    assert run(*RATIO, "-o", "a.csv")[0] == 0
    status, _, err = run(*REWEIGHT, "-o", "a.csv")
    assert status == 2
    assert "is not a table with the columns weight, ratio, standard_error" in err
    pd.DataFrame({"log_ratio": [1.0]}).to_parquet("a.parquet")
    assert run(*RATIO, "-o", "a.parquet")[0] == 2


def test_what_was_printed_can_be_replaced_by_what_is_written(run):
    Path("a.csv").write_text(run(*RATIO)[1])
    assert run(*RATIO, "-o", "a.csv")[0] == 0


def test_a_file_without_names_is_replaced_only_by_force(run):
    assert run(*RATIO, "-o", "a.npy")[0] == 0
    status, _, err = run(*RATIO, "-o", "a.npy")
    assert (status, err.count("\n")) == (2, 1)
    assert err.startswith("error: a.npy: already exists, and an NPY file does not say what wrote it.")
    assert run(*RATIO, "-o", "a.npy", "--force")[0] == 0


def test_a_reference_that_is_replaced_is_mentioned(run):
    assert run(*FIT, "-o", "a.model")[2].endswith("reference written to a.model\n")
    assert run(*FIT, "-o", "a.model")[2].endswith("reference written to a.model in place of an earlier one\n")


@pytest.mark.parametrize(("command", "name"), [*OURS, (FIT, "a.model"), (("inspect", "fit", "none"), "part.vwkde")])
def test_a_folder_that_is_not_there_is_refused_and_not_made(run, command, name):
    Path("none").mkdir()
    Path("none/a.png").write_bytes(b"no image")
    status, out, err = run(*command, "-o", f"other/{name}")
    assert (status, out, err) == (
        2,
        "",
        f"error: other/{name}: there is no folder other. Create it first, or choose another.\n",
    )
    assert not Path("other").exists()
