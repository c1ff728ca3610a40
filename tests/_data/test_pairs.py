import numpy as np

from vwkde._data.pairs import Pairs, places, related
from vwkde._data.sample import make_sample


def test_related_rows_share_x_or_y_in_the_same_place():
    random = np.random.default_rng(0)
    queries, rows = (Pairs(1, *random.integers(8, size=(2, count))) for count in (15, 20))
    expected = [
        (q, r)
        for q in range(15)
        for r in range(20)
        if queries.first[q] == rows.first[r] or queries.second[q] == rows.second[r]
    ]
    assert list(zip(*related(queries, rows), strict=True)) == expected


def test_places():
    assert places(np.array([5, 2, 9]), np.array([2, 7, 5])).tolist() == [2, 0, -1]


def test_only_pairs_of_different_rows_have_marginals():
    points = np.random.default_rng(0).normal(size=(6, 3))
    rows = np.arange(6)
    joint = make_sample(points, np.ones(6), pairs=Pairs(1, rows, rows))
    product = make_sample(points, np.ones(6), pairs=Pairs(1, rows, np.roll(rows, 1)))
    assert joint.marginals is None
    x, y = product.marginals
    np.testing.assert_array_equal(np.concatenate([x.points, y.points], axis=1), product.points)
    np.testing.assert_array_equal(points[product.pairs.first], product.points)
    part = product.subset(np.array([4, 1]))
    np.testing.assert_array_equal(points[part.pairs.first], part.points)
