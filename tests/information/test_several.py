"""The information of every two columns of a table."""

import json

import numpy as np
import pandas as pd
import pytest

import vwkde
from vwkde.information import _several


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(0)
    a = random.integers(2, size=400)
    b = np.where(random.random(400) < 0.1, 1 - a, a)
    colour = np.where(b == 1, "red", "blue")
    return pd.DataFrame({"a": a, "colour": colour, "noise": random.integers(3, size=400).astype(bool)})


@pytest.fixture(scope="module")
def matrix(table):
    return vwkde.mutual_information_matrix(table, unit="bits", confidence_level=0.9)


def test_a_pair_is_what_mutual_information_says(table, matrix):
    expected = vwkde.mutual_information(table["a"], table["colour"], unit="bits", confidence_level=0.9)
    assert matrix["a", "colour"] == matrix["colour", "a"] == expected
    assert matrix["a", "colour"].value == pytest.approx(0.53, abs=0.1)
    assert matrix["a", "noise"].value < 0.02


def test_the_values_are_a_symmetric_table(matrix):
    frame = matrix.to_frame()
    assert list(frame.index) == list(frame.columns) == ["a", "colour", "noise"]
    assert np.isnan(np.diag(frame)).all()
    np.testing.assert_array_equal(frame, frame.T)
    assert frame.loc["a", "colour"] == matrix["a", "colour"].value
    assert r"colour & 0." in matrix.to_latex()


def test_it_is_handed_on_and_shown(matrix):
    found = json.loads(json.dumps(matrix.to_dict(), allow_nan=False))
    assert found["columns"] == ["a", "colour", "noise"]
    assert found["values"][0][0] is None
    assert found["details"]["estimates"][0]["confidence_level"] == 0.9
    assert str(matrix).splitlines()[0].startswith("a – colour      0.")
    assert "mutual information in bits" in matrix._repr_html_()


def test_columns_that_are_not_there_are_told(table, matrix):
    with pytest.raises(KeyError, match=r"no pair of columns \('a', 'b'\)"):
        matrix["a", "b"]
    with pytest.raises(ValueError, match=r"at least 2 columns. Got \['a'\] instead"):
        vwkde.mutual_information_matrix(table[["a"]])


def test_a_constant_column_says_nothing():
    """Neighbours of equal values made it 0.2 elsewhere (scikit-learn #30772)."""
    random = np.random.default_rng(0)
    label = random.integers(2, size=20_000)
    table = np.column_stack([label, random.random(20_000) < 0.5 + 0.02 * label, np.ones(20_000)])
    with pytest.warns(vwkde.DegenerateDataWarning, match="a constant says nothing"):
        matrix = vwkde.mutual_information_matrix(table)
    assert matrix["0", "2"].value == matrix["1", "2"].value == 0.0
    assert matrix["0", "1"].value == pytest.approx(2e-4, abs=1e-3)


def test_an_unknown_keyword_is_refused_in_the_name_of_the_function_that_was_called():
    x = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(TypeError, match=r"mutual_information_matrix has no parameter 'bandwith'. Did you mean 'band"):
        vwkde.mutual_information_matrix(x, bandwith=1)
    with pytest.raises(TypeError, match=r"mutual_information_by_lag has no parameter 'untis'. Did you mean 'unit'"):
        vwkde.mutual_information_by_lag(x[:, 0], x[:, 1], [0], Z=x[:, 1], untis="bits")


@pytest.mark.parametrize(("lags", "words"), [([], "Got none"), (3, r"several ints, such as range\(10\). Got 3")])
def test_lags_that_are_not_several_are_refused(lags, words):
    with pytest.raises(ValueError, match=f"The 'lags' parameter of mutual_information_by_lag must .*{words}"):
        vwkde.mutual_information_by_lag(np.arange(30), np.arange(30), lags)


@pytest.mark.parametrize(
    ("lags", "words"),
    [
        ([0, 1, "a"], r"'lags' parameter of mutual_information_by_lag must be ints, .*Got 'a' instead"),
        ([0, 1, 2.0], r"Got 2\.0 instead"),
        ([0, 1, 195], "must leave at least 10 of 200 rows"),
    ],
)
def test_lags_are_checked_before_anything_is_computed(lags, words, monkeypatch):
    finished = []

    def counted(*arguments, **named):
        finished.append(vwkde.mutual_information(*arguments, **named))
        return finished[-1]

    monkeypatch.setattr(_several, "mutual_information", counted)
    x = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(ValueError, match=words):
        vwkde.mutual_information_by_lag(*x.T, lags, guide="gaussian")
    assert not finished
    found = vwkde.mutual_information_by_lag(*x.T, [1, 2, 1, -3], guide="gaussian")
    assert list(found.estimates) == [1, 2, -3]
    assert len(finished) == 3


def test_a_notebook_shows_each_lag():
    estimates = {lag: vwkde.Estimate(0.1 * lag, 0.01, "mutual-information") for lag in (1, 2)}
    shown = vwkde.LaggedInformation(estimates)._repr_html_()
    assert "lag 1: 0.1 nats" in shown
    assert "lag 2: 0.2 nats" in shown
