"""How a guide that is mostly noise is judged: equal samples, and samples that differ by many small correlations."""

import numpy as np
import pytest

from vwkde._data.sample import make_unordered_sample
from vwkde._fit.guide_noise import GuideNoise
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.log_loss import log_loss, mean_loss

ROWS, COLUMNS = 250, 40


def noise_of(p, q):
    samples = make_unordered_sample(p), make_unordered_sample(q)
    guide = cross_fit("gaussian", samples, 0)
    return GuideNoise(guide.at_samples, guide.sure_noise, guide.noise_by_theory, samples)


@pytest.fixture(scope="module")
def equal():
    random = np.random.default_rng(0)
    return [noise_of(*random.normal(size=(2, ROWS, COLUMNS))) for _ in range(20)]


def test_the_separation_of_equal_samples_is_within_its_error(equal):
    scores = [noise.separation / noise.error_of_separation for noise in equal]
    assert abs(np.mean(scores)) < 3 / np.sqrt(20)
    assert 0.6 < np.std(scores) < 1.5


def test_noise_of_equal_samples_counts_against_the_guide(equal):
    assert all(noise.is_much for noise in equal)
    plain = [log_loss(noise.log_ratios, noise.samples) for noise in equal]
    assert [mean_loss(noise.average_terms, noise.samples) for noise in equal] == pytest.approx(plain)
    assert np.mean([noise.loss_without for noise in equal]) > np.log(2) - 0.1
    assert min(plain) > 1


def test_a_clear_difference_is_judged_without_noise():
    random = np.random.default_rng(0)
    upper = np.triu(random.normal(0, 0.06, (COLUMNS, COLUMNS)), 1)
    covariance = np.eye(COLUMNS) + upper + upper.T
    p, q = random.normal(size=(2, ROWS, COLUMNS))
    p = p @ np.linalg.cholesky(covariance).T
    noise = noise_of(p, q)
    quadratic = [np.einsum("ij,jk,ik->i", x, np.eye(COLUMNS) - np.linalg.inv(covariance), x) for x in (p, q)]
    true = [0.5 * (form - np.linalg.slogdet(covariance)[1]) for form in quadratic]
    assert noise.separation > 3 * noise.error_of_separation
    assert log_loss(noise.log_ratios, noise.samples) > np.log(2)  # the guide alone is worse than nothing
    assert log_loss(true, noise.samples) < mean_loss(noise.average_terms, noise.samples) < np.log(2) - 0.05


def test_noise_that_theory_does_not_explain_is_not_known():
    """Skewed columns, whose covariances vary much more than those of normal ones."""
    noise = noise_of(*np.exp(1.2 * np.random.default_rng(0).normal(size=(2, ROWS, COLUMNS))))
    assert not noise.is_much
    assert mean_loss(noise.average_terms, noise.samples) == pytest.approx(log_loss(noise.log_ratios, noise.samples))
