import numpy as np
import pytest

from vwkde._data.moments import Moments
from vwkde._data.sample import Sample, dealt_apart, effective_rows, make_sample

RANDOM = np.random.default_rng(0)


def test_effective_rows():
    assert effective_rows(np.array([2.0, 2.0, 0.0, 0.0])) == pytest.approx(2)
    assert effective_rows(np.ones(7)) == pytest.approx(7)


def test_rows_made_of_others_count_once_whether_a_part_is_held_out_or_all_are_thinned():
    """A hundred rows, ten copies of each: without a fifth of the rows eighty are left, thinned they stay a hundred."""
    made = Sample(RANDOM.normal(size=(1_000, 2)), np.ones(1_000), np.arange(1_000), 10, np.arange(1_000) % 5)
    assert made.effective_rows == 100
    assert made.subset(made.fold != 2).effective_rows == 80
    assert made.thinned(500, RANDOM).effective_rows == 100
    assert made.thinned(5_000, RANDOM) is made


def test_values_return_to_the_order_of_the_rows():
    x = RANDOM.normal(size=(20, 3))
    sample = make_sample(x, np.ones(20), fold=np.arange(20))
    np.testing.assert_array_equal(sample.in_given_order(sample.points[:, 0]), x[:, 0])
    np.testing.assert_array_equal(sample.fold, sample.rows)


def test_moments_are_those_of_the_weighted_rows():
    x = RANDOM.normal(size=(9, 2))
    mean, covariance = make_sample(x, np.ones(9)).mean_and_covariance()
    np.testing.assert_allclose(mean, x.mean(axis=0))
    np.testing.assert_allclose(covariance, np.cov(x.T))


def test_the_variance_of_a_mean_is_that_of_equal_rows_or_of_copies():
    values = np.random.default_rng(0).normal(size=200)
    even = make_sample(values[:, None], np.ones(200))
    assert even.variance_of_mean(values) == pytest.approx(values.var(ddof=1) / 200)
    half = make_sample(values[:, None], np.repeat([2.0, 0.0], 100))
    expected = values[half.weight > 0].var() / 100
    assert half.variance_of_mean(values) == pytest.approx(expected, rel=0.03)


def test_thinned_samples_are_of_rows_that_count():
    weight = np.zeros(500)
    weight[:20] = 25.0
    sample = make_sample(RANDOM.normal(size=(500, 2)), weight)
    for seed in range(5):
        thinned = sample.thinned(10, np.random.default_rng(seed))
        assert len(thinned) == 10
        np.testing.assert_array_equal(thinned.weight, 1)
    assert len(sample.thinned(100, RANDOM)) == 20


def test_samples_are_dealt_apart_whichever_comes_first():
    x = np.random.default_rng(3).normal(size=(100, 2))
    narrow, wide = make_sample(x, np.ones(100)), make_sample(1.1 * x, np.ones(100))
    assert [sample.deal for sample in dealt_apart(narrow, wide)] == [0, 1]
    assert [sample.deal for sample in dealt_apart(wide, narrow)] == [1, 0]
    assert [sample.deal for sample in dealt_apart(narrow, narrow)] == [0, 0]


def test_some_rows_of_a_sample_are_dealt_as_it_is():
    x = np.random.default_rng(3).normal(size=(100, 2))
    _, wide = dealt_apart(make_sample(x, np.ones(100)), make_sample(1.1 * x, np.ones(100)))
    assert wide.subset(np.arange(50)).deal == wide.thinned(20, RANDOM).deal == 1


def test_known_moments_are_not_computed_again_and_stay_when_folds_are_dealt():
    random = np.random.default_rng(0)
    narrow, wide = (make_sample(x, np.ones(len(x))) for x in (random.normal(size=(50, 2)), random.normal(size=(60, 2))))
    known = Moments(np.array([0.5, 0.5]), 1e3 * np.eye(2))
    _, dealt = dealt_apart(narrow, wide.with_moments(known))
    assert dealt.deal == 1
    assert dealt.weighted_moments.weight == 60
    np.testing.assert_array_equal(dealt.weighted_moments.scatter, known.scatter)
    assert dealt.subset(np.arange(30)).weighted_moments.scatter[0, 0] < 100
