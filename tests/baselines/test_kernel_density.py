import numpy as np
import pytest

from vwkde.baselines.kernel_density import common_bandwidth, local_mean_squares, own_bandwidths, plain_estimate, whiten


@pytest.fixture
def points():
    return np.random.default_rng(0).normal(size=(60, 3))


def kernel(x, y, h):
    return np.exp(-0.5 * np.sum((x - y) ** 2) / h**2) / (2 * np.pi * h**2) ** 1.5


def test_densities_are_those_of_plain_loops(points):
    x = points[:5] + 0.3
    expected = [np.log(np.mean([kernel(a, b, 0.7) for b in points])) for a in x]
    np.testing.assert_allclose(plain_estimate(points, 0.7).log_density(x), expected, rtol=1e-10)


def test_rows_are_left_out_of_their_own_density(points):
    expected = [
        np.log(np.mean([kernel(a, b, 0.7) for j, b in enumerate(points) if j != i])) for i, a in enumerate(points)
    ]
    np.testing.assert_allclose(plain_estimate(points, 0.7).left_out(), expected, rtol=1e-10)


@pytest.mark.parametrize("own", [True, False])
def test_local_means_are_those_of_plain_loops(points, own):
    x = points if own else points[:7] + 0.2
    mean, squares = local_mean_squares(x, points, 0.8, own)
    for i, a in enumerate(x):
        others = [j for j in range(len(points)) if not (own and j == i)]
        weight = np.array([kernel(a, points[j], 0.8) for j in others])
        weight /= weight.sum()
        np.testing.assert_allclose(mean[i], weight @ points[others], rtol=1e-9)
        distances = np.sum((points[others] - a) ** 2, axis=1) / 0.8**2
        np.testing.assert_allclose(squares[i], weight @ distances, rtol=1e-9)


def test_whitened_samples_have_unit_pooled_covariance():
    rng = np.random.default_rng(1)
    mixing = rng.normal(size=(3, 3))
    p, q, whitening = whiten(rng.normal(size=(400, 3)) @ mixing, 5 + rng.normal(size=(300, 3)) @ mixing)
    pooled = (399 * np.cov(p.T) + 299 * np.cov(q.T)) / 698
    np.testing.assert_allclose(pooled, np.eye(3), atol=1e-9)
    np.testing.assert_allclose(whitening(np.zeros((1, 3))).shape, (1, 3))


def test_the_common_bandwidth_is_the_mean_of_both(points):
    q = 2 * points[:40]
    one, other = own_bandwidths(points, q, 0)
    assert other > 1.3 * one
    assert common_bandwidth(points, q, 0) == pytest.approx((one + other) / 2)
