import numpy as np
import pytest

from vwkde._models.nearest_mean import NearestMean


def test_the_nearer_mean_wins_and_the_middle_belongs_to_neither():
    ratio = NearestMean(np.array([[0.0, 1.0], [4.0, 1.0]]), np.array([1.0, 0.0]))
    x = np.array([[0.0, 9.0], [1.0, -9.0], [2.0, 1e300], [3.0, 0.0]])
    np.testing.assert_allclose(ratio.log_ratio(x), [8.0, 4.0, 0.0, -4.0])


@pytest.mark.parametrize("value", [0.1, 1e9 / 3, -1e250 / 7])
def test_a_column_that_is_constant_and_equal_in_both_does_not_count(value):
    """Means of 50 and of 49 equal numbers may differ by rounding."""
    p, q = np.full((50, 2), value), np.full((49, 2), value)
    p[:, 1], q[:, 1] = 0.0, 1.0
    x = np.array([[0.0, 0.5], [2 * value, 0.5], [1e300, 0.5]])
    np.testing.assert_allclose(NearestMean.fit(p, q).log_ratio(x), 0, atol=1e-3)


@pytest.mark.parametrize("size", [1e-300, 1e-200, 1e200, 1e307])
def test_sizes_do_not_matter(size):
    p, q = np.random.default_rng(0).normal([[[0.0]], [[3.0]]], size=(2, 30, 2))
    x = np.random.default_rng(1).normal(1.5, 2, size=(40, 2))
    expected = NearestMean.fit(p, q).log_ratio(x)
    np.testing.assert_allclose(NearestMean.fit(size * p, size * q).log_ratio(size * x), expected, rtol=1e-9)
    far = NearestMean.fit(size * p, size * q).log_ratio(np.array([[1e308, -1e308], [1e308, 1e308], [-1e308, 0.0]]))
    assert far[1:].tolist() == [-40.0, 40.0]
    assert np.isfinite(far).all()
