import numpy as np
import pytest

from vwkde._compute.choice import choose_resources
from vwkde._models.weights.expansion import KernelExpansion, NormalEquations, normal_equations, solved
from vwkde._models.weights.residual import BiasTerms

pytest.importorskip("torch")

RANDOM = np.random.default_rng(0)
ROWS, BASIS, COLUMNS = 300, 37, 4
X, DIRECTION = RANDOM.normal(size=(2, ROWS, COLUMNS))
Z, COEFFICIENTS = RANDOM.normal(size=(BASIS, COLUMNS)), RANDOM.normal(size=BASIS)
TERMS, IMPORTANCE = BiasTerms(DIRECTION, RANDOM.normal(size=ROWS)), RANDOM.uniform(0.5, 1.5, ROWS)


def expansion(engine, memory_budget=2**20):
    resources = choose_resources(engine, "cpu", (X,), memory_budget)
    return KernelExpansion(Z, COEFFICIENTS, 1.3, resources=resources)


def both():
    return expansion("numba"), expansion("torch")


@pytest.mark.parametrize("memory_budget", [2**20, 2**14])
def test_torch_gives_the_equations_and_values_of_the_cpu(memory_budget):
    """With a basis that its parts do not divide, in one block of rows and in several."""
    here, there = expansion("numba"), expansion("torch", memory_budget)
    expected, found = (normal_equations(each, X, TERMS, IMPORTANCE, ROWS) for each in (here, there))
    np.testing.assert_allclose(np.tril(found.matrix), np.tril(expected.matrix), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.right, expected.right, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(there.log_weight(X), here.log_weight(X), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(there.slope(X, DIRECTION), here.slope(X, DIRECTION), rtol=1e-12, atol=1e-13)


def test_torch_solves_the_equations_as_the_cpu_does():
    here, there = (solved(each, normal_equations(each, X, TERMS, IMPORTANCE, ROWS), 0.1) for each in both())
    np.testing.assert_allclose(there.coefficients, here.coefficients, rtol=1e-10, atol=1e-12)


def test_torch_refuses_singular_equations_as_the_cpu_does():
    for each in both():
        equations = NormalEquations(-1e6 * np.eye(BASIS), np.ones(BASIS))
        with pytest.raises(np.linalg.LinAlgError, match="ridge"):
            solved(each, equations, 0.1)
