import mpmath
import numpy as np
import pytest
from scipy.special import ive, logsumexp
from scipy.stats import multivariate_normal

from support.known import THREE_MODES, StudentT, finite_differences, relative_error, score_error
from vwkde import datasets
from vwkde._data.sample import make_sample
from vwkde._models.derivatives import mixture
from vwkde._models.derivatives.mixture import fit_mixture, grow_mixture, make_mixture, refit_mixture
from vwkde._models.gaussian import fit_gaussian
from vwkde.exceptions import DegenerateDataWarning


def draw(density, n, seed=0):
    return density.sample(n, np.random.default_rng(seed))


def test_agrees_with_finite_differences_of_the_log_density():
    exact = THREE_MODES.derivatives
    x = np.concatenate([draw(THREE_MODES, 20), [[0.0, 0.0], [4.0, -4.0]]])
    score, laplacian = finite_differences(exact.log_density, x)
    assert relative_error(exact.score(x), score) < 1e-8
    assert relative_error(exact.laplacian_over_density(x), laplacian) < 1e-7


def test_log_density_is_that_of_the_weighted_components():
    x = draw(THREE_MODES, 50)
    parts = [
        multivariate_normal(*each).logpdf(x) for each in zip(THREE_MODES.means, THREE_MODES.covariances, strict=True)
    ]
    np.testing.assert_allclose(THREE_MODES.log_density(x), logsumexp(np.stack(parts), axis=0) - np.log(3), rtol=1e-12)


@pytest.mark.parametrize("x", [-45.0, 0.3, 60.0, 1e4])
def test_far_points_are_right_where_every_density_underflows(x):
    weights, means, precisions = [0.3, 0.7], [-1.0, 1.0], [4.0, 0.5]
    found = make_mixture(np.array(weights), np.array(means)[:, None], np.array(precisions)[:, None, None])

    def density(t):
        parts = zip(weights, means, precisions, strict=True)
        return sum(w * mpmath.sqrt(p / (2 * mpmath.pi)) * mpmath.exp(-p * (t - m) ** 2 / 2) for w, m, p in parts)

    with mpmath.workdps(60):
        p, slope, curvature = (mpmath.diff(density, x, order, h=mpmath.mpf(10) ** -15) for order in range(3))
        expected = float(mpmath.log(p)), float(slope / p), float(curvature / p)
    at = np.array([[x]])
    values = found.log_density(at)[0], found.score(at)[0, 0], found.laplacian_over_density(at)[0]
    np.testing.assert_allclose(values, expected, rtol=1e-9)


def test_the_widest_component_rules_at_the_end_of_the_world():
    covariances = np.array([np.eye(2), 4 * np.eye(2)])
    density = datasets.GaussianMixtureDensity(np.array([0.9, 0.1]), np.array([[3.0, 0], [0, 0]]), covariances)
    x = np.array([[1e9, -2e9], [-1e6, 1e3]])
    np.testing.assert_allclose(density.derivatives.score(x), -x / 4, rtol=1e-12)
    np.testing.assert_allclose(density.derivatives.laplacian_over_density(x), (x**2).sum(axis=1) / 16, rtol=1e-9)


@pytest.mark.parametrize("columns", [1, 5, 20])
def test_a_gaussian_sample_gets_one_component_which_is_the_fitted_gaussian(columns):
    x = np.random.default_rng(0).normal(size=(400, columns)) @ np.diag(np.linspace(0.5, 2, columns)) + 1
    found, expected = fit_mixture(x, np.ones(400)), fit_gaussian(x, np.ones(400))
    assert found.weights.tolist() == [1.0]
    np.testing.assert_array_equal(found.precisions[0], expected.precision)
    np.testing.assert_array_equal(found.score(x), expected.score(x))
    np.testing.assert_array_equal(found.laplacian_over_density(x), expected.laplacian_over_density(x))


def test_the_error_shrinks_with_the_square_root_of_the_rows():
    errors = [
        np.mean([score_error(fit_mixture(draw(THREE_MODES, n, seed), np.ones(n)), THREE_MODES) for seed in range(3)])
        for n in (500, 4_000)
    ]
    gaussian = score_error(fit_gaussian(draw(THREE_MODES, 500), np.ones(500)), THREE_MODES)
    assert errors[0] < 0.3 * gaussian
    assert errors[1] < 0.5 * errors[0]  # √(500 / 4,000) is 0.35


def test_laplacian_is_near_the_exact_one():
    x, new = draw(THREE_MODES, 4_000), draw(THREE_MODES, 1_000, 1)
    found = fit_mixture(x, np.ones(len(x)))
    exact = THREE_MODES.derivatives.laplacian_over_density(new)
    assert relative_error(found.laplacian_over_density(new), exact) < 0.15
    assert relative_error(fit_gaussian(x, np.ones(len(x))).laplacian_over_density(new), exact) > 0.8


def test_modes_are_found_among_columns_of_noise():
    density = datasets.three_modes(20).numerator
    x = draw(density, 1_000)
    found = fit_mixture(x, np.ones(1_000))
    assert len(found.weights) == 3
    assert score_error(found, density) < 0.8 * score_error(fit_gaussian(x, np.ones(1_000)), density)


def test_heavy_tails_are_a_mixture_of_widths():
    x = draw(StudentT(), 1_000)
    found = fit_mixture(x, np.ones(1_000))
    assert score_error(found, StudentT()) < 0.6 * score_error(fit_gaussian(x, np.ones(1_000)), StudentT())


def test_weights_undo_a_biased_sample():
    skewed = datasets.GaussianMixtureDensity(np.array([0.6, 0.3, 0.1]), THREE_MODES.means, THREE_MODES.covariances)
    x = draw(skewed, 3_000)
    weight = np.exp(THREE_MODES.log_density(x) - skewed.log_density(x))
    found = fit_mixture(x, weight / weight.mean())
    np.testing.assert_allclose(found.weights, 1 / 3, atol=0.03)  # 2.5 binomial standard errors of the rarest mode
    assert score_error(found, THREE_MODES) < 0.7 * score_error(fit_mixture(x, np.ones(len(x))), THREE_MODES)


def test_rows_of_weight_zero_do_not_count():
    x = draw(THREE_MODES, 600)
    both, weight = np.concatenate([x, x + 20]), np.repeat([2.0, 0.0], 600)
    assert relative_error(fit_mixture(both, weight).score(x), fit_mixture(x, np.ones(600)).score(x)) < 0.02


def test_neither_chance_nor_the_order_of_rows_changes_the_fit():
    x = draw(THREE_MODES, 300)
    shuffled = np.random.default_rng(5).permutation(x)
    samples = [make_sample(rows, np.ones(300)) for rows in (x, x, shuffled)]
    first, again, other = [fit_mixture(sample.points, sample.weight, random_state=3).score(x) for sample in samples]
    np.testing.assert_array_equal(first, again)
    assert relative_error(other, first) < 1e-9


@pytest.mark.parametrize("columns", [1, 3])
def test_a_handful_of_rows_is_one_gaussian(columns):
    x = np.random.default_rng(0).normal(size=(5, columns))
    found = fit_mixture(x, np.ones(5))
    assert len(found.weights) == 1
    np.testing.assert_array_equal(found.score(x), fit_gaussian(x, np.ones(5)).score(x))


def test_one_dimension_with_two_modes():
    x = np.concatenate([np.random.default_rng(0).normal(centre, 0.4, size=(300, 1)) for centre in (-1, 1)])
    found = fit_mixture(x, np.ones(600))
    np.testing.assert_allclose(np.sort(found.means.ravel()), [-1, 1], atol=0.1)
    np.testing.assert_allclose(found.precisions.ravel(), 1 / 0.4**2, rtol=0.2)


def test_heaps_of_equal_rows_are_no_modes():
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(size=(200, 2)), np.full((100, 2), 0.5), np.full((100, 2), -0.5)])
    found = fit_mixture(x, np.ones(400))
    assert np.linalg.eigvalsh(found.precisions).max() < 1e4
    assert 1 < np.abs(found.score(x)).max() < 100


def test_a_sample_without_a_density_gets_the_gaussian_and_one_warning():
    x = draw(THREE_MODES, 300) * [1, 5e-7]
    with pytest.warns(DegenerateDataWarning, match="The numerator does not vary in 1 of 2 directions") as told:
        found = fit_mixture(x, np.ones(300), "numerator")
    assert len(told) == 1
    assert found.degenerate
    assert len(found.weights) == 1
    assert not fit_mixture(draw(THREE_MODES, 300), np.ones(300)).degenerate


def test_components_too_thin_for_a_density_are_left_to_the_gaussian():
    x = draw(THREE_MODES, 300) * [1, 1.2e-6]  # the sample has a density, each of its modes falls short of one
    found = fit_mixture(x, np.ones(300))
    assert len(found.weights) == 1
    assert not found.degenerate


def test_large_samples_are_thinned_without_harm(monkeypatch):
    x = draw(THREE_MODES, 2_000)
    whole = fit_mixture(x, np.ones(2_000))
    monkeypatch.setattr(mixture, "_MOST_ROWS", 500)
    thinned = fit_mixture(x, np.ones(2_000))
    assert 0 < relative_error(thinned.score(x), whole.score(x)) < 0.3


def ring(n, seed):
    """Draw a ring of radius one and width 0.3 in three columns."""
    random = np.random.default_rng(seed)
    angle = random.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)]) + 0.3 * random.normal(size=(n, 3))


def log_density_of_the_ring(x):
    at = np.hypot(x[:, 0], x[:, 1]) / 0.09
    return -((x**2).sum(axis=1) + 1) / 0.18 + np.log(ive(0, at)) + at - 1.5 * np.log(2 * np.pi * 0.09)


def test_many_rows_get_more_components_and_come_closer_to_a_density_that_is_no_mixture():
    x, other = ring(60_000, 0), ring(50_000, 1)
    equal = np.ones(len(x))
    few = fit_mixture(x[:10_000], equal[:10_000])
    grown = grow_mixture(few, x, equal, len(x))
    many = refit_mixture(grown, x, equal, most=len(x))

    def divergence(model):
        return np.mean(log_density_of_the_ring(other) - model.log_density(other))

    assert len(grown.weights) > len(few.weights)
    assert divergence(many) < 0.3 * divergence(few)


def test_few_rows_and_one_component_do_not_grow():
    few = fit_mixture(ring(10_000, 0), np.ones(10_000))
    assert grow_mixture(few, ring(20_000, 0), np.ones(20_000), 20_000) is few
    x = np.random.default_rng(0).normal(size=(30_000, 2))
    one = fit_mixture(x, np.ones(len(x)))
    assert len(one.weights) == 1
    assert grow_mixture(one, x, np.ones(len(x)), len(x)) is one
