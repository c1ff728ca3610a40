"""Weights in one call: trees for many rows, weights of both signs, errors."""

import numpy as np
import pytest

import vwkde
from vwkde.weighting._boosted import BoostedRatio
from vwkde.weighting._signed import local_weights

RANDOM = np.random.default_rng(0)


@pytest.fixture(scope="module")
def tables():
    """Two columns of which one is skewed; the second depends on the first in one population only."""
    q = RANDOM.normal(size=(4_000, 2))
    p = RANDOM.normal(size=(4_000, 2))
    p[:, 1] += 0.7 * np.sin(2 * p[:, 0])
    return [np.column_stack([np.exp(x[:, 0] / 2), x[:, 1]]) for x in (p, q)]


@pytest.fixture(scope="module")
def boosted(tables):
    return vwkde.importance_weights(*tables, estimator="boosting")


def test_trees_find_what_columns_alone_do_not_show(tables, boosted):
    x, y = 2 * np.log(tables[1][:, 0]), tables[1][:, 1]
    truth = 0.7 * np.sin(2 * x) * y - 0.5 * (0.7 * np.sin(2 * x)) ** 2
    assert np.corrcoef(np.log(boosted.ratio), truth)[0, 1] > 0.85
    target = np.mean(np.sin(4 * np.log(tables[0][:, 0])) * tables[0][:, 1])
    assert abs(np.mean(np.sin(2 * x) * y)) < 0.05 < 0.3 < target
    assert np.average(np.sin(2 * x) * y, weights=boosted.values) == pytest.approx(target, abs=0.12)


def test_a_weight_comes_from_trees_that_have_not_seen_the_row(tables, boosted):
    """Of equal populations nothing can be learnt, and rows that were seen would get weights that fit their noise."""
    assert boosted.at(tables[1]).shape == (4_000,)
    same = RANDOM.normal(size=(2, 1_500, 2))
    ratio = BoostedRatio().fit(*same)
    assert ratio.numerator_log_ratio_.mean() < 0.01 + ratio.denominator_log_ratio_.mean() + 0.05
    assert np.mean(ratio.numerator_log_ratio_) - np.mean(ratio.denominator_log_ratio_) < 0.02


def test_many_rows_mean_trees(monkeypatch, tables):
    from vwkde.weighting import _function

    monkeypatch.setattr(_function, "MANY_ROWS", 1_000)
    assert isinstance(_function._make_ratio("auto", 1_000, {}), BoostedRatio)
    assert not isinstance(_function._make_ratio("auto", 999, {}), BoostedRatio)
    del tables


@pytest.fixture(scope="module")
def signed():
    """Events of N(0, 1), from which those of N(1, 0.6²) were taken off with negative weights."""
    x = np.concatenate([RANDOM.normal(0, 1, 4_000), RANDOM.normal(1, 0.6, 800)])[:, None]
    weight = np.repeat([1.0, -1.0], [4_000, 800])
    return x, weight


def net_mean(f):
    grid = np.linspace(-6, 6, 4_001)
    positive = np.exp(-0.5 * grid**2) / np.sqrt(2 * np.pi)
    negative = np.exp(-0.5 * ((grid - 1) / 0.6) ** 2) / (0.6 * np.sqrt(2 * np.pi))
    net = positive - 0.2 * negative
    return np.sum(f(grid) * net) / net.sum()


def test_signs_become_local_means_of_them(signed):
    x, weight = signed
    local = local_weights(x, weight, "denominator_weight", 0)
    assert (local > 0).all()
    assert local.sum() == pytest.approx(weight.sum())
    for f in (np.sin, np.square):
        expected = net_mean(f)
        assert np.average(f(x[:, 0]), weights=local) == pytest.approx(expected, abs=0.05)
        assert abs(np.average(f(x[:, 0])) - expected) > 0.1


def test_signed_events_look_like_the_data(signed):
    x, weight = signed
    data = RANDOM.normal(0.3, 0.9, (3_000, 1))
    weights = vwkde.importance_weights(data, x, estimator="boosting", denominator_weight=weight)
    assert ((weights.values > 0) == (weight > 0)).all()
    assert weights.values.sum() == pytest.approx(weight.sum())
    for f in (np.sin, np.square, np.tanh):
        assert np.average(f(x[:, 0]), weights=weights.values) == pytest.approx(f(data[:, 0]).mean(), abs=0.08)
    assert weights.effective_size < len(x) * 0.6


def test_data_with_signed_weights_too(signed):
    x, weight = signed
    rows = RANDOM.normal(0, 1.1, (3_000, 1))
    weights = vwkde.importance_weights(x, rows, estimator="boosting", numerator_weight=weight)
    for f in (np.sin, np.square):
        assert np.average(f(rows[:, 0]), weights=weights.values) == pytest.approx(net_mean(f), abs=0.08)


def test_what_cannot_be_used_is_named(signed):
    x, weight = signed
    with pytest.raises(ValueError, match="denominator_weight must add up to more than zero"):
        vwkde.importance_weights(x[:500], x, denominator_weight=-weight)
    with pytest.raises(ValueError, match="denominator_weight must have one finite number for each of the 4800 rows"):
        vwkde.importance_weights(x[:500], x, denominator_weight=weight[:5])
    with pytest.raises(ValueError, match="'estimator' parameter of importance_weights must be 'auto'"):
        vwkde.importance_weights(x[:500], x, estimator="trees")
    with pytest.raises(TypeError, match=r"importance_weights has no parameter 'trunc'. Did you mean 'truncate'"):
        vwkde.importance_weights(x[:500], x, trunc=3)
    with pytest.raises(ValueError, match="belong to the estimator"):
        vwkde.importance_weights(x[:500], x, estimator=vwkde.DensityRatio(), bandwidth=1.0)


def test_cancelling_weights_are_warned_of():
    x = RANDOM.normal(size=(2_000, 1))
    weight = np.where(x[:, 0] > 0, np.where(RANDOM.random(2_000) < 0.5, -1.0, 1.0), 1.0)
    with pytest.warns(vwkde.OverlapWarning, match="Negative weights cancel nearly all positive ones"):
        local_weights(x, weight, "denominator_weight", 0)
