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


def test_rows_of_a_group_are_related():
    random = np.random.default_rng(1)
    group = np.array([0, 0, 1, 2, 1, 2, 2, 3])
    queries, rows = (Pairs(1, *random.integers(8, size=(2, count)), group) for count in (15, 20))
    expected = [
        (q, r)
        for q in range(15)
        for r in range(20)
        if group[queries.first[q]] == group[rows.first[r]] or group[queries.second[q]] == group[rows.second[r]]
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
    np.testing.assert_array_equal(x.points, points[:, :1])
    np.testing.assert_array_equal(np.roll(y.points, 1, axis=0), points[:, 1:])
    np.testing.assert_array_equal(points[product.pairs.first], product.points)
    part = product.subset(np.array([4, 1]))
    np.testing.assert_array_equal(points[part.pairs.first], part.points)


def test_marginals_have_each_row_once_and_are_worth_as_many_rows_as_their_groups():
    centre = np.random.default_rng(0).normal(size=(30, 1, 2))
    points = np.repeat(centre, 4, axis=1).reshape(120, 2)  # four equal rows in each group
    group = np.repeat(np.arange(30), 4)
    first = np.tile(np.arange(120), 2)
    second = np.concatenate([np.roll(np.arange(120), 7), np.roll(np.arange(120), 11)])
    pairs = Pairs(1, first, second, group)
    product = make_sample(np.column_stack([points[first, 0], points[second, 1]]), np.ones(240), 2, pairs=pairs)
    x, y = product.marginals
    assert len(x) == len(y) == 120
    np.testing.assert_array_equal(x.points[:, 0], points[:, 0])
    np.testing.assert_array_equal(y.points[:, 0], points[:, 1])
    assert product.effective_rows == min(x.effective_rows, y.effective_rows)
    assert 25 < product.effective_rows < 31
