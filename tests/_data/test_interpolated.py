import numpy as np
import pytest
from scipy.spatial import cKDTree

from vwkde._data import interpolated
from vwkde._data.interpolated import merge_interpolated
from vwkde._data.order import canonical_order

N = 200


def oversampled(columns, seed=0):
    """Return rows, followed by as many between a row and one of its five neighbours, and the two ends of each."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(N, columns))
    one = random.integers(N, size=N)
    other = cKDTree(x).query(x[one], 6)[1][np.arange(N), random.integers(1, 6, size=N)]
    share = random.random((N, 1))
    return np.concatenate([x, x[one] + share * (x[other] - x[one])])


@pytest.mark.parametrize("columns", [2, 3, 10])
def test_interpolated_rows_become_weights_of_their_ends(columns):
    x = oversampled(columns)
    merging = merge_interpolated(x, x, canonical_order(x))
    assert N <= len(merging.kept) < 1.05 * N
    np.testing.assert_allclose(merging.expand(x[merging.kept][:, 0]), x[:, 0], atol=1e-6)
    np.testing.assert_allclose(merging.expand(np.ones(len(merging.kept))), 1)


@pytest.mark.parametrize(
    "x",
    [
        np.random.default_rng(0).normal(size=(300, 2)),
        np.random.default_rng(0).normal(size=(300, 2)).round(1),
        np.random.default_rng(0).poisson(5, (300, 3)).astype(float),
        np.column_stack([np.arange(300) % 7, np.random.default_rng(0).normal(size=300)]),
        np.abs(np.random.default_rng(0).normal(size=(300, 1)) * [1, 1]) * [1, -1] + [0, 1],
        np.random.default_rng(0).normal(size=(300, 1)),
        np.random.default_rng(0).normal(size=(300, 2)) * [1, 2e-3],
        np.random.default_rng(0).normal(size=(300, 2)) * [1, 2e-4],
    ],
    ids=["normal", "rounded", "counts", "discrete column", "a line", "one column", "flat", "flatter"],
)
def test_other_data_have_none(x):
    assert merge_interpolated(x, x, canonical_order(x)) is None


def test_many_rows_are_first_looked_at_in_some_places(monkeypatch):
    monkeypatch.setattr(interpolated, "_ROWS_AROUND", N // 2)
    x = oversampled(3)
    assert N <= len(merge_interpolated(x, x, canonical_order(x)).kept) < 1.05 * N
    plain = np.random.default_rng(1).normal(size=(2 * N, 3))
    assert merge_interpolated(plain, plain, canonical_order(plain)) is None


def test_rows_around_a_place_are_the_closest_of_all(monkeypatch):
    monkeypatch.setattr(interpolated, "_ROWS_AROUND", 400)
    monkeypatch.setattr("vwkde._compute.parallel._NUMBERS", 1_000)
    x = np.random.default_rng(2).normal(size=(5_000, 3))
    places = x[:7]
    for place, around in zip(places, interpolated._rows_around(x, places), strict=True):
        distance = np.linalg.norm(x - place, axis=1)
        assert 200 < len(around) < 800
        np.testing.assert_array_equal(np.sort(around), np.flatnonzero(distance <= distance[around].max()))
