from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import laplace, norm
from scipy.stats import t as student_t

from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.independent import have_independent_columns, independent_columns
from vwkde._models.log_loss import log_loss

LENGTH = 6


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def windows(memory, rows, seed):
    """Windows of a time series that remembers its last value, with steps of heavy tails."""
    random = np.random.default_rng([seed, int(100 * memory)])
    x = np.empty((rows, LENGTH))
    x[:, 0] = random.normal(size=rows)
    for time in range(1, LENGTH):
        x[:, time] = memory * x[:, time - 1] + random.laplace(scale=0.6, size=rows)
    return x


def log_density(x, memory):
    return norm.logpdf(x[:, 0]) + laplace.logpdf(x[:, 1:], memory * x[:, :-1], 0.6).sum(axis=1)


def log_ratio(x):
    return log_density(x, 0.8) - log_density(x, 0.4)


def test_the_memory_of_a_series_with_heavy_steps_shows():
    samples = sample(windows(0.8, 800, 0)), sample(windows(0.4, 800, 0))
    least = log_loss((log_ratio(samples[0].points), log_ratio(samples[1].points)), samples)
    loss = {n: log_loss(cross_fit(n, samples, 0).at_samples, samples) for n in ("gaussian", "student", "independent")}
    others = min(loss["gaussian"], loss["student"])
    assert others > least + 0.03
    assert loss["independent"] < others - 0.3 * (others - least)


def test_the_density_adds_up_to_one():
    random = np.random.default_rng(0)
    model = independent_columns([sample(random.laplace(size=(400, 2)) @ [[1.0, 0.5], [0.2, 0.8]])])[0]
    grid = np.linspace(-15, 15, 301)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    assert np.exp(model.log_density(points)).sum() * 0.1**2 == pytest.approx(1, abs=1e-3)


def test_axes_that_both_samples_share_are_found_together():
    random = np.random.default_rng(0)
    mixing = random.normal(size=(6, 6))
    sources = random.laplace(size=(600, 6)) * [1.8, 1, 1, 1, 1, 1], random.laplace(size=(600, 6))
    p, q = independent_columns([sample(each @ mixing) for each in sources])
    np.testing.assert_array_equal(p.axes, q.axes)
    # along one of the axes, and no other, the first sample is wider
    wide, narrow = (np.abs(each @ mixing @ p.axes).mean(axis=0) for each in sources)
    ratios = np.sort(wide / narrow)
    assert ratios[-1] > 1.6
    assert ratios[-2] < 1.2


def test_outliers_of_heavy_tails_are_expected():
    random = np.random.default_rng(0)
    model = independent_columns([sample(random.standard_t(3, size=(800, 2)))])[0]
    truth = student_t.logpdf([[30.0, 0.0]], 3).sum()
    assert model.log_density(np.array([[30.0, 0.0]]))[0] == pytest.approx(truth, abs=1.5)


def test_two_modes_and_equal_values_have_their_density():
    random = np.random.default_rng(0)
    two_modes = random.choice([-3.0, 3.0], size=(500, 2)) + random.normal(size=(500, 2))
    model = independent_columns([sample(two_modes)])[0]
    between, at_a_mode = model.log_density(np.array([[0.0, 0.0], [3.0, 3.0]]))
    assert between < at_a_mode - 4
    coarse = independent_columns([sample(np.round(random.normal(size=(200, 3))))])[0]
    assert np.isfinite(coarse.log_density(two_modes[:, :1] * np.ones(3))).all()


def test_normal_columns_few_rows_and_pairs_are_left_out():
    random = np.random.default_rng(0)
    normal = [sample(random.normal(size=(500, 5))) for _ in range(2)]
    assert not have_independent_columns(*normal)
    heavy = [sample(random.laplace(size=(500, 5))) for _ in range(2)]
    assert have_independent_columns(*heavy)
    assert not have_independent_columns(*(sample(each.points[:10]) for each in heavy))
    rows = np.arange(500)
    assert not have_independent_columns(heavy[0], replace(heavy[1], pairs=Pairs(2, rows, np.roll(rows, 1))))


def test_many_columns_are_tried_again_with_more_rows():
    """Axes of many columns need more rows than those by which all candidates are compared."""
    random = np.random.default_rng(0)
    for columns, grows in ((8, True), (7, False)):
        p, q = (sample(random.laplace(size=(200, columns))) for _ in range(2))
        assert cross_fit("independent", (p, q), 0).grows is grows
