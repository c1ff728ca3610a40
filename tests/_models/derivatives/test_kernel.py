from dataclasses import replace

import numpy as np
import pytest

from support.known import (
    BANANA,
    THREE_MODES,
    StudentT,
    finite_differences,
    relative_error,
    score_error,
    score_matching_loss,
)
from vwkde._data.sample import make_sample
from vwkde._models.derivatives import kernel
from vwkde._models.derivatives.kernel import KernelDerivatives, fit_kernel
from vwkde._models.gaussian import fit_gaussian
from vwkde.datasets import GaussianMixtureDensity
from vwkde.exceptions import DegenerateDataWarning

TWO_MODES = GaussianMixtureDensity(np.full(2, 0.5), np.array([[-0.8], [0.8]]), np.full((2, 1, 1), 0.36))


def draw(density, n, seed=0):
    return density.sample(n, np.random.default_rng(seed))


@pytest.fixture(scope="module")
def banana():
    x = draw(BANANA, 400)
    return x, fit_kernel(x, np.ones(400))


def some_expansion(columns=3, basis=12, rows=40):
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, columns)) + 2
    weight = random.exponential(size=rows)
    base = fit_gaussian(x, weight / weight.mean())
    return KernelDerivatives(base, x[:basis], random.normal(size=basis), 1.3), x, weight


def test_agrees_with_finite_differences_of_the_log_density(banana):
    x, model = banana
    points = np.concatenate([x[:20], [[3.0, -3.0]]])
    score, laplacian = finite_differences(model.log_density, points)
    assert relative_error(model.score(points), score) < 1e-7
    assert relative_error(model.laplacian_over_density(points), laplacian) < 1e-6


def test_agrees_with_finite_differences_in_three_columns():
    model, x, _ = some_expansion()
    score, laplacian = finite_differences(model.log_density, x)
    assert relative_error(model.score(x), score) < 1e-9
    assert relative_error(model.laplacian_over_density(x), laplacian) < 1e-7


def test_the_quadratic_objective_is_the_summed_loss():
    model, x, weight = some_expansion()
    between, _ = model.kernel(model.basis)
    objective = kernel._objective(model, between, x, weight)
    summed = weight @ (score_matching_loss(model, x) - score_matching_loss(model.base, x))
    assert objective.at(model.coefficients) == pytest.approx(summed, rel=1e-10)
    assert abs(summed) > 1


def test_the_solution_has_the_lowest_penalised_loss():
    model, x, weight = some_expansion()
    between, norm = model.kernel(model.basis)
    best = kernel._objective(model, between, x, weight).minimiser(0.01 * norm)

    def penalised(coefficients):
        terms = score_matching_loss(replace(model, coefficients=coefficients), x)
        return np.average(terms, weights=weight) + 0.005 * coefficients @ norm @ coefficients

    steps = 1e-3 * np.random.default_rng(1).normal(size=(20, len(best)))
    assert all(penalised(best + step) > penalised(best) for step in steps)
    assert penalised(best) < penalised(np.zeros(len(best))) - 0.01


@pytest.mark.parametrize(("density", "part"), [(BANANA, 0.45), (StudentT(), 0.65), (THREE_MODES, 0.5)])
def test_scores_are_closer_to_the_exact_ones_than_the_gaussian(density, part):
    x = draw(density, 1_000)
    gaussian = score_error(fit_gaussian(x, np.ones(1_000)), density)
    assert score_error(fit_kernel(x, np.ones(1_000)), density) < part * gaussian


def test_the_error_shrinks_with_the_rows():
    errors = [
        np.mean([score_error(fit_kernel(draw(BANANA, n, seed), np.ones(n)), BANANA) for seed in range(3)])
        for n in (250, 2_000)
    ]
    assert errors[1] < 0.7 * errors[0]


def test_gaussian_samples_keep_the_gaussian():
    samples = [np.random.default_rng(seed).normal(size=(200, 2 + seed % 4)) for seed in range(10)]
    fits = [fit_kernel(x, np.ones(200)) for x in samples]
    assert sum(len(model.basis) == 0 for model in fits) >= 9
    empty, x = next((model, x) for model, x in zip(fits, samples, strict=True) if len(model.basis) == 0)
    expected = fit_gaussian(x, np.ones(200))
    np.testing.assert_array_equal(empty.score(x), expected.score(x))
    np.testing.assert_allclose(empty.laplacian_over_density(x), expected.laplacian_over_density(x), rtol=1e-12)
    np.testing.assert_array_equal(empty.log_density(x), expected.log_density(x))


def test_far_points_follow_the_gaussian(banana):
    _, model = banana
    far = np.array([[1e9, -2e9], [50.0, 80.0]])
    np.testing.assert_array_equal(model.score(far), model.base.score(far))
    np.testing.assert_array_equal(model.log_density(far), model.base.log_density(far))
    np.testing.assert_allclose(model.laplacian_over_density(far), model.base.laplacian_over_density(far), rtol=1e-12)


def test_blocks_do_not_change_results(banana, monkeypatch):
    x, model = banana
    whole = model.score(x), model.laplacian_over_density(x), model.log_density(x)
    monkeypatch.setattr(kernel, "_ROWS", 7)
    blocks = model.score(x), model.laplacian_over_density(x), model.log_density(x)
    for found, expected in zip(blocks, whole, strict=True):
        assert relative_error(found, expected) < 1e-9


def test_rows_of_weight_zero_do_not_count(banana):
    x, expected = banana
    found = fit_kernel(np.concatenate([x, x + 20]), np.repeat([2.0, 0.0], 400))
    assert relative_error(found.score(x), expected.score(x)) < 0.02


def test_weights_undo_a_biased_sample():
    skewed = replace(TWO_MODES, weights=np.array([0.85, 0.15]))
    errors = []
    for seed in range(3):
        x = draw(skewed, 2_000, seed)
        weight = np.exp(TWO_MODES.log_density(x) - skewed.log_density(x))
        fits = fit_kernel(x, weight / weight.mean()), fit_kernel(x, np.ones(len(x)))
        errors.append([score_error(model, TWO_MODES) for model in fits])
    weighted, plain = np.mean(errors, axis=0)
    assert weighted < 0.6 * plain


def test_neither_chance_nor_the_order_of_rows_changes_the_fit(banana):
    x, _ = banana
    samples = [make_sample(rows, np.ones(400)) for rows in (x, x, np.random.default_rng(5).permutation(x))]
    first, again, other = [fit_kernel(sample.points, sample.weight, random_state=3).score(x) for sample in samples]
    np.testing.assert_array_equal(first, again)
    assert relative_error(other, first) < 1e-6


@pytest.mark.parametrize("columns", [1, 3])
def test_a_handful_of_rows_is_one_gaussian(columns):
    x = np.random.default_rng(0).normal(size=(5, columns))
    np.testing.assert_array_equal(fit_kernel(x, np.ones(5)).score(x), fit_gaussian(x, np.ones(5)).score(x))


def test_one_dimension_with_two_modes():
    x = draw(TWO_MODES, 1_000)
    gaussian = score_error(fit_gaussian(x, np.ones(1_000)), TWO_MODES)
    assert score_error(fit_kernel(x, np.ones(1_000)), TWO_MODES) < 0.5 * gaussian


def test_copies_and_columns_of_zeros_and_ones_are_not_heaped_up():
    random = np.random.default_rng(0)
    copies = np.repeat(random.normal(size=(40, 2)), 10, axis=0)
    binary = np.stack([random.integers(2, size=400) * 2.0 - 1, random.normal(size=400)], axis=1)
    turned = binary @ np.array([[0.6, 0.8], [-0.8, 0.6]])
    for x in (copies, binary, turned):
        assert 1 < np.abs(fit_kernel(x, np.ones(400)).score(x)).max() < 10


def test_clusters_far_apart_are_solved_without_losing_digits():
    random = np.random.default_rng(0)
    x = np.concatenate([random.normal(size=(200, 2)), random.normal(size=(200, 2)) + 500]) / 250
    model = fit_kernel(x, np.ones(400))
    score, _ = finite_differences(model.log_density, x[:10], step=1e-5)
    assert relative_error(model.score(x[:10]), score) < 1e-3


def test_a_sample_without_a_density_gets_the_gaussian_and_one_warning():
    x = np.random.default_rng(0).normal(size=(300, 2)) * [1, 0]
    with pytest.warns(DegenerateDataWarning, match="The numerator does not vary in 1 of 2 directions") as told:
        found = fit_kernel(x, np.ones(300), "numerator")
    assert len(told) == 1
    assert found.degenerate
    assert len(found.basis) == 0
