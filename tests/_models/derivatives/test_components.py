import numpy as np
import pytest
from sklearn.mixture import GaussianMixture

from vwkde import datasets
from vwkde._compute.devices import models_on
from vwkde._models.derivatives import full
from vwkde._models.derivatives.components import Components, fit_components, refit_components
from vwkde._models.derivatives.full import RowsOnDevice, full_rows
from vwkde._models.derivatives.tied import TiedRows


def on_device(x):
    return RowsOnDevice(pytest.importorskip("torch").as_tensor(x))


SHAPES = pytest.mark.parametrize(("shape", "rows"), [("tied", TiedRows), ("full", full_rows), ("full", on_device)])


def draw(columns, n=600, seed=0):
    return datasets.three_modes(columns).numerator.sample(n, np.random.default_rng(seed))


def assert_same(fitted, model):
    np.testing.assert_allclose(fitted.weights, model.weights_, rtol=1e-8)
    np.testing.assert_allclose(fitted.means, model.means_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(fitted.precisions, model.precisions_, rtol=1e-8, atol=1e-9)


@SHAPES
@pytest.mark.parametrize("columns", [2, 7, 20])
@pytest.mark.parametrize("count", [2, 3, 6])
def test_agrees_with_scikit_learn(shape, rows, columns, count):
    x = draw(columns)
    expected = GaussianMixture(count, covariance_type=shape, random_state=1).fit(x)
    assert_same(fit_components(rows, x, count, 1), expected)


@SHAPES
def test_a_finer_tolerance_takes_more_steps(shape, rows):
    x = draw(3)
    expected = GaussianMixture(4, covariance_type=shape, random_state=1, tol=1e-5).fit(x)
    assert_same(fit_components(rows, x, 4, 1, tolerance=1e-5), expected)
    assert np.abs(fit_components(rows, x, 4, 1).means - expected.means_).max() > 1e-4


@SHAPES
def test_goes_on_from_where_it_is_told(shape, rows):
    x, other = draw(5), draw(5, seed=1)
    start = fit_components(rows, x, 3, 0)
    again = {"weights_init": start.weights, "means_init": start.means, "precisions_init": start.precisions}
    expected = GaussianMixture(3, covariance_type=shape, **again).fit(other)
    fitted = refit_components(rows, other, start)
    assert_same(fitted, expected)
    assert np.abs(fitted.means - start.means).max() > 0.01


def test_blocks_of_rows_change_nothing(monkeypatch):
    x = draw(4)
    whole = fit_components(full_rows, x, 3, 0)
    monkeypatch.setattr(full, "_AT_A_TIME", 1500)
    for one, other in zip(fit_components(full_rows, x, 3, 0), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)


def test_many_rows_are_sent_to_the_device_of_models_in_blocks(monkeypatch):
    pytest.importorskip("torch")
    x = draw(4)
    here = fit_components(full_rows, x, 3, 0)
    monkeypatch.setattr(full, "_WORTH_SENDING", len(x) - 1)
    monkeypatch.setattr(full, "_AT_A_TIME_THERE", 1500)
    with models_on("cpu:0"):  # any name other than "cpu" stands for a device
        assert isinstance(full_rows(x), RowsOnDevice)
        assert not isinstance(full_rows(x[1:]), RowsOnDevice)
        there = fit_components(full_rows, x, 3, 0)
    for one, other in zip(there, here, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    assert not isinstance(full_rows(x), RowsOnDevice)


@SHAPES
def test_a_component_that_no_row_belongs_to_stays_empty_and_harms_nobody(shape, rows):
    x = draw(2)
    precisions = np.eye(2) if shape == "tied" else np.stack([np.eye(2)] * 2)
    start = Components(np.array([0.5, 0.5]), np.array([[0.0, 0.0], [1e4, 0.0]]), precisions)
    fitted = refit_components(rows, x, start)
    np.testing.assert_allclose(fitted.weights, [1, 0], atol=1e-12)
    first = fitted.precisions if shape == "tied" else fitted.precisions[0]
    np.testing.assert_allclose(np.linalg.inv(first), np.cov(x.T, bias=True), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("rows", [TiedRows, full_rows, on_device])
def test_a_flat_sample_has_a_density(rows):
    x = draw(2) * [1, 0]
    fitted = fit_components(rows, x, 2, 0)
    assert np.isfinite(fitted.precisions).all()
    np.testing.assert_allclose(fitted.precisions[..., 1, 1], 1e6, rtol=1e-6)


@pytest.mark.parametrize("rows", [TiedRows, full_rows, on_device])
def test_far_from_the_origin_it_finds_the_same(rows):
    x = draw(3)
    here, there = fit_components(rows, x, 3, 0), fit_components(rows, x + 1e6, 3, 0)
    np.testing.assert_allclose(there.means - 1e6, here.means, atol=1e-6)
    np.testing.assert_allclose(there.precisions, here.precisions, rtol=1e-6, atol=1e-6)
    again = refit_components(rows, x + 1e6, there)
    np.testing.assert_allclose(again.precisions, here.precisions, rtol=0.03, atol=0.03)


@pytest.mark.parametrize("rows", [TiedRows, full_rows, on_device])
def test_fewer_values_than_components_are_no_matter_for_a_warning(rows):
    x = np.repeat([[0.0], [1.0]], 50, axis=0)
    assert np.isfinite(fit_components(rows, x, 3, 0).means).all()
