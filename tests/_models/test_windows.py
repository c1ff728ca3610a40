from dataclasses import replace

import numpy as np
import pytest

import vwkde
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides.windows import Windows, fit_windows, have_windows, windows_forms
from vwkde._models.shared_chain import polynomials


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def windows(memory, rows, columns, seed, second=0.0):
    """Windows of a stationary series x_t = memory · x_{t-1} + second · x_{t-2} + noise."""
    random = np.random.default_rng([seed, int(100 * memory)])
    x = random.normal(size=(rows, columns + 30))
    for time in range(2, x.shape[1]):
        x[:, time] += memory * x[:, time - 1] + second * x[:, time - 2]
    return x[:, 30:]


def volatile(memory, rows, columns, seed):
    """Windows of a series whose variance depends on its last square."""
    x = np.random.default_rng([seed, int(100 * memory)]).normal(size=(rows, columns + 30))
    for time in range(1, x.shape[1]):
        x[:, time] *= np.sqrt(1 - memory + memory * x[:, time - 1] ** 2)
    return x[:, 30:]


def covariance(memory, columns):
    return memory ** np.abs(np.subtract.outer(np.arange(columns), np.arange(columns))) / (1 - memory**2)


def log_ratio(x, p, q):
    """The log ratio of two Gaussian series of order one, by their covariances."""
    values = np.zeros(len(x))
    for memory, sign in ((p, 1), (q, -1)):
        matrix = covariance(memory, x.shape[1])
        squares = np.einsum("ij,ij->i", x @ np.linalg.inv(matrix), x)
        values -= sign * 0.5 * (squares + np.linalg.slogdet(matrix)[1])
    return values


def test_a_series_of_order_one_has_the_ratio_of_its_gaussians():
    p, q = windows(0.6, 2_000, 20, 1), windows(0.3, 2_000, 20, 2)
    assert windows_forms(sample(p), sample(q))[0].args[0] == 1
    guide = fit_windows(1, polynomials, sample(p), sample(q))
    x = np.concatenate([windows(0.6, 300, 20, 3), windows(0.3, 300, 20, 4)])
    truth = log_ratio(x, 0.6, 0.3)
    assert np.mean((guide(x) - truth) ** 2) < 0.02 * np.var(truth)


@pytest.mark.filterwarnings("ignore::vwkde.exceptions.DegenerateDataWarning")  # few rows for so many columns
@pytest.mark.parametrize(("columns", "rows", "p", "q"), [(50, 80, 0.7, 0.5), (50, 200, 0.6, 0.5), (30, 150, 0.3, 0.45)])
def test_the_default_knows_windows_of_many_steps(columns, rows, p, q):
    """Of KL 2.9, 0.6 and 0.4 it found a tenth, and most intervals ended below the truth."""
    truth = log_ratio(windows(p, 100_000, columns, 9), p, q).mean()
    for seed in range(2):
        estimate = vwkde.kl_divergence(windows(p, rows, columns, seed), windows(q, rows, columns, seed + 10))
        assert 0.5 * truth < estimate.value < 1.6 * truth
        assert estimate.interval[0] < truth < estimate.interval[1]


def test_the_guide_can_be_named():
    """Whitened columns are no steps any more; the guide gets those that were given."""
    p, q = windows(0.6, 300, 12, 1), windows(0.3, 300, 12, 2)
    ratio = vwkde.DensityRatio(guide="windows").fit(p, q)
    new = windows(0.6, 500, 12, 3)
    assert np.corrcoef(ratio.log_ratio(new), log_ratio(new, 0.6, 0.3))[0, 1] > 0.95
    truth = log_ratio(windows(0.6, 100_000, 12, 9), 0.6, 0.3).mean()
    estimate = ratio.divergence("kl")
    assert abs(estimate.value - truth) < 4 * estimate.standard_error


def test_volatility_that_remembers_shows_in_few_windows():
    estimate = vwkde.kl_divergence(volatile(0.5, 200, 20, 0), volatile(0.2, 200, 20, 1))
    assert estimate.interval[0] < 0.51 < estimate.interval[1]
    assert estimate.value > 0.3


def test_equal_series_do_not_differ():
    p, q = windows(0.6, 200, 30, 1), windows(0.6, 200, 30, 2)
    assert have_windows(sample(p), sample(q))
    assert np.abs(fit_windows(1, polynomials, sample(p), sample(q))(p)).mean() < 0.3
    low, high = vwkde.kl_divergence(p, q).interval
    assert low == 0
    assert high < 0.6


def test_the_lags_are_those_that_count():
    p, q = (sample(windows(0.4, 400, 16, seed, second=0.3)) for seed in (1, 2))
    assert windows_forms(p, q)[0].args[0] == 2


def test_steps_and_blocks_of_columns_give_the_same_ratio():
    """The sum over links is the sum over single steps, by hand."""
    p, q = windows(0.6, 300, 8, 1, 0.2), windows(0.2, 300, 8, 2, 0.3)
    guide = fit_windows(2, polynomials, sample(p), sample(q))
    assert isinstance(guide, Windows)
    z = (p - guide.centre) / guide.unit
    expected = np.zeros(len(p))
    for step in range(8):
        link = guide.links[min(step, 2)]
        expected += link.log_ratio(z[:, step - link.column : step + 1])
    np.testing.assert_allclose(guide(p), expected, atol=1e-12)
    assert np.abs(expected).max() > 1


def test_what_is_no_series_is_left_out():
    random = np.random.default_rng(0)
    mixed = random.normal(size=(12, 12))
    pairs = [random.normal(size=(2, 300, 12)) for _ in range(10)]
    assert not any(have_windows(sample(x), sample(y)) for x, y in pairs)  # no step goes with the one before
    assert not any(have_windows(sample(x @ mixed), sample(y @ mixed)) for x, y in pairs)  # steps are not alike
    p, q = windows(0.6, 300, 12, 1), windows(0.4, 300, 12, 2)
    assert have_windows(sample(p), sample(q))
    assert not have_windows(sample(p[:, :4]), sample(q[:, :4]))
    shuffled = np.random.default_rng(1).permutation(12)
    assert not have_windows(sample(p[:, shuffled]), sample(q[:, shuffled]))
    signs = np.sign(windows(0.6, 300, 12, 3))  # all of one size
    assert have_windows(sample(signs), sample(signs))
    assert not have_windows(sample(p), sample(np.ones_like(q)))
    rows = np.arange(300)
    assert not have_windows(sample(p), replace(sample(q), pairs=Pairs(2, rows, np.roll(rows, 1))))
