from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from vwkde._data.sample import make_unordered_sample
from vwkde._models.student import StudentModel, fit_student, jackknifed_student


def draw(freedom, rows=1_000, d=3, seed=0):
    scale = np.diag(np.arange(1.0, d + 1))
    law = stats.multivariate_t(np.ones(d), scale, df=freedom, seed=seed)
    return law, make_unordered_sample(law.rvs(rows))


def test_the_log_density_is_that_of_scipy():
    root = np.array([[2.0, 0.0], [0.5, 1.0]])
    x = np.random.default_rng(0).normal(size=(20, 2)) * 5
    expected = stats.multivariate_t([1.0, -1.0], root @ root.T, df=3.5).logpdf(x)
    np.testing.assert_allclose(StudentModel(np.array([1.0, -1.0]), root, 3.5).log_density(x), expected, rtol=1e-12)


@pytest.mark.parametrize("freedom", [1.0, 3.0, 8.0])
def test_the_fit_is_close_to_the_law(freedom):
    law, sample = draw(freedom, rows=3_000)
    model = fit_student(sample)
    assert model.freedom == pytest.approx(freedom, rel=0.2)
    np.testing.assert_allclose(model.mean, np.ones(3), atol=0.15)
    np.testing.assert_allclose(model.root @ model.root.T, law.shape, atol=0.35)


def test_a_normal_sample_has_many_degrees_of_freedom():
    sample = make_unordered_sample(np.random.default_rng(0).normal(size=(2_000, 4)))
    assert fit_student(sample).freedom > 30


def test_row_weights_count_like_repeated_rows():
    x = stats.multivariate_t(np.zeros(2), np.eye(2), df=4, seed=1).rvs(200)
    times = np.random.default_rng(0).integers(1, 4, 200)
    weighted = fit_student(replace(make_unordered_sample(x), weight=times / times.mean()))
    repeated = fit_student(make_unordered_sample(np.repeat(x, times, axis=0)))
    at = np.random.default_rng(1).normal(size=(50, 2))
    np.testing.assert_allclose(weighted.log_density(at), repeated.log_density(at), atol=0.02)


def test_the_jackknife_takes_most_of_the_bias_off():
    """The mean log density at fresh rows is too small by k/2n for k numbers fitted to n rows."""
    law, _ = draw(4.0, d=8)
    fresh = law.rvs(20_000)
    plain, unbiased = [], []
    for seed in range(6):
        _, sample = draw(4.0, rows=300, d=8, seed=seed)
        plain.append(np.mean(fit_student(sample).log_density(fresh) - law.logpdf(fresh)))
        unbiased.append(np.mean(jackknifed_student(sample).log_density(fresh) - law.logpdf(fresh)))
    assert np.mean(plain) < -0.05
    assert abs(np.mean(unbiased)) < 0.3 * abs(np.mean(plain))


def test_rows_that_hardly_vary_have_a_density():
    x = np.random.default_rng(0).normal(size=(100, 3))
    x[:, 2] = 0.0
    x[0, 2] = 1e-12
    assert np.isfinite(fit_student(make_unordered_sample(x)).log_density(x)).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_very_wide_direction_beside_a_flat_one_leaves_a_root(seed):
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(4, 4)))[0]
    x = random.normal(size=(100, 4)) * [1e7, 1.0, 1.0, 0.0] @ turn
    assert np.isfinite(fit_student(make_unordered_sample(x)).log_density(x)).all()
