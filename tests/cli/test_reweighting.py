"""`vwkde reweight` as it is typed: files, own weights, errors in one line."""

import json

import numpy as np
import pandas as pd
import pytest

from support.commands import runner

RANDOM = np.random.default_rng(0)


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    mc = pd.DataFrame(RANDOM.normal(size=(400, 2)), columns=["pt", "eta"])
    mc["w"] = np.where(RANDOM.random(400) < 0.3, -0.5, 1.0)
    mc.to_parquet(tmp_path / "mc.parquet")
    pd.DataFrame(RANDOM.normal(0.5, 1, (300, 2)), columns=["pt", "eta"]).to_csv(tmp_path / "data.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return runner(capfd, monkeypatch, "reweight")


def test_weights_are_written_for_each_row(run):
    arguments = "mc.parquet", "data.csv", "--own-weight", "w", "--estimator", "logistic"
    status, out, err = run(*arguments, "-o", "weights.parquet")
    assert status == 0
    assert "worth" in out
    assert "400 rows written" in err
    mc, weights = pd.read_parquet("mc.parquet"), pd.read_parquet("weights.parquet")
    assert list(weights.columns) == ["weight", "ratio", "standard_error"]
    assert ((weights.weight > 0) == (mc.w > 0)).all()
    assert weights.weight.sum() == pytest.approx(mc.w.sum())
    status, out, _ = run(*arguments, "-o", "weights.csv", "--json", "--check")
    told = json.loads(out)
    assert status == 0
    assert "weights" not in told
    assert 0.4 < told["discriminator"]["value"] < 0.6
    np.testing.assert_allclose(pd.read_csv("weights.csv").weight, weights.weight)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-o", "data.csv"), "is an input of this command"),
        (("-o", "w.xlsx"), "must end in .csv, .parquet or .npy"),
        (("-o", "w.csv"), "Only in mc.parquet: ['w']; only in data.csv: none. Name weights with --own-weight"),
        (("-o", "w.csv", "--own-weight", "v"), "there is no column 'v' for --own-weight"),
        (("-o", "w.csv", "--own-weight", "w", "--data-weight", "w"), "there is no column 'w' for --data-weight"),
    ],
)
def test_errors_are_told_in_one_line_and_nothing_is_written(run, tmp_path, arguments, words):
    before = (tmp_path / "data.csv").read_bytes()
    status, out, err = run("mc.parquet", "data.csv", *arguments)
    assert (status, out) == (2, "")
    assert words in err
    assert err.count("\n") == 1
    assert (tmp_path / "data.csv").read_bytes() == before
    assert not (tmp_path / "w.csv").exists()
