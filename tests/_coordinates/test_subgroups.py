import numpy as np
import pytest

from vwkde._coordinates.subgroups import Limits, Subgroup, hold_all


def test_further_columns_are_zero_outside_and_standard_inside():
    random = np.random.default_rng(0)
    x = random.normal(size=(500, 4))
    limits = (Limits(0, -np.inf, 0.0), Limits(3, 0.5, np.inf))
    inside = (x[:, 0] <= 0) & (x[:, 3] >= 0.5)
    assert np.array_equal(hold_all(limits, x), inside)
    belongs, one, two, square, other, product = Subgroup.of(limits, (1, 2), x).further(x)
    assert np.array_equal(belongs, inside)
    for values, column in ((one, 1), (two, 2)):
        assert not values[~inside].any()
        expected = (x[inside, column] - x[inside, column].mean()) / x[inside, column].std()
        assert values[inside] == pytest.approx(expected)
    assert square == pytest.approx(one**2)
    assert other == pytest.approx(two**2)
    assert product == pytest.approx(one * two)


def test_a_column_that_is_constant_inside_stays_finite():
    x = np.column_stack([np.repeat([0.0, 1.0], 10), np.repeat([2.0, 5.0], 10)])
    for values in Subgroup.of((Limits(0, 1.0, 1.0),), (1,), x).further(x):
        assert np.isfinite(values).all()


def test_without_columns_only_who_belongs_is_told():
    x = np.arange(10.0)[:, None]
    (belongs,) = Subgroup.of((Limits(0, 3.0, 6.0),), (), x).further(x)
    assert belongs.tolist() == [0, 0, 0, 1, 1, 1, 1, 0, 0, 0]
