from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial import KDTree
from scipy.special import digamma

from vwkde._data.pairs import Pairs
from vwkde._data.sample import make_unordered_sample
from vwkde._models.neighbours import Neighbours, _count_on_line, by_neighbours


def paired(x, y, first, second):
    points = np.column_stack([x[first], y[second]]).astype(float)
    return replace(make_unordered_sample(points), pairs=Pairs(1, np.asarray(first), np.asarray(second)))


def samples(x, y):
    rows = np.arange(len(x))
    return paired(x, y, rows, rows), paired(x, y, rows, np.roll(rows, 1))


def by_counting(x, y, i, j, k, stretch):
    """The formula for the pair (x_i, y_j), row by row."""
    others = [row for row in range(len(x)) if row not in (i, j)]
    dx, dy = stretch * np.abs(x[others] - x[i]), np.abs(y[others] - y[j])
    radius = np.sort(np.maximum(dx, dy))[k - 1]
    a, b = np.count_nonzero(dx < radius), np.count_nonzero(dy < radius)
    return digamma(k) + digamma(len(others) + 1) - digamma(a + 1) - digamma(b + 1)


def test_rows_and_pairs_are_left_out_of_their_own_boxes():
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    joint, product = samples(x, y)
    ratio = Neighbours(3, 2.0).fit(joint)
    for sample in (joint, product):
        expected = [
            by_counting(x, y, i, j, 3, 2.0) for i, j in zip(sample.pairs.first, sample.pairs.second, strict=True)
        ]
        np.testing.assert_allclose(ratio.at(sample)[0], expected, rtol=1e-12)


def test_equal_rows_all_count():
    x = np.repeat([0, 1], 20)
    joint, _ = samples(x, x)
    values, _ = Neighbours(3).fit(joint).at(joint)
    np.testing.assert_allclose(values, digamma(39) - digamma(19))


@pytest.mark.parametrize("decimals", [1, 9])
def test_one_column_is_counted_as_by_a_tree(decimals):
    """Some values are exactly at the radius, where a sum of a number and the radius may round to the other side."""
    random = np.random.default_rng(0)
    values, x = np.round(random.normal(size=60), decimals), np.round(random.normal(size=500), decimals)
    radius = np.abs(x - random.choice(values, len(x)))
    expected = KDTree(values[:, None]).query_ball_point(x[:, None], radius, p=np.inf, return_length=True)
    np.testing.assert_array_equal(_count_on_line(np.sort(values), x, radius), expected)


def test_noise_is_as_large_as_told():
    joint, _ = samples(*np.random.default_rng(0).normal(size=(2, 400)))
    values, noise = Neighbours(4).fit(joint).at(joint)  # the true log ratio is zero everywhere
    assert np.var(values) == pytest.approx(np.mean(noise), rel=0.25)


def test_none_with_few_rows_or_many_columns():
    random = np.random.default_rng(0)
    few = samples(*random.normal(size=(2, 30)))
    assert by_neighbours([few]) is None
    wide = tuple(replace(s, points=random.normal(size=(len(s), 7))) for s in samples(*random.normal(size=(2, 60))))
    assert by_neighbours([wide]) is None
