import numpy as np
import pytest

from vwkde import datasets
from vwkde.baselines.debiased import LaplaceDensity, laplace_kde, sd_kde
from vwkde.baselines.kernel_density import plain_estimate

METHODS = [sd_kde, laplace_kde]


@pytest.mark.parametrize("method", METHODS)
def test_recovers_the_divergence_in_two_dimensions(method):
    values = [method(*datasets.isotropic(2).sample(5_000, random_state=seed), 0).kl for seed in range(2)]
    assert np.mean(values) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("method", METHODS)
def test_takes_off_most_of_the_bias_of_wide_kernels(method):
    """At h = 0.8 plain estimates of this pair see two thirds of the divergence."""
    pair = datasets.isotropic(2)
    p, q = pair.sample(2_000)
    plain = plain_estimate(p, 0.8).left_out() - plain_estimate(q, 0.8).log_density(p)
    assert plain.mean() < 0.7
    assert abs(method(p, q, 0, bandwidth=0.8).kl - 1) < 0.6 * abs(plain.mean() - 1)


@pytest.mark.parametrize("method", METHODS)
def test_log_ratio_is_near_the_truth(method):
    pair = datasets.isotropic(2)
    answer = method(*pair.sample(3_000, 2_000), 0)
    x = np.array([[0.0, 0.0], [0.7, 0.5], [1.4, -0.5]])
    np.testing.assert_allclose(answer.log_ratio(x), pair.log_ratio(x), atol=0.35)
    assert answer.at_numerator.shape == (3_000,)
    assert answer.at_denominator.shape == (2_000,)


@pytest.mark.parametrize("method", METHODS)
def test_no_affine_copy_changes_the_answer(method):
    rng = np.random.default_rng(0)
    p, q = datasets.isotropic(3).sample(200)
    mixing = rng.normal(size=(3, 3))
    assert method(1000 * p @ mixing, 1000 * q @ mixing, 0).kl == pytest.approx(method(p, q, 0).kl, rel=1e-6)


def test_the_laplace_kernel_is_that_of_plain_loops():
    rng = np.random.default_rng(0)
    points, x, h = rng.normal(size=(50, 2)), rng.normal(size=(4, 2)), 0.8
    squared = ((x[:, None] - points) ** 2).sum(axis=2) / h**2
    expected = np.log(np.mean(np.exp(-0.5 * squared) * (1 + 2 / 2 - squared / 2), axis=1) / (2 * np.pi * h**2))
    np.testing.assert_allclose(LaplaceDensity(points, h).log_density(x), expected, rtol=1e-9)


def test_the_laplace_density_has_a_logarithm_where_it_would_be_negative():
    points, far = np.zeros((5, 1)), np.array([[4.0]])
    corrected, plain = LaplaceDensity(points, 1.0).log_density(far), plain_estimate(points, 1.0).log_density(far)
    np.testing.assert_allclose(corrected - plain, np.log(0.1))
