import numpy as np
import pytest

from vwkde.inspection.model.coordinates import fit_coordinates


def features(columns=5, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(6, 80, columns)) @ rng.normal(size=(columns, columns)) + 3).astype(np.float32)


def test_good_patches_have_covariance_one():
    found = features()
    mapped = fit_coordinates(found, None)(found).reshape(-1, 5)
    assert mapped.dtype == np.float32
    np.testing.assert_allclose(mapped.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(np.cov(mapped.T), np.eye(5), atol=1e-4)


def test_the_largest_components_are_kept():
    rng = np.random.default_rng(0)
    common = rng.normal(size=(6, 80, 1))
    found = np.concatenate([common + 0.1 * rng.normal(size=(6, 80, 3)), rng.normal(size=(6, 80, 1))], axis=2)
    mapped = fit_coordinates(found, 1)(found)
    assert mapped.shape == (6, 80, 1)
    assert abs(np.corrcoef(mapped.ravel(), common.ravel())[0, 1]) > 0.99


def test_units_do_not_matter():
    found = features()
    units = np.array([1, 1000, 1e-3, 5, 1])
    one, other = fit_coordinates(found, 3)(found), fit_coordinates(found * units, 3)(found * units)
    np.testing.assert_allclose(np.abs(one), np.abs(other), atol=1e-3)


def test_constant_columns_are_left_out():
    found = features()
    found[..., 2] = 7
    mapped = fit_coordinates(found, None)(found)
    assert mapped.shape[2] == 4
    assert np.isfinite(mapped).all()
    with pytest.raises(ValueError, match="all alike"):
        fit_coordinates(np.ones((3, 4, 2)), None)
