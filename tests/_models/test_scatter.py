from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

import vwkde
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.chain import fit_chains
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.scatter import have_scatter
from vwkde._models.log_loss import log_loss

COLUMNS = 6


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def windows(memory, rows, seed):
    """Windows of a series whose variance depends on its last square (ARCH)."""
    x = np.random.default_rng([seed, int(100 * memory)]).normal(size=(rows, COLUMNS))
    for time in range(1, COLUMNS):
        x[:, time] *= np.sqrt(1 - memory + memory * x[:, time - 1] ** 2)
    return x


def log_density(x, memory):
    return norm.logpdf(x[:, 1:], scale=np.sqrt(1 - memory + memory * x[:, :-1] ** 2)).sum(axis=1)


def log_ratio(x):
    return log_density(x, 0.5) - log_density(x, 0.0)


@pytest.mark.parametrize("direction", [1, -1])
def test_volatility_that_remembers_shows_in_either_direction(direction):
    x = windows(0.5, 800, 0), windows(0.0, 800, 0)
    samples = sample(x[0][:, ::direction]), sample(x[1][:, ::direction])
    least = log_loss((log_ratio(x[0]), log_ratio(x[1])), samples)
    loss = {name: log_loss(cross_fit(name, samples, 0).at_samples, samples) for name in ("student", "scatter")}
    assert loss["student"] > least + 0.03
    assert loss["scatter"] < least + 0.015


def test_the_default_knows_volatility():
    """The value was below half of the truth, and the interval ended below it."""
    truth = log_ratio(windows(0.5, 100_000, 9)).mean()
    estimate = vwkde.kl_divergence(windows(0.5, 500, 1), windows(0.0, 500, 1))
    assert estimate.value > 0.5 * truth
    assert estimate.interval[0] < truth < estimate.interval[1]


@pytest.mark.parametrize("frequency", [1.5, 2.2, 3.0])
def test_noise_that_rises_and_falls_along_a_column_shows(frequency):
    random = np.random.default_rng(0)
    x = random.normal(size=(2, 900, 4))
    scale = np.exp(0.25 * np.sin(frequency * x[:, :, 1]) * np.array([[1], [-1]]))
    x[:, :, 3] *= scale
    wave = np.sin(frequency * x[:, :, 1])
    truth = norm.logpdf(x[:, :, 3], scale=np.exp(0.25 * wave)) - norm.logpdf(x[:, :, 3], scale=np.exp(-0.25 * wave))
    samples = sample(x[0]), sample(x[1])
    assert have_scatter(*samples)
    least = log_loss((truth[0], truth[1]), samples)
    assert log_loss(cross_fit("scatter", samples, 0).at_samples, samples) < least + 0.4 * (np.log(2) - least)


def test_the_density_adds_up_to_one():
    random = np.random.default_rng(0)
    x = random.normal(size=(500, 2))
    x[:, 1] *= np.exp(0.5 * x[:, 0])
    (chain, _) = fit_chains((sample(x), sample(x)), np.arange(2), shared=True)
    grid = np.arange(-25, 25, 0.1)
    points = np.stack(np.meshgrid(grid[150:350], grid), axis=-1).reshape(-1, 2)
    assert np.exp(chain.log_density(points)).sum() * 0.1**2 == pytest.approx(1, abs=0.01)


def test_equal_values_have_a_density():
    x = np.round(np.random.default_rng(0).normal(size=(200, 3)))
    chains = fit_chains((sample(x), sample(np.ones_like(x))), np.arange(3), shared=False)
    assert all(np.isfinite(chain.log_density(x)).all() for chain in chains)


def test_equal_scatter_and_pairs_are_left_out():
    random = np.random.default_rng(0)
    assert not have_scatter(sample(random.normal(size=(500, 5))), sample(1 + 2 * random.normal(size=(500, 5))))
    same = [sample(windows(0.5, 500, seed)) for seed in (0, 1)]
    assert not have_scatter(*same)
    differ = same[0], sample(windows(0.0, 500, 0))
    assert have_scatter(*differ)
    rows = np.arange(500)
    assert not have_scatter(differ[0], replace(differ[1], pairs=Pairs(2, rows, np.roll(rows, 1))))
