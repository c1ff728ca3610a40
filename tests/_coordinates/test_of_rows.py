import numpy as np
import pytest

from vwkde._coordinates.derived import standard
from vwkde._coordinates.of_rows import AtLimits, Direction, Distance, at_limits, directions, equal, repeated


def columns_of(x):
    return [standard(x, number) for number in range(x.shape[1])]


def factor(random, rows=4_000):
    """Return six columns in units of their own that share one factor."""
    return (random.normal(size=(rows, 1)) + 0.3 * random.normal(size=(rows, 6))) * np.geomspace(1, 1e4, 6) + 7


def test_the_first_direction_is_what_columns_share_and_the_distance_is_the_rest():
    x = factor(np.random.default_rng(0))
    parts = list(directions(x, columns_of(x)))
    mean, main, *_ = (part for part in parts if isinstance(part, Direction))
    beyond = next(part for part in parts if isinstance(part, Distance))
    assert abs(np.corrcoef(mean(x), main(x))[0, 1]) > 0.999
    z = np.column_stack([column(x) for column in columns_of(x)])
    np.testing.assert_allclose(mean(x), z.sum(axis=1) / np.sqrt(6))
    np.testing.assert_allclose(beyond(x) ** 2 + main(x) ** 2, (z**2).sum(axis=1))


def test_directions_do_not_depend_on_units():
    x = factor(np.random.default_rng(1))
    other = x * [3, 5, 1e-3, 2, 7, 1e3] + 11
    for one, same in zip(directions(x, columns_of(x)), directions(other, columns_of(other)), strict=True):
        sign = np.sign(one(x) @ same(other))
        np.testing.assert_allclose(sign * same(other), one(x), rtol=1e-6, atol=1e-6)


def test_an_outlier_ends_where_it_does_not_turn_the_directions():
    x = factor(np.random.default_rng(2))
    x[0, 3] = 1e300
    assert all(np.isfinite(part(x)).all() for part in directions(x, columns_of(x)))


def test_repeated_values_are_counted():
    x = np.array([[1.0, 1, 2, 2], [1, 2, 1, 2], [3, 3, 3, 3], [1, 2, 3, 4]])
    np.testing.assert_array_equal(repeated(x)(x), [[2, 2], [0, 2], [3, 1], [0, 4]])


def test_columns_without_common_values_repeat_none():
    x = np.random.default_rng(3).normal(size=(1_000, 3))
    assert repeated(x) is None
    assert equal(x, 0, 1) is None
    x[:100, 1] = x[:100, 0]
    np.testing.assert_array_equal(equal(x, 0, 1)(x), np.arange(1_000) < 100)
    assert repeated(x)(x)[:100, 0].tolist() == [1] * 100


def test_values_at_a_limit_are_counted_in_columns_of_many_values():
    random = np.random.default_rng(4)
    x = np.column_stack([np.maximum(random.normal(size=(1_000, 3)), -0.5), random.integers(0, 2, 1_000)])
    x[:, 2] = np.minimum(x[:, 2], 0.8)
    found = at_limits(x, fewest_values=12)
    assert found.columns == (0, 1, 2)
    expected = (x[:, 0] == -0.5).astype(int) + (x[:, 1] == -0.5) + (x[:, 2] == found.values[2])
    np.testing.assert_array_equal(found(x), expected)
    assert AtLimits((1,), np.array([-0.5]))(x).sum() == (x[:, 1] == -0.5).sum()


@pytest.mark.parametrize("columns", [1, 3])
def test_one_column_with_a_limit_is_left_to_others(columns):
    x = np.random.default_rng(5).normal(size=(500, columns))
    x[:, 0] = np.maximum(x[:, 0], 0)
    assert at_limits(x, fewest_values=12) is None
