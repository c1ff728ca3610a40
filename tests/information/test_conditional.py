"""Conditional mutual information against partial correlations and tables."""

import numpy as np
import pytest

import vwkde
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._conditional import _towards
from vwkde.information._direct import direct_information


def covers(estimate, truth):
    return estimate.interval[0] <= truth < estimate.interval[1]


@pytest.fixture
def random():
    return np.random.default_rng(7)


def test_a_common_cause_explains_all(random):
    z = random.normal(size=500)
    x, y = z + random.normal(size=(2, 500))
    estimate = vwkde.conditional_mutual_information(x, y, z)
    assert estimate.kind == "conditional-mutual-information"
    assert covers(estimate, 0.0)
    assert abs(estimate.value) < 0.03
    assert vwkde.mutual_information(x, y).value > 0.08  # 0.144 without z
    whole, part = estimate.diagnostics["terms"]
    ends = sorted([whole - part, estimate.diagnostics["by_neighbours"]])
    assert ends[0] <= estimate.value <= ends[1]


def test_partial_correlation(random):
    z = random.normal(size=(500, 2))
    x = z[:, 0] + random.normal(size=500)
    y = z.sum(axis=1) + (x - z[:, 0]) + random.normal(size=500)  # the partial correlation is √½
    estimate = vwkde.conditional_mutual_information(x, y, z)
    assert estimate.value == pytest.approx(0.5 * np.log(2), abs=0.1)
    assert covers(estimate, 0.5 * np.log(2))


def test_neither_tells_but_both_do(random):
    x, y = random.integers(2, size=(2, 400))
    estimate = vwkde.conditional_mutual_information(x, y, x ^ y)
    assert estimate.value == pytest.approx(np.log(2), abs=0.02)
    assert covers(vwkde.mutual_information(x, y), 0.0)


def test_the_mean_over_values_of_a_discrete_z(random):
    z = random.integers(3, size=600)
    x = z + random.normal(size=600)
    y = np.where(z == 1, x, z) + random.normal(size=600)
    estimate = vwkde.conditional_mutual_information(x, y, z)
    assert covers(estimate, np.log(2) / 6)
    assert estimate.diagnostics["terms"][1] == pytest.approx(np.log(2) / 2, abs=0.15)
    np.testing.assert_allclose(
        estimate.value, np.average(estimate.diagnostics["terms"], weights=np.bincount(z)), rtol=1e-12
    )


def test_groups(random):
    groups = np.repeat(np.arange(80), 5)
    z = np.repeat(random.normal(size=80), 5)
    x, y = z + np.repeat(random.normal(size=(2, 80)), 5, axis=1) + 0.3 * random.normal(size=(2, 400))
    estimate = vwkde.conditional_mutual_information(x, y, z + 0.01 * random.normal(size=400), groups=groups)
    assert covers(estimate, 0.0)
    assert estimate.degrees_of_freedom < 80


def test_an_impossible_difference_is_in_doubt(random):
    z = random.normal(size=400)
    x, y = z**2 + 0.5 * random.normal(size=400), np.sin(2 * z) + 0.5 * random.normal(size=400)
    estimate = vwkde.conditional_mutual_information(x, y, z)
    assert estimate.interval[1] > 0  # with more columns the fit sees less, and the difference was clearly negative


def test_what_is_a_function_of_x_is_told(random):
    x, z = random.normal(size=(2, 300))
    with pytest.warns(DegenerateDataWarning, match="is a function of the other"):
        estimate = vwkde.conditional_mutual_information(x, x + z, z)
    assert estimate.open_above


def test_bad_input_is_told():
    with pytest.raises(ValueError, match=r"X and Y and Z must have the same number of rows\. Got 20 and 20 and 19"):
        vwkde.conditional_mutual_information(np.arange(20.0), np.arange(20.0), np.arange(19.0))
    with pytest.raises(ValueError, match="'groups' parameter of conditional_mutual_information"):
        vwkde.conditional_mutual_information(*np.random.default_rng(0).normal(size=(3, 20)), groups=np.arange(20) // 3)


@pytest.mark.parametrize("known", ["x", "2 x - 1", "x and y", "sum"])
def test_what_z_already_says_is_no_information(random, known):
    x, y, w = random.normal(size=(3, 200))
    z = {"x": x, "2 x - 1": 2 * x - 1, "x and y": np.column_stack([x, y]), "sum": np.column_stack([w, x + w])}[known]
    with pytest.warns(DegenerateDataWarning, match="X or Y is a function of Z"):
        estimate = vwkde.conditional_mutual_information(x, x + y, z)
    assert estimate.value == 0.0  # it was "at least -1.7"
    assert 0 < estimate.interval[1] < 0.02


def test_of_several_columns_those_that_z_does_not_say_are_left(random):
    x, w, noise = random.normal(size=(3, 400))
    estimate = vwkde.conditional_mutual_information(np.column_stack([x, w]), x + noise, x + w, guide="gaussian")
    assert not estimate.open_above  # both columns and their sum made I(X; Z) infinite
    assert estimate.value == pytest.approx(0.5 * np.log(1.5), abs=0.08)
    assert covers(estimate, 0.5 * np.log(1.5))


def test_almost_the_same_as_z_says_almost_nothing(random):
    x, noise = random.normal(size=(2, 400))
    estimate = vwkde.conditional_mutual_information(x, x + noise, x + 1e-3 * random.normal(size=400), guide="gaussian")
    assert abs(estimate.value) < 0.01  # as the difference of two terms near 7 it was 0.02
    assert estimate.interval[0] <= 0 < estimate.interval[1]


def test_labels_may_be_x_or_y(random):
    x, z = random.normal(size=(2, 250))
    label = np.where(x + random.normal(size=250) > 0, "yes", "no")
    estimates = [vwkde.conditional_mutual_information(*both, z, unit="bits") for both in ((x, label), (label, x))]
    assert estimates[0] == estimates[1]
    assert covers(estimates[0], 1 - 0.5 / np.log(2))  # the mean entropy of a probability that is uniform: half a nat


def test_neighbours_see_the_information_directly(random):
    z, x, noise = random.normal(size=(3, 2_000, 1))
    assert direct_information(x, x + z + noise, z) == pytest.approx(0.5 * np.log(2), abs=0.05)
    assert abs(direct_information(z + x, 3 * z + noise, z)) < 0.04
    assert direct_information(np.round(x), np.round(x) + z, z) > 1  # ties among the rows of X
    assert direct_information(x, random.normal(size=(2_000, 3)), random.normal(size=(2_000, 3))) is None  # too many


@pytest.mark.parametrize(("by_model", "doubt", "moved"), [(0.0, 1.0, 0.2), (0.0, 0.05, 0.05), (1.0, 1.0, 0.0)])
def test_a_difference_moves_as_far_as_it_is_in_doubt(by_model, doubt, moved):
    assert _towards(0.2, doubt, by_model) == pytest.approx(moved)
    assert _towards(-0.2, doubt, by_model) == pytest.approx(-moved)
