"""Weights as an object: what they are, for which rows, and what can be asked of them."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import vwkde
from vwkde.datasets import mean_difference

TARGET, ROWS = mean_difference(2, 1.0).sample(500, 600, random_state=3)
EXACT = mean_difference(2, 1.0).log_ratio


@pytest.fixture(scope="module")
def ratio():
    return vwkde.DensityRatio(guide="gaussian").fit(TARGET, ROWS)


@pytest.fixture(scope="module")
def weights(ratio):
    return ratio.weights()


def test_rows_look_like_the_target(weights):
    assert len(weights) == 600
    assert weights.values.mean() == pytest.approx(1)
    np.testing.assert_allclose(np.average(ROWS, axis=0, weights=weights.values), TARGET.mean(axis=0), atol=0.04)
    assert np.corrcoef(np.log(weights.ratio), EXACT(ROWS))[0, 1] > 0.98
    assert 60 < weights.effective_size < 400


def test_new_rows_get_weights_on_the_same_scale(weights):
    new = mean_difference(2, 1.0).sample(500, 4_000, random_state=4)[1]
    value, error = weights.at(new, return_std=True)
    assert value.mean() == pytest.approx(1, abs=0.1)
    assert np.median(error / value) < 0.3
    np.testing.assert_allclose(weights.at(new[:5], own_weight=[2, -1, 0, 1, 1]), value[:5] * [2, -1, 0, 1, 1])
    with pytest.raises(ValueError, match=r"own_weight must have shape \(5,\)"):
        weights.at(new[:5], own_weight=[1.0])


def test_they_are_taken_for_sample_weights(weights):
    y = ROWS[:, 0] ** 2
    one, other = Ridge().fit(ROWS, y, sample_weight=weights), Ridge().fit(ROWS, y, sample_weight=weights.values)
    np.testing.assert_array_equal(one.coef_, other.coef_)


def test_own_weights_are_in_them():
    """Each row twice, or with weight two: the same weights in all."""
    own = np.where(np.arange(600) < 300, 2.0, 1.0)
    weighted = vwkde.importance_weights(TARGET, ROWS, estimator="gaussian", denominator_weight=own)
    assert weighted.values.sum() == pytest.approx(own.sum())
    np.testing.assert_allclose(weighted.values / weighted.ratio, own * (weighted.values[0] / weighted.ratio[0] / 2))
    np.testing.assert_allclose(np.average(ROWS, axis=0, weights=weighted.values), TARGET.mean(axis=0), atol=0.04)


def test_rows_of_weight_zero_and_repeats_keep_their_places():
    rows = np.concatenate([ROWS, ROWS[:50], ROWS[:10]])
    own = np.concatenate([np.ones(650), np.zeros(10)])
    ratio = vwkde.DensityRatio(guide="gaussian").fit(TARGET, rows, denominator_weight=own)
    weights = ratio.weights()
    assert (weights.values[650:] == 0).all()
    np.testing.assert_allclose(weights.values[:50], weights.values[600:650])
    np.testing.assert_allclose(weights.ratio[650:], weights.ratio[:10], rtol=0.2)
    assert (weights.ratio[650:] > 0).all()


def test_balance_before_and_after(weights):
    frame = weights.balance.to_frame()
    assert list(frame.columns[:5]) == ["column", "statistic", "target", "before", "after"]
    assert set(frame.statistic) == {"mean", "sd", "q05", "q25", "q50", "q75", "q95"}
    mean = frame[(frame.column == "x0") & (frame.statistic == "mean")].iloc[0]
    assert mean.target == pytest.approx(TARGET[:, 0].mean())
    assert mean.before == pytest.approx(ROWS[:, 0].mean())
    assert mean.after == pytest.approx(np.average(ROWS[:, 0], weights=weights.values))
    assert abs(mean.difference_after) < 0.03 < 0.8 < abs(mean.difference_before)
    quantiles = frame[frame.statistic.isin(["q25", "q50", "q75"])]
    assert quantiles.difference_after.abs().max() < 0.25
    assert "mean of" in str(weights.balance)


@pytest.mark.parametrize("truth", [-5.0, -0.3, 0.0, 0.3, 5.0])
def test_the_interval_of_a_mean_has_two_sides_whatever_its_sign(truth):
    """Of a negative one the lower end was the value itself, as if it were a divergence."""
    covered = 0
    for seed in range(12):
        random = np.random.default_rng([8, seed])
        p, q = random.normal(0.5, 1, (200, 1)), random.normal(size=(200, 1))
        outcome = truth - 0.5 + q[:, 0] + 0.5 * random.normal(size=200)
        mean = vwkde.DensityRatio(guide="gaussian").fit(p, q).weights().mean(outcome)
        covered += mean.interval[0] <= truth <= mean.interval[1]
        assert mean.interval[0] < mean.value < mean.interval[1]
    assert covered >= 10


def test_a_mean_over_the_target_with_its_error():
    inside, errors = 0, []
    for seed in range(20):
        target, rows = mean_difference(2, 1.0).sample(300, 300, random_state=seed)
        y = rows[:, 0] + rows[:, 1] ** 2 + np.random.default_rng(seed).normal(size=300)
        truth = 1.0 + mean_difference(2, 1.0).numerator.mean[0]
        estimate = vwkde.importance_weights(target, rows, estimator="gaussian").mean(y)
        low, high = estimate.interval
        inside += low < truth < high
        errors.append(estimate.value - truth)
    assert inside >= 16
    assert abs(np.mean(errors)) < 0.1


def test_the_check_finds_what_is_left(weights):
    assert 0.4 < weights.discriminator().value < 0.6
    new = mean_difference(2, 1.0).sample(500, random_state=5)
    assert abs(weights.discriminator(*new).value - 0.5) < 3 * weights.discriminator(*new).standard_error
    unbalanced = vwkde.importance_weights(TARGET, ROWS, estimator="gaussian", truncate=1.0, balance="none")
    assert unbalanced.discriminator(*new).interval[0] > 0.5
    with pytest.raises(ValueError, match="both samples, or none"):
        weights.discriminator(new[0])


def test_handed_on(weights):
    frame = weights.to_frame()
    assert list(frame.columns) == ["weight", "ratio", "own_weight", "standard_error"]
    assert (frame.standard_error > 0).all()
    told = weights.to_dict()
    assert told["effective_size"] == pytest.approx(weights.effective_size)
    assert len(told["details"]["balance"]) == 14
    assert "worth" in str(weights)
    assert f"; ratios cut at {weights.limit:.3g}, then balanced: {weights.balanced}\n" in str(weights)
    assert "worth" in weights._repr_html_()


def test_tables_have_names_in_the_balance():
    p, q = (
        pd.DataFrame(x, columns=["age", "dose"]).assign(sex=np.where(x[:, 0] > 0, "f", "m")) for x in (TARGET, ROWS)
    )
    weights = vwkde.importance_weights(p, q, estimator="logistic")
    assert {"age", "dose"} < set(weights.balance.to_frame().column)
    assert weights.balance.largest_difference() < 0.1
    np.testing.assert_allclose(weights.at(q.iloc[:7, ::-1]).shape, 7)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"truncate": 0.5}, "'truncate' parameter of weights must be 'auto', None or a number of at least 1"),
        ({"relative": 1.0}, "'relative' parameter of weights must be 'auto' or a number from 0"),
        ({"relative": 0.1, "truncate": 5}, "two ways to bound ratios"),
        ({"balance": "median"}, "'balance' parameter of weights must be one of"),
    ],
)
def test_options_that_do_not_exist_are_refused(ratio, options, message):
    with pytest.raises(ValueError, match=message):
        ratio.weights(**options)


def test_bounds_that_are_given_hold(ratio):
    assert np.exp(ratio.denominator_log_ratio_).max() > 3
    limited = ratio.weights(truncate=3, balance="none")
    assert limited.ratio.max() / np.sort(limited.ratio)[-20] == pytest.approx(1)
    relative = ratio.weights(relative=0.25, balance="none")
    assert relative.relative == 0.25
    assert relative.effective_size > ratio.weights(truncate=None, balance="none").effective_size


def test_a_handful_of_rows_is_warned_of():
    with pytest.warns(vwkde.OverlapWarning):
        far = vwkde.importance_weights(TARGET[:100] + np.array([-3.5, 0]), ROWS, estimator="gaussian")
    assert far.effective_size < 10
