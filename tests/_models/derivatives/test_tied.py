import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from vwkde import datasets
from vwkde._models.derivatives.tied import TiedComponents, fit_tied, refit_tied


def draw(columns, n=600, seed=0):
    return datasets.three_modes(columns).numerator.sample(n, np.random.default_rng(seed))


def assert_same(found, model):
    np.testing.assert_allclose(found.weights, model.weights_, rtol=1e-9)
    np.testing.assert_allclose(found.means, model.means_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(found.precision, model.precisions_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("columns", [2, 7, 20])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_agrees_with_scikit_learn(columns, count):
    x = draw(columns)
    assert_same(fit_tied(x, count, 1), GaussianMixture(count, covariance_type="tied", random_state=1).fit(x))


def test_goes_on_from_where_it_is_told():
    x, other = draw(5), draw(5, seed=1)
    start = fit_tied(x, 3, 0)
    again = {"weights_init": start.weights, "means_init": start.means, "precisions_init": start.precision}
    expected = GaussianMixture(3, covariance_type="tied", **again).fit(other)
    found = refit_tied(other, start)
    assert_same(found, expected)
    assert np.abs(found.means - start.means).max() > 0.01


def test_a_component_that_no_row_belongs_to_stays_empty_and_harms_nobody():
    x = draw(2)
    start = TiedComponents(np.array([0.5, 0.5]), np.array([[0.0, 0.0], [1e4, 0.0]]), np.eye(2))
    found = refit_tied(x, start)
    np.testing.assert_allclose(found.weights, [1, 0], atol=1e-12)
    np.testing.assert_allclose(np.linalg.inv(found.precision), np.cov(x.T, bias=True), rtol=1e-4, atol=1e-4)


def test_a_flat_sample_has_a_density():
    x = draw(2) * [1, 0]
    found = fit_tied(x, 2, 0)
    assert np.isfinite(found.precision).all()
    np.testing.assert_allclose(found.precision[1, 1], 1e6, rtol=1e-6)


def test_far_from_the_origin_it_finds_the_same():
    x = draw(3)
    here, there = fit_tied(x, 3, 0), fit_tied(x + 1e6, 3, 0)
    np.testing.assert_allclose(there.means - 1e6, here.means, atol=1e-6)
    np.testing.assert_allclose(there.precision, here.precision, rtol=1e-6, atol=1e-6)
    again = refit_tied(x + 1e6, there)
    np.testing.assert_allclose(again.precision, here.precision, rtol=0.01, atol=0.01)


def test_fewer_values_than_components_are_no_matter_for_a_warning():
    x = np.repeat([[0.0], [1.0]], 50, axis=0)
    assert np.isfinite(fit_tied(x, 3, 0).means).all()
