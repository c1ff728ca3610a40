"""Answers that were confidently wrong, from data that users may well have."""

import numpy as np
import pytest

from vwkde import DegenerateDataWarning, DensityRatio, divergence, kl_divergence, mutual_information


@pytest.mark.parametrize("seed", [1, 2])
def test_rare_flags_do_not_differ_by_chance(seed):
    """In some folds a flag that is hardly ever set does not vary, and one Gaussian differs wildly from the others."""
    random = np.random.default_rng(seed)
    p, q = (random.uniform(size=(2, 200, 3)) < 0.02) * 1.0
    low, high = kl_divergence(p, q).interval
    assert low <= 0 < high < 0.2


def test_one_row_that_differs():
    low, high = kl_divergence((np.arange(200) < 2) * 1.0, (np.arange(200) < 1) * 1.0).interval
    assert low < 0.005 < high


@pytest.mark.filterwarnings("ignore::vwkde.exceptions.OverlapWarning")
@pytest.mark.parametrize(("shift", "truth"), [(3.0, 0.8217), (8.0, 0.9998)])
def test_what_truncation_hides_is_in_the_interval(shift, truth):
    random = np.random.default_rng(0)
    low, high = divergence(random.normal(shift, 1, (200, 1)), random.normal(size=(200, 1)), "hellinger").interval
    assert low < truth < high


@pytest.mark.parametrize(("rows", "times"), [(40, 2), (60, 3)])
def test_information_does_not_grow_with_copies(rows, times):
    random = np.random.default_rng(0)
    x = random.normal(size=rows)
    y = 2 * x + random.normal(size=rows)  # the information is 0.805
    once, copied = mutual_information(x, y), mutual_information(np.tile(x, times), np.tile(y, times))
    assert once.value > 0.3
    assert copied.value == pytest.approx(once.value, abs=0.2)


def test_copies_share_importance_in_proportion_to_their_weights():
    random = np.random.default_rng(0)
    p, q = random.normal(0.5, 1, (80, 2)), random.normal(size=(100, 2))
    own = np.repeat([1.0, 3.0, 0.0], 100)
    weights = DensityRatio(guide="gaussian").fit(p, np.tile(q, (3, 1)), denominator_weight=own).importance_weights()
    assert weights.mean() == pytest.approx(1)
    assert not weights[200:].any()
    np.testing.assert_allclose(weights[100:200], 3 * weights[:100])
    once = DensityRatio(guide="gaussian").fit(p, q).importance_weights()
    np.testing.assert_allclose(weights[:100] / weights[:100].mean(), once, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::vwkde.exceptions.BiasWarning")
def test_groups_with_rows_in_both_samples_are_left_out_of_both():
    """Patients before and after: without it each row's partner makes the other density too large there."""
    random = np.random.default_rng(0)
    patient = random.normal(size=(300, 3))
    p, q = patient + 0.1 * random.normal(size=(2, 300, 3))
    form = {"guide": None, "weighting": "uniform", "bandwidth": 0.4}
    apart = kl_divergence(p, q, groups=(np.arange(300), np.arange(300)), **form)
    together = kl_divergence(p, q, **form)
    assert together.value < -0.25
    assert abs(apart.value) < 0.1


def test_few_groups():
    random = np.random.default_rng(0)
    p, q = random.normal(size=(2, 100, 2))
    groups = np.arange(100) % 5, np.arange(100) % 6
    estimate = kl_divergence(p, q, groups=groups, guide="gaussian")
    assert estimate.degrees_of_freedom == 4
    with pytest.raises(ValueError, match="needs at least 10 groups"):
        kl_divergence(p, q, groups=groups, guide="gaussian", interval="subsample")


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_groups_without_a_label(missing):
    p, q = np.random.default_rng(0).normal(size=(2, 60, 2))
    with pytest.raises(ValueError, match="give every row a label"):
        kl_divergence(p, q, groups=([missing] * 30 + list(range(30)), None))


def test_a_sample_on_a_line_of_the_plane_has_no_finite_divergence():
    rng = np.random.default_rng(1)
    flat, full = np.column_stack([rng.normal(size=60), np.zeros(60)]), rng.normal(size=(60, 2))
    with pytest.warns(DegenerateDataWarning):
        ratio = DensityRatio().fit(flat, full)
    assert ratio.divergence("kl").open_above
    assert ratio.divergence("reverse-kl").open_above
    assert not ratio.divergence("jensen-shannon").open_above


def correlated(rows, columns, size, seed):
    """Normal columns without correlations, and others in which every pair has a small one; and their KL."""
    random = np.random.default_rng(seed)
    upper = np.triu(random.normal(0, size, (columns, columns)), 1)
    covariance = np.eye(columns) + upper + upper.T
    p = random.normal(size=(rows, columns)) @ np.linalg.cholesky(covariance).T
    return p, random.normal(size=(rows, columns)), -0.5 * np.linalg.slogdet(covariance)[1]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(("rows", "columns", "size"), [(300, 40, 0.05), (100, 25, 0.08)])
def test_many_small_correlations_are_found(rows, columns, size, seed):
    """No single one is visible, and the noise of a Gaussian exceeds what it finds; values were near zero, and sure."""
    p, q, truth = correlated(rows, columns, size, seed)
    estimate = kl_divergence(p, q)
    assert estimate.value > 0.5 * truth
    assert estimate.interval[0] < truth < estimate.interval[1]


@pytest.mark.parametrize("seed", [11, 12, 15])
def test_correlations_too_small_to_be_found_are_in_the_interval(seed):
    """A Gaussian says two to three standard errors: not enough to be believed, but more than chance."""
    p, q, truth = correlated(250, 40, 0.035, seed)
    estimate = kl_divergence(p, q)
    assert estimate.value < 0.2 * truth
    assert estimate.interval[0] < truth < estimate.interval[1] < 3 * truth


def test_correlations_that_are_not_there_are_not_found():
    values = [kl_divergence(*correlated(250, 40, 0.0, seed)[:2]).value for seed in range(4)]
    assert max(values) < 0.1


@pytest.mark.filterwarnings("ignore::vwkde.exceptions.DegenerateDataWarning")
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_factor_that_all_columns_share_is_found(seed):
    """Its direction is one of fifty, and 150 rows say nothing about all their correlations; values were near zero."""
    random = np.random.default_rng(seed)
    loadings = random.normal(0, 0.3, 50)
    p, q = random.normal(size=(2, 150, 50))
    p += random.normal(size=(150, 1)) * loadings
    size = loadings @ loadings
    truth = 0.5 * (size - np.log1p(size))
    estimate = kl_divergence(p, q)
    assert estimate.value > 0.4 * truth
    assert estimate.interval[0] < truth < estimate.interval[1]
