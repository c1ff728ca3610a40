import numpy as np
import pytest

from vwkde._coordinates.axes import principal_axes


def test_rows_times_the_root_have_variance_one_along_every_axis():
    x = np.random.default_rng(0).normal(size=(500, 3)) @ np.random.default_rng(1).normal(size=(3, 3))
    axes = principal_axes(np.cov(x.T), 1e-10)
    np.testing.assert_allclose(np.cov((x @ axes.root).T), np.eye(3), atol=1e-10)
    assert (np.diff(axes.variances) > 0).all()
    assert axes.flat.shape == (3, 0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_an_axis_that_does_not_vary_is_flat_whatever_the_scale(scale):
    x = scale * np.random.default_rng(0).normal(size=(500, 2)) @ np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    axes = principal_axes(np.cov(x.T), 1e-10)
    assert axes.root.shape == (3, 2)
    np.testing.assert_allclose(np.abs(axes.flat[:, 0]), 1 / np.sqrt(3), rtol=1e-6)  # the third column is the sum
