import numpy as np
import pytest

from vwkde._coordinates import whitening
from vwkde._coordinates.whitening import fit_whitening, whiten_with_moments
from vwkde._data.clouds import InMemory
from vwkde._data.moments import moments_of
from vwkde.exceptions import DegenerateDataWarning, DisjointSupportError


def pair(n=200, m=150, d=4, seed=0):
    random = np.random.default_rng(seed)
    return random.normal(size=(n, d)), 0.5 + random.normal(size=(m, d)) * np.arange(1, d + 1)


def whiten(p, q, weights=None, names=None):
    return fit_whitening(p, q, weights or (np.ones(len(p)), np.ones(len(q))), names)


def pooled_covariance(p, q):
    scatter = (p - p.mean(axis=0)).T @ (p - p.mean(axis=0)) + (q - q.mean(axis=0)).T @ (q - q.mean(axis=0))
    return scatter / (len(p) + len(q) - 2)


def distances(x):
    return np.linalg.norm(x[:, None] - x[None], axis=2)


@pytest.mark.parametrize("thinnest", [1, 1e-3, 1e-6])
def test_pooled_covariance_becomes_the_identity(thinnest):
    p, q = pair()
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(4, 4)))[0]
    a = np.diag([1, 1, thinnest, thinnest]) @ turn
    p, q = p @ a + 1e3, q @ a + 1e3
    whitening = whiten(p, q)
    # data of size 1e3 in doubles know a direction of size 1e-6 to seven digits only
    np.testing.assert_allclose(pooled_covariance(whitening(p), whitening(q)), np.eye(4), atol=1e-6)


def test_distances_are_the_same_for_every_affine_copy():
    p, q = pair()
    random = np.random.default_rng(2)
    expected = distances(whiten(p, q)(p))
    for scale in (1e-6, 1.0, 1e6):
        a, b = scale * random.normal(size=(4, 4)), scale * random.normal(size=4)
        np.testing.assert_allclose(distances(whiten(p @ a + b, q @ a + b)(p @ a + b)), expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_numbers_at_the_edge_of_the_range(size):
    p, q = pair()
    np.testing.assert_allclose(distances(whiten(size * p, size * q)(size * p)), distances(whiten(p, q)(p)), rtol=1e-9)


def test_constant_columns_are_left_out_with_a_warning():
    p, q = pair()
    p, q = np.insert(p, 1, 7.0, axis=1), np.insert(q, 1, 7.0, axis=1)
    with pytest.warns(DegenerateDataWarning, match=r"\['b'\] are constant"):
        whitening = whiten(p, q, names=("a", "b", "c", "d", "e"))
    assert whitening(p).shape == (200, 4)
    np.testing.assert_allclose(pooled_covariance(whitening(p), whitening(q)), np.eye(4), atol=1e-10)


def test_copied_columns_are_left_out_with_a_warning():
    p, q = pair()
    p, q = np.column_stack([p, 2 * p[:, 0] + 3]), np.column_stack([q, 2 * q[:, 0] + 3])
    with pytest.warns(DegenerateDataWarning, match="1 of the 5 directions"):
        assert whiten(p, q)(p).shape == (200, 4)


def test_separated_constants_and_planes_are_refused():
    p, q = pair()
    with pytest.raises(ValueError, match="disjoint"):
        whiten(np.insert(p, 0, 0.0, axis=1), np.insert(q, 0, 1.0, axis=1))
    with pytest.raises(ValueError, match="parallel planes"):
        whiten(np.column_stack([p, p[:, 0]]), np.column_stack([q, q[:, 0] + 1]))


@pytest.mark.parametrize("columns", [1, 3])
def test_samples_without_any_variation_that_differ_are_disjoint(columns):
    p, q = np.zeros((50, columns)), np.zeros((50, columns))
    q[:, 0] = 1.0
    with pytest.raises(DisjointSupportError, match="constant within each sample but differ"):
        fit_whitening(p, q, (np.ones(50), np.ones(50)), None)


def test_nothing_varies():
    with pytest.raises(ValueError, match="all rows are equal"):
        whiten(np.ones((5, 2)), np.ones((4, 2)))


def test_more_columns_than_rows_are_shrunk_with_a_warning():
    p, q = pair(n=10, m=12, d=30)
    with pytest.warns(DegenerateDataWarning, match="few for 30 columns"):
        whitening = whiten(p, q)
    assert whitening(p).shape == (10, 30)
    assert np.linalg.matrix_rank(whitening.matrix) == 30


def test_weights_count_like_copies():
    p, q = pair(n=30, m=40)
    counts = np.random.default_rng(0).integers(1, 4, size=30)
    weight = counts / counts.mean()
    copies = whiten(np.repeat(p, counts, axis=0), q)
    weighted = whiten(p, q, (weight, np.ones(40)))
    np.testing.assert_allclose(weighted.centre, copies.centre, rtol=1e-9)


def test_moments_and_maps_do_not_depend_on_blocks(monkeypatch):
    random = np.random.default_rng(5)
    x, weight = random.normal(size=(997, 3)) * [1, 10, 100] + 50, random.uniform(0.5, 1.5, size=997)
    whitening = fit_whitening(x, x[:500] + 0.1, (weight, weight[:500]), None)
    mean, scatter = moments_of(x, weight)
    np.testing.assert_allclose(mean, np.average(x, axis=0, weights=weight))
    np.testing.assert_allclose(scatter, np.cov(x.T, aweights=weight, ddof=0) * weight.sum())
    expected = whitening(x)
    monkeypatch.setattr("vwkde._compute.parallel._NUMBERS", 100)
    np.testing.assert_allclose(whitening(x), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(moments_of(x, weight)[1], scatter, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("thinnest", [1, 1e-2, 1e-5])
def test_moments_in_the_new_coordinates_are_those_of_the_rows_there(thinnest):
    p, q = (x * [1, thinnest, 1, 1] @ np.linalg.qr(np.arange(16.0).reshape(4, 4) ** 2 + np.eye(4))[0] for x in pair())
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(p))
    weights = weight / weight.mean(), np.ones(len(q))
    clouds = InMemory(p, weights[0]), InMemory(q, weights[1])
    into, moments = whiten_with_moments(clouds, None)
    for x, own, found in zip((p, q), weights, moments, strict=True):
        expected = moments_of(into(x), own)
        np.testing.assert_allclose(found.mean, expected.mean, atol=1e-9)
        np.testing.assert_allclose(found.scatter, expected.scatter, atol=1e-9 * len(x))


def test_one_round_is_enough_if_no_direction_is_thin(monkeypatch):
    p, q = pair()
    once = whiten(p, q)
    monkeypatch.setattr(whitening, "_THIN", 2.0)
    twice = whiten(p, q)
    np.testing.assert_allclose(twice(p), once(p), rtol=1e-12, atol=1e-12)
