from functools import partial

import numpy as np
import pytest
from scipy.stats import norm

import vwkde
from vwkde._answers import diagnostics
from vwkde._answers.at_samples import at_samples
from vwkde._answers.functionals import KINDS
from vwkde._answers.uncertainty import hidden, in_units_of, unseen
from vwkde._data.sample import make_sample
from vwkde._fit import kernel_pair
from vwkde.datasets import Gaussian, GaussianPair, isotropic, mean_difference

SMALL = 0.01


def near(shift):
    """Return the divergences between N(0, 1) and N(shift, 1), from their closed forms."""
    kl, overlap = shift**2 / 2, np.exp(-(shift**2) / 8)
    return {
        "kl": kl,
        "reverse-kl": kl,
        "jensen-shannon": kl / 4,
        "renyi": 0.7 * kl,
        "chi2": np.expm1(shift**2),
        "hellinger": np.sqrt(1 - overlap),
        "total-variation": 2 * norm.cdf(shift / 2) - 1,
    }


@pytest.mark.parametrize("kind", near(1.0))
def test_a_little_kl_raises_every_divergence_from_zero_as_a_small_shift_does(kind):
    expected = near(np.sqrt(2 * SMALL))[kind]
    found = in_units_of(kind, 0.7 if kind == "renyi" else None, SMALL, 0.0)
    share = 0.5 if kind == "total-variation" else 1.0  # half: a quarter of the square
    assert found == pytest.approx(share * expected, rel=0.02)


@pytest.mark.parametrize(("kind", "times"), [("kl", 3.0), ("reverse-kl", 3.0), ("renyi", 3.0), ("jensen-shannon", 1.0)])
def test_more_hides_beside_a_large_divergence_unless_it_is_bounded(kind, times):
    order = 0.7 if kind == "renyi" else None
    assert in_units_of(kind, order, SMALL, 2.0) == pytest.approx(times * in_units_of(kind, order, SMALL, 0.0))


def test_what_hides_is_less_with_more_rows_and_more_with_more_columns():
    def of_equal(columns, rows):
        return vwkde.kl_divergence(*mean_difference(columns, 0.0).sample(rows)).unseen

    assert 0 < of_equal(2, 400) < of_equal(2, 50)
    assert of_equal(2, 100) < of_equal(20, 100)


def test_many_rows_of_one_sample_do_not_show_what_hides_in_few_of_the_other():
    few, many = (make_sample(np.zeros((rows, 3)), np.ones(rows)) for rows in (50, 5_000))
    assert hidden((few, many)) == hidden((many, few)) == hidden((few, few)) > 3 * hidden((many, many))


@pytest.mark.parametrize("seed", [0, 1])
def test_intervals_hold_weak_correlations_between_many_columns(seed):
    """No model finds them in so few rows: the value is nearly zero, and the interval must know what can hide."""
    random = np.random.default_rng(seed)
    off = np.triu(random.normal(size=(40, 40)), 1)
    correlation = np.eye(40) + 0.0225 * (off + off.T)
    truth = -0.5 * np.linalg.slogdet(correlation)[1]
    p = random.normal(size=(300, 40)) @ np.linalg.cholesky(correlation).T
    estimate = vwkde.kl_divergence(p, random.normal(size=(300, 40)))
    assert estimate.value < 0.5 * truth
    assert truth < estimate.interval[1] < 2 * truth


@pytest.fixture(scope="module")
def of_equal_samples():
    return [vwkde.DensityRatio().fit(*mean_difference(3, 0.0).sample(150, random_state=seed)) for seed in range(5)]


@pytest.mark.parametrize("kind", ["kl", "reverse-kl", "jensen-shannon", "renyi", "chi2", "total-variation"])
def test_the_least_value_of_the_default_is_zero_and_the_interval_ends_where_it_did(of_equal_samples, kind):
    """The log ratios of some of these equal samples have a negative KL."""
    order = {"order": 0.5} if kind == "renyi" else {}
    compute = partial(KINDS[kind], **order)
    as_found = [compute(*at_samples(ratio._fitted))[0] for ratio in of_equal_samples]
    assert min(as_found) < 0 or kind == "total-variation"
    for value, ratio in zip(as_found, of_equal_samples, strict=True):
        estimate = ratio.divergence(kind, **order)
        assert estimate.value == max(value, 0.0)
        missed = unseen(ratio._fitted, kind, order.get("order"), compute, value)
        assert estimate.value + estimate.unseen == pytest.approx(max(value + missed, 0.0))
        assert estimate.interval[0] >= 0


def test_guides_by_name_return_negative_values():
    ratios = [
        vwkde.DensityRatio(guide="logistic").fit(*mean_difference(3, 0.0).sample(60, random_state=seed))
        for seed in range(4)
    ]
    values = [ratio.divergence().value for ratio in ratios]
    assert min(values) < 0
    assert values == [KINDS["kl"](*at_samples(ratio._fitted))[0] for ratio in ratios]


def test_fits_that_do_not_choose_have_nothing_unseen():
    p, q = mean_difference(2, 1.0).sample(100)
    for options in ({"guide": "gaussian"}, {"guide": None}):
        estimate = vwkde.DensityRatio(**options).fit(p, q).divergence()
        assert estimate.unseen == 0
        low, high = estimate.interval
        assert high - estimate.value == pytest.approx(estimate.value - low)


def test_the_interval_of_a_hidden_interaction_reaches_up():
    """A correlation between two of 20 columns is hardly seen in 150 rows: the value is near zero, the end is not."""
    covariance = np.eye(20)
    covariance[0, 19] = covariance[19, 0] = 0.5
    pair = GaussianPair(Gaussian(np.zeros(20), np.eye(20)), Gaussian(np.zeros(20), covariance))
    covered = 0
    for seed in range(3):
        estimate = vwkde.kl_divergence(*pair.sample(150, random_state=seed))
        covered += estimate.interval[0] <= pair.kl <= estimate.interval[1]
    assert covered >= 2


def test_quick_is_another_name_for_influence():
    ratio = vwkde.DensityRatio(guide="gaussian").fit(*mean_difference(2, 1.0).sample(100))
    assert ratio.divergence(interval="quick") == ratio.divergence(interval="influence")


def test_groups_that_tell_nothing_hardly_raise_the_error():
    """Rows that are independent, in 20 groups of 50: the error of KL was three times as large as it is."""
    p, q = mean_difference(2, 1.0).sample(1_000)
    group = np.repeat(np.arange(20), 50)
    independent, in_groups = (
        vwkde.DensityRatio(guide="gaussian").fit(p, q, groups=groups).divergence().standard_error
        for groups in (None, (group, group + 20))
    )
    assert 0.6 * independent < in_groups < 1.6 * independent


@pytest.mark.parametrize("kind", ["kl", "reverse-kl"])
def test_some_rows_of_the_other_sample_tell_the_errors_of_the_papers_form(monkeypatch, kind):
    p, q = isotropic(3).sample(3_000, random_state=4)
    settings = {"method": "vwkde-mb", "max_basis": 100}
    exact = vwkde.divergence(p, q, kind, **settings)
    assert "rows_for_errors" not in exact.diagnostics
    monkeypatch.setattr(kernel_pair, "SOME_ROWS", 1_000)
    monkeypatch.setattr(diagnostics, "SOME_ROWS", 1_000)
    found = vwkde.divergence(p, q, kind, **settings)
    assert found.value == pytest.approx(exact.value, rel=1e-12)
    assert found.standard_error == pytest.approx(exact.standard_error, rel=0.1)
    assert found.diagnostics["rows_for_errors"] == [1_000, 1_000]
    np.testing.assert_allclose(
        found.diagnostics["unsupported_fraction"], exact.diagnostics["unsupported_fraction"], atol=0.02
    )


def test_log_ratios_at_all_rows_are_there_whatever_was_asked_before(monkeypatch):
    p, q = isotropic(3).sample(500, random_state=4)
    exact = vwkde.DensityRatio(guide=None, max_basis=50).fit(p, q)
    monkeypatch.setattr(kernel_pair, "SOME_ROWS", 100)
    some = vwkde.DensityRatio(guide=None, max_basis=50).fit(p, q)
    before = some.divergence("kl")
    np.testing.assert_allclose(some.denominator_log_ratio_, exact.denominator_log_ratio_, rtol=1e-10)
    assert some.divergence("kl").standard_error == before.standard_error
    assert some.divergence("jensen-shannon").value == pytest.approx(exact.divergence("jensen-shannon").value, rel=1e-10)
