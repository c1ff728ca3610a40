import numpy as np
import pytest

from vwkde._data.sample import Sample, make_sample
from vwkde._models.log_loss import (
    best_level,
    bound_without_noise,
    fall_of_log_loss,
    level_gap,
    log_loss,
    loss_terms,
    mean_loss,
    without_noise,
)

RANDOM = np.random.default_rng(0)


def test_the_fall_of_the_log_loss_is_that_of_its_means():
    samples = [make_sample(RANDOM.normal(size=(n, 1)), np.ones(n)) for n in (80, 50)]
    before, after = ([RANDOM.normal(size=len(s)) for s in samples] for _ in range(2))
    fall, error = fall_of_log_loss(before, after, samples)
    assert fall == pytest.approx(log_loss(before, samples) - log_loss(after, samples))
    terms = [
        np.logaddexp(0, -sign * then) - np.logaddexp(0, -sign * now)
        for sign, then, now in zip((1, -1), before, after, strict=True)
    ]
    assert error == pytest.approx(0.5 * np.sqrt(sum(t.var(ddof=1) / len(t) for t in terms)))
    assert fall_of_log_loss(before, before, samples) == (0.0, 0.0)


@pytest.mark.parametrize("variance", [1e-4, 0.009, 0.011, 3.0])
def test_the_loss_of_noise_is_its_mean_over_the_noise(variance):
    """Around the variance from which the mean is computed by quadrature, and far from it."""
    log_ratios = np.array([-3.0, 0.0, 2.0]), np.array([-1.0, 0.5, 4.0])
    noise = np.full(3, variance), np.full(3, variance)
    grid = np.linspace(-10, 10, 20_001)
    density = np.exp(-(grid**2) / 2) / np.exp(-(grid**2) / 2).sum()
    terms = loss_terms(log_ratios)
    left = without_noise(log_ratios, noise)
    for sign, u, term, rest in zip((1, -1), log_ratios, terms, left, strict=True):
        with_noise = np.logaddexp(0, -(sign * u[:, None] + np.sqrt(variance) * grid)) @ density
        np.testing.assert_allclose(term - rest, with_noise - np.logaddexp(0, -sign * u), atol=3e-6, rtol=2e-3)


@pytest.mark.parametrize(("kl", "variance"), [(0.1, 4.0), (0.6, 8.0), (2.0, 8.0), (3.0, 16.0)])
def test_much_noise_is_taken_out_of_a_loss(kl, variance):
    """Log ratios of two Gaussians, with noise: no estimate is below the loss without it, and the best are close."""
    rows = 200_000
    random = np.random.default_rng(0)
    true = random.normal(kl, np.sqrt(2 * kl), rows), random.normal(-kl, np.sqrt(2 * kl), rows)
    noisy = true[0] + random.normal(0, np.sqrt(variance), rows), true[1] + random.normal(0, np.sqrt(variance), rows)
    noise = np.full(rows, variance), np.full(rows, variance)
    samples = tuple(Sample(u[:, None], np.ones(rows), np.arange(rows)) for u in noisy)
    without = log_loss(true, samples)
    by_order = [mean_loss(without_noise(noisy, noise, order), samples) for order in (1, 2, 3, 5)]
    assert by_order[0] == pytest.approx(log_loss(noisy, samples))
    assert sorted(by_order, reverse=True) == by_order
    bound = mean_loss(bound_without_noise(noisy, noise, samples), samples)
    nothing = np.zeros(rows), np.zeros(rows)
    assert bound == pytest.approx(mean_loss(bound_without_noise(true, nothing, samples), samples), abs=0.02)
    assert -0.01 < min(bound, by_order[-1]) - without < 0.03


def test_the_best_level_has_the_least_loss_and_ignores_what_is_added():
    random = np.random.default_rng(0)
    log_ratios = random.normal(0.5, 1.0, 300), random.normal(-0.5, 1.0, 200)
    weights = random.uniform(0.5, 1.5, 300), random.uniform(0.5, 1.5, 200)
    samples = tuple(Sample(u[:, None], w, np.arange(len(u))) for u, w in zip(log_ratios, weights, strict=True))
    level = best_level(log_ratios, weights)
    losses = [log_loss((log_ratios[0] + c, log_ratios[1] + c), samples) for c in level + np.array([0.0, -0.01, 0.01])]
    assert losses[0] == min(losses)
    assert level_gap(log_ratios, weights, level) == pytest.approx(0, abs=1e-9)
    assert best_level((log_ratios[0] + 3, log_ratios[1] + 3), weights) == pytest.approx(level - 3)
