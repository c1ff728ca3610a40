"""`vwkde divergence` and the options that it shares with `vwkde kl`."""

import json

import numpy as np
import pandas as pd
import pytest

import vwkde
from support.commands import runner

RANDOM = np.random.default_rng(0)
P, Q = (
    pd.DataFrame(RANDOM.normal(mean, 1, (120, 2)), columns=["a", "b"]).assign(patient=np.arange(120) // 6 + first)
    for mean, first in ((0.5, 0), (0.0, 100))
)
GROUPS = P["patient"], Q["patient"]
SAMPLES = P[["a", "b"]], Q[["a", "b"]]
QUICK = "--method", "kde"


@pytest.fixture
def run(tmp_path, capfd, monkeypatch):
    P.to_csv(tmp_path / "p.csv", index=False)
    Q.to_csv(tmp_path / "q.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return runner(capfd, monkeypatch)


@pytest.mark.parametrize(("kind", "order"), [("jensen-shannon", None), ("total-variation", None), ("renyi", 0.5)])
def test_a_divergence_of_any_kind(run, kind, order):
    expected = vwkde.divergence(*SAMPLES, kind, order=order, method="kde")
    options = ["--kind", kind, *(["--order", order] if order else []), *QUICK, "--columns", "a,b"]
    assert run("divergence", "p.csv", "q.csv", *options) == (0, f"{expected}\n", "")
    status, out, _ = run("divergence", "p.csv", "q.csv", *options, "--json")
    assert (status, json.loads(out)["kind"]) == (0, kind)
    assert json.loads(out)["value"] == pytest.approx(expected.value)


def test_without_a_kind_it_is_the_kl_divergence(run):
    assert run("divergence", "p.csv", "q.csv", *QUICK) == run("kl", "p.csv", "q.csv", *QUICK)


@pytest.mark.parametrize("command", ["kl", "divergence"])
def test_units_and_groups_are_those_of_python(run, command):
    expected = vwkde.kl_divergence(*SAMPLES, groups=GROUPS, unit="bits", method="kde")
    status, out, _ = run(command, "p.csv", "q.csv", "--groups", "patient", "--unit", "bits", *QUICK, "--json")
    assert (status, json.loads(out)["unit"]) == (0, "bits")
    assert json.loads(out)["value"] == pytest.approx(expected.value)
    assert json.loads(out)["standard_error"] == pytest.approx(expected.standard_error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kind", "jensen"], "The --kind option must be one of ['kl', 'reverse-kl', 'jensen-shannon'"),
        (["--kind", "renyi"], "The --order option of --kind renyi must be a positive number other than 1"),
        (["--kind", "js", "--order", "2"], "The --order option belongs to --kind renyi. Got --order 2.0"),
        (["--kind", "tv", "--unit", "bits"], "without a unit. Got --unit bits instead; leave the option out."),
        (["--unit", "bit"], "The --unit option must be one of ['nats', 'bits']. Got 'bit' instead."),
        (
            ["--groups", "patient", "--method", "nn"],
            "must be None with --method nn, which leaves out single rows only; ",
        ),
        (["--groups", "patient", "--method", "nn"], "leave out --method."),
        (["--groups", "ward"], "there are no columns ['ward']"),
    ],
)
def test_errors_name_the_options(run, options, message):
    status, out, err = run("divergence", "p.csv", "q.csv", *options)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert message in err
