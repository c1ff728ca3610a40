from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import vwkde
from vwkde._models.guides.cross_fit import FOLDS
from vwkde._models.neighbours import ByNeighbours
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._opinions import Opinion, _still_missed, with_neighbours
from vwkde.information._pairing import make_pairs, pairs_in_folds


def correlated(rows, columns, correlation, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    return x, correlation * x + np.sqrt(1 - correlation**2) * random.normal(size=(rows, columns))


@pytest.mark.parametrize(("columns", "correlation"), [(1, 0.7), (3, 0.5)])
def test_mutual_information_of_gaussians(columns, correlation):
    truth = -0.5 * columns * np.log(1 - correlation**2)
    estimates = [vwkde.mutual_information(*correlated(500, columns, correlation, seed)) for seed in range(3)]
    assert np.mean([e.value for e in estimates]) == pytest.approx(truth, rel=0.15)
    assert estimates[0].kind == "mutual-information"
    assert estimates[0].unit == "nats"
    low, high = estimates[0].interval
    assert low < truth < high


def test_a_gaussian_guide_is_unbiased_in_many_columns():
    x, y = correlated(600, 20, 0.2236)
    truth = -10 * np.log(1 - 0.2236**2)
    estimate = vwkde.mutual_information(x, y, guide="gaussian")
    assert estimate.value == pytest.approx(truth, abs=0.13)  # it was -0.5 below
    assert estimate.interval[0] < truth < estimate.interval[1]


def test_rows_of_a_group_do_not_inform_about_each_other():
    values, covered = [], []
    for seed in range(4):
        random = np.random.default_rng(seed)
        centre, noise = random.normal(size=(100, 1, 16)), random.normal(size=(100, 4, 16))
        z = (np.sqrt(0.5) * (centre + noise)).reshape(400, 16)
        groups = np.repeat(np.arange(100), 4)
        estimate = vwkde.mutual_information(z[:, :8], z[:, 8:], groups=groups, guide="gaussian")
        values.append(estimate.value)
        covered.append(estimate.interval[0] <= 0 < estimate.interval[1])
    assert np.mean(values) == pytest.approx(0.0, abs=0.07)  # it was 0.16
    assert sum(covered) >= 3


@pytest.mark.parametrize("noise", [1e-3, 1e-5])
@pytest.mark.filterwarnings("error")
def test_thin_dependence_is_no_degenerate_one(noise):
    x, _ = correlated(300, 1, 0.0)
    y = x + noise * np.random.default_rng(1).normal(size=x.shape)
    estimate = vwkde.mutual_information(x, y, guide="gaussian")
    assert estimate.value == pytest.approx(0.5 * np.log1p(noise**-2), abs=0.15)


@pytest.mark.parametrize(
    ("columns", "function"),
    [
        (1, lambda x: 1.1 * x),
        (1, lambda x: np.sin(3 * x)),
        (2, lambda x: x[:, 0] * x[:, 1]),
        (5, lambda x: x[:, :2] - x[:, 2:4]),
    ],
)
def test_a_function_of_x_says_infinitely_much_about_it(columns, function):
    x = np.random.default_rng(5).normal(size=(300, columns)).astype(np.float32)
    with pytest.warns(DegenerateDataWarning, match="is a function of the other"):
        estimate = vwkde.mutual_information(x, function(x))
    assert estimate.open_above
    assert estimate.interval[0] > 0.7
    assert estimate.interval[1] == np.inf


def thin(noise):
    random = np.random.default_rng(3)
    x = random.normal(size=500)
    z = x + noise * random.normal(size=500)
    return x, z**3 + z, 0.5 * np.log1p(noise**-2)


@pytest.mark.parametrize("noise", [3e-3, 1e-4])
def test_a_relation_too_thin_for_the_ranks_shows_around_a_curve(noise):
    x, y, truth = thin(noise)
    estimate = vwkde.mutual_information(x, y)
    assert estimate.value == pytest.approx(truth, abs=0.2)  # it was 5.05 for 5.81
    assert not estimate.open_above
    assert 0.2 < np.ptp(estimate.interval) < 0.6


def test_a_relation_thinner_than_any_curve_has_a_lower_limit_only():
    x, y, truth = thin(1e-6)
    with pytest.warns(DegenerateDataWarning, match="is a function of the other"):
        estimate = vwkde.mutual_information(x, y)
    assert 4 < estimate.value < truth
    assert estimate.open_above


@pytest.mark.filterwarnings("ignore:The numerator does not vary")
def test_a_shared_discrete_column_says_finitely_much():
    random = np.random.default_rng(0)
    label = random.integers(3, size=(400, 1))
    x, y = (np.concatenate([label, random.normal(size=(400, 1))], axis=1) for _ in range(2))
    estimate = vwkde.mutual_information(x, y)
    assert estimate.interval[0] < np.log(3) < estimate.interval[1] < 2


def test_a_constant_says_nothing():
    with pytest.warns(DegenerateDataWarning, match="a constant says nothing"):
        estimate = vwkde.mutual_information(np.ones(50), np.arange(50.0))
    assert estimate.value == 0
    assert estimate.interval[0] <= 0 < estimate.interval[1]


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"guide": "magic"}, "'guide' parameter"),
        ({"bandwidth": -1.0}, "'bandwidth' parameter"),
        ({"weighting": "uniform"}, "'weighting' parameter of DensityRatio must be 'variational' with guide='auto'"),
        ({"random_state": "one"}, "'random_state' parameter"),
        ({"device": "magic"}, "The device 'magic' cannot be used"),
        ({"groups": [1, 2]}, "'groups' parameter"),
    ],
)
def test_bad_parameters_are_told_even_if_a_constant_says_nothing(parameters, message):
    for x in (np.ones(50), np.linspace(0, 1, 50)):
        with pytest.raises(ValueError, match=message):
            vwkde.mutual_information(x, np.arange(50.0), **parameters)


@pytest.mark.parametrize("guide", ["gaussian", "auto"])
def test_waves_that_a_guide_misses_are_seen_by_neighbours(guide):
    random = np.random.default_rng(3)
    x = random.uniform(size=600)
    y = np.sin(8 * np.pi * x) + 0.2 * random.normal(size=600)
    estimate = vwkde.mutual_information(x, y, guide=guide)
    assert estimate.interval[0] < 1.154 < estimate.interval[1]  # by quadrature
    assert estimate.value == pytest.approx(1.154, abs=0.15)
    assert estimate.diagnostics["by_neighbours"] == pytest.approx(1.154, abs=0.15)


def test_discrete_columns():
    random = np.random.default_rng(0)
    x = random.integers(4, size=500)
    y = np.where(random.uniform(size=500) < 0.7, x, random.integers(4, size=500))
    joint = np.full((4, 4), 0.3 / 16) + np.eye(4) * 0.7 / 4
    truth = (joint * np.log(16 * joint)).sum()
    low, high = vwkde.mutual_information(x, y).interval
    assert low < truth < high


def test_neighbours_that_clearly_see_more_move_the_estimate_and_no_others_do():
    estimate = vwkde.Estimate(1.0, 0.1, "mutual-information", systematic_error=0.05)
    noise = np.tile([-1.0, 1.0], 200)
    fitted, flat = 1 + noise, np.zeros(400)

    paired = make_pairs(np.arange(400.0)[:, None], np.arange(400.0)[:, None], np.arange(400), 0)

    def after(more, rise=flat):
        opinion = Opinion(estimate, fitted, 0.0)
        return with_neighbours(opinion, ByNeighbours(fitted + more + noise, rise), paired).estimate

    assert after(0.05).value == after(-1.0).value == 1.0
    assert after(0.0).systematic_error == after(-1.0, 0.2 + flat).systematic_error == 0.05
    assert after(0.5).value == pytest.approx(1.5)
    assert after(0.5).systematic_error == pytest.approx(np.hypot(0.25, 0.05))
    assert not after(0.5).open_above
    assert after(0.5, 0.6 + noise).open_above  # as fast as in an exact relation
    # finer is still more: the rise is in doubt, and half of the half of it that is added to the neighbours
    assert after(0.0, 0.2 + noise).systematic_error == pytest.approx(np.linalg.norm([0.2, 0.05, 0.05]))


def test_neighbours_in_two_columns_replace_a_fit_without_a_model_and_what_both_disagree_about_is_in_doubt():
    estimate = vwkde.Estimate(1.0, 0.1, "mutual-information")
    log_ratio = 1 + np.tile([-1.0, 1.0], 200)

    def after(more, columns, share=0.0):
        x = np.arange(400.0)[:, None]
        paired = make_pairs(x, np.tile(x, (1, columns - 1)), np.arange(400), 0)
        fitted = replace(estimate, diagnostics={"copula_share": share})
        seen = ByNeighbours(log_ratio + more + np.tile([0.1, -0.1], 200), np.zeros(400))
        return with_neighbours(Opinion(fitted, log_ratio, 0.0), seen, paired, may_replace=True).estimate

    for more in (0.4, -0.4):
        assert after(more, columns=2).value == pytest.approx(1 + more)
        assert after(more, columns=3).systematic_error == pytest.approx(0.2)
    assert after(-0.4, columns=4).value == after(-0.4, columns=2, share=0.5).value == 1.0


def test_what_boxes_still_miss_is_more_than_what_the_last_halving_showed_in_many_columns():
    # a box half as large in volume is smaller by 2 ** (1 / d): the squares of the widths, 1, 2 ** (-2 / d), ... add up
    for columns in (2, 4, 6):
        halvings = 2.0 ** (-2 / columns * np.arange(1, 400))
        assert _still_missed(columns) == pytest.approx(halvings.sum())


def test_independent_columns_have_none():
    x, y = correlated(400, 2, 0.0)
    estimate = vwkde.mutual_information(x, y)
    assert abs(estimate.value) < 0.03


def test_dependence_that_no_correlation_shows():
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 600)
    x, y = (f(angle) + 0.1 * random.normal(size=600) for f in (np.cos, np.sin))
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.1
    assert vwkde.mutual_information(x, y).value == pytest.approx(0.679, rel=0.2)  # by quadrature


def test_the_measures_of_x_and_y_do_not_matter():
    x, y = correlated(200, 2, 0.6)
    expected = vwkde.mutual_information(x, y).value
    assert vwkde.mutual_information(1e4 * x + 5, pd.DataFrame(y * 1e-3, columns=["a", "b"])).value == pytest.approx(
        expected, rel=1e-5
    )


def test_pairs_are_never_rows_and_stay_in_their_fold():
    fold = np.random.default_rng(0).permutation(np.arange(103) % FOLDS)
    first, second = pairs_in_folds(fold, 0)
    assert (first != second).all()
    assert (fold[first] == fold[second]).all()
    assert len(set(zip(first, second, strict=True))) == len(first)
    assert np.ptp(np.bincount(first)) == 0  # every x as often as any other


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros(20), np.zeros(19), "same number of rows. Got 20 and 19"),
        (np.arange(9.0), np.arange(9.0), "at least 10 are needed"),
        (np.array([np.nan] * 20), np.arange(20.0), "X must be finite"),
    ],
)
def test_bad_input_is_told(x, y, message):
    with pytest.raises(ValueError, match=message):
        vwkde.mutual_information(x, y)


@pytest.mark.parametrize("columns", [(1, 1), (2, 1), (2, 2)])
def test_information_is_symmetric(columns):
    """It differed by some thousandths."""
    random = np.random.default_rng(0)
    x, y = (random.normal(size=(60, each)) for each in columns)
    y[:, 0] += x[:, 0]
    assert vwkde.mutual_information(x, y) == vwkde.mutual_information(y, x)
    if columns == (1, 1):
        z = random.normal(size=60)
        assert vwkde.conditional_mutual_information(x, y, z) == vwkde.conditional_mutual_information(y, x, z)
