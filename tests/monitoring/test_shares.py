"""The shares of columns in a difference that is known exactly."""

import numpy as np
import pytest

from vwkde.monitoring._columns import Column
from vwkde.monitoring._shares import shares_of

ROWS = 3_000


def normal_pair(means, correlation=0.0, seed=0):
    """Return rows of two normal densities and their exact log ratio: shifts, or a correlation of the first two."""
    random = np.random.default_rng(seed)
    shape = (ROWS, max(2, len(means)))
    x, y = random.normal(size=shape), random.normal(size=shape)
    y[:, 1] = correlation * y[:, 0] + np.sqrt(1 - correlation**2) * y[:, 1]
    y[:, : len(means)] += means

    def log_ratio(z):
        shift = z[:, : len(means)] @ means - 0.5 * np.dot(means, means)
        a, b, r = z[:, 0], z[:, 1], correlation
        quadratic = (a**2 + b**2 - 2 * r * a * b) / (1 - r**2) - a**2 - b**2
        return shift - 0.5 * quadratic - 0.5 * np.log(1 - r**2)

    return x, y, log_ratio(x), log_ratio(y)


def named(x, y):
    return [Column(str(k), x[:, k], y[:, k]) for k in range(x.shape[1])]


def test_equal_shifts_have_equal_shares_and_still_columns_none():
    x, y, at_x, at_y = normal_pair(np.array([0.5, 0.5, 0.0, 0.0]))
    shares = shares_of(named(x, y), at_x, at_y)
    np.testing.assert_allclose(shares.share, [0.5, 0.5, 0, 0], atol=0.04)
    assert shares.explained > 0.95


def test_a_change_of_dependence_is_shared_by_the_two_columns():
    x, y, at_x, at_y = normal_pair(np.zeros(3), correlation=0.7)
    shares = shares_of(named(x, y), at_x, at_y)
    np.testing.assert_allclose(shares.share, [0.5, 0.5, 0], atol=0.04)


@pytest.mark.parametrize("copy", [lambda v: v, np.exp, lambda v: -3 * v + 1])
def test_copies_do_not_hide_each_other(copy):
    x, y, at_x, at_y = normal_pair(np.array([0.5, 0.5, 0.0]))
    columns = named(*(np.column_stack([z, copy(z[:, 0])]) for z in (x, y)))
    shares = shares_of(columns, at_x, at_y)
    assert shares.groups == [[0, 3], [1], [2]]
    np.testing.assert_allclose(shares.share, [0.5, 0.5, 0], atol=0.04)


def test_correlated_columns_share_what_both_know():
    x, y, at_x, at_y = normal_pair(np.array([0.8]))
    random = np.random.default_rng(1)
    columns = named(*(np.column_stack([z, z[:, 0] + random.normal(0, 0.7, len(z))]) for z in (x, y)))
    share = shares_of(columns, at_x, at_y).share
    assert share[0] > share[2] > 0.2
    assert share[1] < 0.03


def test_a_ratio_of_one_has_no_shares():
    x, y, *_ = normal_pair(np.zeros(2))
    assert shares_of(named(x, y), np.zeros(ROWS), np.zeros(ROWS)) is None


def test_categories_and_gaps_are_columns_like_others():
    random = np.random.default_rng(0)
    sides = []
    for shares, gap in (([0.5, 0.5], 0.1), ([0.8, 0.2], 0.3)):
        category = random.choice(2, size=ROWS, p=shares).astype(float)
        number = np.where(random.random(ROWS) < gap, np.nan, random.normal(size=ROWS))
        at = np.log(np.where(category == 0, 1.6, 0.4)) + np.log(np.where(np.isnan(number), 3.0, 7 / 9))
        sides.append((category, number, at))
    (c, x, at_x), (d, y, at_y) = sides
    shares = shares_of([Column("c", c, d, ("a", "b")), Column("x", x, y)], at_x, at_y)
    # the triangular discriminations of the two columns alone are 0.099 and 0.0625, and they are independent
    np.testing.assert_allclose(shares.share, [0.61, 0.39], atol=0.05)
