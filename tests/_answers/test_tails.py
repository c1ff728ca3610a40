"""Means of powers of the ratio that do not exist are told; ratios with light tails are left alone."""

import numpy as np
import pytest

import vwkde
from vwkde._answers.functionals import AtSample
from vwkde._answers.tails import _tail_shape, moment_may_be_infinite


def wider_normal(variance, rows, seed):
    """Return the log ratio of N(0, variance) to N(0, 1) at rows of the first: its tail shape is variance − 1."""
    x = np.random.default_rng(seed).normal(0, np.sqrt(variance), size=rows)
    return AtSample(0.5 * x**2 * (1 - 1 / variance) - 0.5 * np.log(variance), np.ones(rows))


def shifted_normal(shift, rows, seed):
    x = np.random.default_rng(seed).normal(shift, 1, size=rows)
    return AtSample(shift * x - shift**2 / 2, np.ones(rows))


def test_the_shape_is_that_of_an_exponential_log_ratio():
    sample = AtSample(np.random.default_rng(0).exponential(1.7, size=20_000), np.ones(20_000))
    shape, error = _tail_shape(sample)
    assert abs(shape - 1.7) < 3 * error < 0.4


def test_rows_without_weight_and_few_rows_say_nothing():
    sample = wider_normal(4.0, 600, 0)
    outlier = sample._replace(
        log_ratio=np.append(sample.log_ratio, np.full(200, 500.0)), weight=np.append(sample.weight, np.zeros(200))
    )
    assert _tail_shape(outlier) == _tail_shape(sample)
    assert _tail_shape(wider_normal(4.0, 40, 0)) == (0.0, 0.0)


@pytest.mark.parametrize(("kind", "order"), [("chi2", None), ("renyi", 2.0), ("renyi", 3.0)])
def test_a_mean_that_does_not_exist_is_told(kind, order):
    for seed in range(10):
        with pytest.warns(vwkde.OverlapWarning, match="may be infinite .* means only 'at least'"):
            assert moment_may_be_infinite(wider_normal(4.0, 500, seed), kind, order)


@pytest.mark.parametrize(
    "sample", [lambda seed: wider_normal(1.5, 500, seed), lambda seed: shifted_normal(2, 500, seed)]
)
def test_a_mean_that_exists_is_not(sample):
    for seed in range(50):
        assert not moment_may_be_infinite(sample(seed), "chi2")
        assert not moment_may_be_infinite(sample(seed), "renyi", 1.5)


@pytest.mark.parametrize(("kind", "order"), [("kl", None), ("reverse-kl", None), ("renyi", 0.5), ("hellinger", None)])
def test_other_divergences_need_no_such_mean(kind, order):
    assert not moment_may_be_infinite(wider_normal(9.0, 500, 0), kind, order)


def test_chi2_of_a_wider_normal_is_at_least_its_value():
    random = np.random.default_rng(0)
    ratio = vwkde.DensityRatio().fit(random.normal(0, 2, size=(500, 1)), random.normal(size=(500, 1)))
    with pytest.warns(vwkde.OverlapWarning, match="the mean of the ratio may be infinite"):
        estimate = ratio.divergence("chi2")
    assert estimate.open_above
    assert estimate.interval[1] == np.inf
    assert not ratio.divergence("hellinger").open_above
