import numpy as np
import pytest
from scipy import stats

from vwkde._coordinates.derived import (
    Combination,
    OnCircles,
    Parts,
    SharedCurves,
    Standard,
    WithDerived,
    find_heaps,
    period_of,
    shared_curves,
    standard,
    steps_of,
)
from vwkde._coordinates.normal_scores import fit_normal_scores

x = np.random.default_rng(0).normal(size=(400, 4))


def as_given(*columns):
    """Return columns that are in units of one already."""
    return tuple(Standard(column, 0.0, 1.0) for column in columns)


def test_columns_are_in_units_of_their_quartiles():
    for values in (x, 1e300 * x + 3e299, 1e-300 * x, np.round(5 * x)):
        each = standard(values, 2)
        assert np.subtract(*np.quantile(each(values), [0.75, 0.25])) == pytest.approx(1)
        assert np.quantile(each(values), 0.5) == pytest.approx(0, abs=1e-9)
    assert standard(np.ones((10, 1)), 0) is None
    assert standard(np.repeat([[-1.7e308], [1.7e308]], 5, axis=0), 0) is None


def test_outliers_do_not_overflow():
    rows = x.copy()
    rows[0] = 1e300
    both = Combination(standard(rows, 0), standard(rows, 1), 1)
    assert np.isfinite(both(rows)).all()
    assert both(rows).argmax() == 0


def test_a_combination_is_a_sum_or_a_difference():
    first, second = standard(x, 1), standard(x, 3)
    np.testing.assert_allclose(Combination(first, second, -1)(x), first(x) - second(x), atol=1e-9)
    np.testing.assert_allclose(Combination(first, second, 1)(x), first(x) + second(x), atol=1e-9)


def test_equal_sums_of_whole_numbers_stay_equal_in_other_units():
    whole = np.random.default_rng(1).integers(0, 40, (400, 2)).astype(float)
    counts = [
        len(np.unique(Combination(standard(rows, 0), standard(rows, 1), 1)(rows)))
        for rows in (whole, 0.1 * whole, whole / 3 + 7)
    ]
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("columns", [x[:, 0], x[:, 2], x[:, 3]]),
        ("steps", [(x[:, 2] - 0.5 * x[:, 0]) / 2, (x[:, 3] + x[:, 2]) / 4]),
        ("distances", [abs(x[:, 0] - x[:, 2]), abs(x[:, 0] - x[:, 3]), abs(x[:, 2] - x[:, 3])]),
    ],
)
def test_parts_of_a_row(kind, expected):
    np.testing.assert_allclose(list(Parts(as_given(0, 2, 3), kind, (0.5, -1.0), (2.0, 4.0))(x)), expected)


def test_steps_of_a_walk_are_its_steps():
    steps = np.random.default_rng(2).normal(size=(20_000, 4))
    walk = np.cumsum(steps, axis=1) * [1, 100, 0.01, 1] + [0, 5, 0, -3]
    parts = steps_of(walk, [standard(walk, column) for column in range(4)])
    for part, step in zip(parts(walk), steps.T[1:], strict=True):
        assert np.corrcoef(part, step)[0, 1] > 0.999
        assert np.subtract(*np.quantile(part, [0.75, 0.25])) == pytest.approx(1)
    assert steps_of(walk, [standard(walk, 0)] * 2) is None  # no step is left


def test_shared_curves_are_means_of_hats():
    """With a column of normal quantiles the normal scores are its values, so that a hat is known."""
    column = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    curves = shared_curves(column[:, None], Parts(as_given(0), "columns"))
    step = 0.7  # from one of the nine knots to the next
    hats = curves(np.array([[-2.8], [-2.8 + step / 2], [0.0], [step / 4], [2.8], [9.0]]))
    expected = np.zeros((6, 8))
    expected[0, 0] = 1
    expected[1, :2] = 0.5
    expected[3, 4] = 0.25  # the middle hat, which has the rest, is left out
    expected[4:, 7] = 1
    np.testing.assert_allclose(hats, expected, atol=0.01)
    several = SharedCurves(Parts(as_given(0, 1), "columns"), curves.quantiles)
    rows = np.array([[-2.8, 9.0]])
    np.testing.assert_allclose(several(rows), (curves(rows[:, :1]) + curves(rows[:, 1:])) / 2)


def test_heaps_are_values_that_occur_more_often_than_those_beside_them():
    ages = np.concatenate([np.repeat(np.arange(20.0, 70), 4), np.repeat(np.arange(20.0, 70, 5), 12)])
    heaps = find_heaps(ages, 1)
    at = heaps(np.column_stack([np.zeros(4), [40.0, 45, 41, 44]]))
    np.testing.assert_allclose(at[:2], np.log(17 / 5))  # 16 rows, and 4 of each value beside
    np.testing.assert_allclose(at[2:], np.log(5 / 7))  # 4 rows, and 6 on average
    assert heaps(np.array([[0.0, 40.5]])) == heaps.excess.min()  # it has not occurred


def test_columns_without_heaps():
    assert find_heaps(x[:, 0], 0) is None  # no value occurs twice
    assert find_heaps(np.repeat(np.arange(5.0), 80), 0) is None  # a few levels


def test_angles_are_told_from_other_columns():
    random = np.random.default_rng(1)
    turns = random.uniform(size=2_000)
    assert period_of(2 * np.pi * turns) == pytest.approx(2 * np.pi)
    assert period_of(2 * np.pi * turns - np.pi) == pytest.approx(2 * np.pi)
    assert period_of((random.vonmises(2.0, 0.8, 2_000) + 2 * np.pi) % (2 * np.pi)) == pytest.approx(2 * np.pi)
    assert period_of(360 * turns) == 360
    assert period_of(np.floor(24 * turns)) == 24
    few = random.normal(size=100)
    near = np.append(0.6 * few, [-3.14, 3.14])  # within ±π by chance
    for other in (random.normal(size=2_000), near, turns, 360 * turns**4, 100 * turns, np.round(turns), 5 * turns):
        assert period_of(other) is None


def test_places_on_circles_do_not_depend_on_where_an_angle_begins_and_have_variance_one():
    angles = np.random.default_rng(2).uniform(0, 360, (5_000, 1))
    circles = OnCircles(lambda rows: rows, {1: 360.0})
    one, other = (circles(np.column_stack([angles, shifted])) for shifted in (angles, angles - 360))
    np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_array_equal(one[:, 0], angles[:, 0])
    np.testing.assert_allclose(np.cov(one[:, 1:].T), np.eye(2), atol=0.05)


def test_differences_of_angles_do_not_depend_on_where_they_begin():
    angles = np.random.default_rng(3).uniform(-np.pi, np.pi, (50, 3))
    circles = OnCircles(lambda rows: rows, dict.fromkeys(range(3), 2 * np.pi), differences=True)
    turned = (angles + 1 + np.pi) % (2 * np.pi) - np.pi
    np.testing.assert_allclose(circles(turned), circles(angles), atol=1e-9)
    np.testing.assert_allclose(circles(angles)[:, 1], np.sqrt(2) * np.cos(angles[:, 0] - angles[:, 2]), atol=1e-9)


def test_further_columns_are_normal_scores():
    difference = Combination(*as_given(0, 1), -1)
    values = difference(x)[:, None]
    scores = fit_normal_scores(values, values, (np.ones(400), np.ones(400)))
    columns = WithDerived(lambda rows: rows, (difference,), scores)(x)
    np.testing.assert_array_equal(columns[:, :4], x)
    assert stats.spearmanr(columns[:, 4], values[:, 0]).statistic == pytest.approx(1)
    assert stats.kstest(columns[:, 4], "norm").statistic < 0.01
