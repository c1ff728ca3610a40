import numpy as np
import pytest
from scipy.special import ndtri

from vwkde._coordinates.products import FUNCTIONS, Factor, Product, edges_of, wave

SCORES = ndtri((np.arange(4_000) + 0.5) / 4_000)


@pytest.mark.parametrize("number", range(FUNCTIONS))
def test_functions_have_mean_zero_and_unit_variance_and_change_their_sign_at_the_edges(number):
    values, edges = wave(SCORES, number), np.array(edges_of(number))
    assert abs(values.mean()) < 1e-10
    np.testing.assert_allclose(np.mean(values**2), 1)
    assert np.count_nonzero(np.diff(np.sign(values))) == len(edges)
    assert np.all(wave(edges - 1e-6, number) * wave(edges + 1e-6, number) < 0)


def test_size_and_steps_have_the_sign_of_the_product_if_the_edges_are_those_of_its_functions():
    x = np.random.default_rng(0).normal(size=(500, 4))
    product = Product(tuple(Factor(column, number, edges_of(number)) for column, number in ((0, 0), (2, 1), (3, 5))))
    value = wave(x[:, 0], 0) * wave(x[:, 2], 1) * wave(x[:, 3], 5)
    np.testing.assert_allclose(product.value(x), value)
    np.testing.assert_allclose(product.size(x) ** 3, value)
    start = np.sign(product.value(np.full((1, 4), -5.0)))
    np.testing.assert_array_equal(product.steps(x), start * np.sign(value))
    assert product.columns == (0, 2, 3)
