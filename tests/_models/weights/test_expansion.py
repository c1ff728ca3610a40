import numpy as np
import pytest

from support.loops import LOOPS, take_loops
from vwkde._compute.resources import Resources
from vwkde._models.weights.expansion import KernelExpansion, fit_expansion
from vwkde._models.weights.residual import BiasTerms, bias_terms, residual_bias
from vwkde.datasets import isotropic

RIDGE, LENGTH_SCALE = 0.1, 2.5


@pytest.fixture
def problem():
    pair = isotropic(4)
    x = np.concatenate(pair.sample(150, 120))
    terms = bias_terms(pair.numerator.derivatives, pair.denominator.derivatives, x)
    importance = np.random.default_rng(0).exponential(size=len(x))
    return x, terms, importance / importance.mean(), x[::3]


def naive_coefficients(x, terms, importance, basis):
    """Return the same fit the slow way: the whole N × M × D array of gradients, and a dense solve."""
    difference = x[:, None] - basis[None]
    kernel = np.exp(-(difference**2).sum(axis=2) / (2 * LENGTH_SCALE**2))
    gradients = -difference / LENGTH_SCALE**2 * kernel[:, :, None]
    f = np.einsum("nmd,nd->nm", gradients, terms.direction)
    normal = 2 / len(x) * f.T @ (importance[:, None] * f) + RIDGE * np.eye(len(basis))
    return np.linalg.solve(normal, -2 / len(x) * f.T @ (importance * terms.unweighted))


@pytest.mark.parametrize("memory_budget", [1, 50_000, 2**28])
@pytest.mark.parametrize("loops", LOOPS)
def test_agrees_with_the_naive_fit_whatever_the_budget(monkeypatch, problem, loops, memory_budget):
    take_loops(monkeypatch, loops)
    x, terms, importance, basis = problem
    found = fit_expansion(x, terms, importance, basis, LENGTH_SCALE, RIDGE, Resources(memory_budget=memory_budget))
    np.testing.assert_allclose(
        found.coefficients, naive_coefficients(x, terms, importance, basis), rtol=1e-8, atol=1e-10
    )


def test_no_other_coefficients_have_a_smaller_loss(problem):
    x, terms, importance, basis = problem
    best = fit_expansion(x, terms, importance, basis, LENGTH_SCALE, RIDGE)

    def loss(coefficients):
        weight = KernelExpansion(basis, coefficients, LENGTH_SCALE)
        b = residual_bias(weight, terms, x)
        return np.mean(importance * b**2) + RIDGE / 2 * coefficients @ coefficients

    lowest = loss(best.coefficients)
    assert lowest < 0.5 * loss(np.zeros(len(basis)))
    for direction in np.random.default_rng(1).normal(size=(10, len(basis))):
        assert loss(best.coefficients + 1e-3 * direction) > lowest


def test_enormous_scores_are_solved_all_the_same(problem):
    x, terms, importance, basis = problem
    steep = BiasTerms(1e12 * terms.direction, 1e24 * terms.unweighted)
    assert np.isfinite(fit_expansion(x, steep, importance, basis, LENGTH_SCALE, RIDGE).coefficients).all()


@pytest.mark.parametrize("loops", LOOPS)
def test_values_and_slopes_agree_with_finite_differences(monkeypatch, problem, loops):
    take_loops(monkeypatch, loops)
    x, _, _, basis = problem
    random = np.random.default_rng(0)
    weight = KernelExpansion(basis, random.normal(size=len(basis)), LENGTH_SCALE)
    squared = ((x[:, None] - basis[None]) ** 2).sum(axis=2)
    np.testing.assert_allclose(weight.log_weight(x), np.exp(-squared / (2 * LENGTH_SCALE**2)) @ weight.coefficients)
    direction = random.normal(size=x.shape)
    step = 1e-5
    slope = (weight.log_weight(x + step * direction) - weight.log_weight(x - step * direction)) / (2 * step)
    np.testing.assert_allclose(weight.slope(x, direction), slope, rtol=1e-5, atol=1e-7)
