import numpy as np

from vwkde._data.order import canonical_order


def test_order_does_not_depend_on_rows_or_rotation():
    x = np.random.default_rng(0).normal(size=(300, 3))
    expected = x[canonical_order(x)]
    shuffle = np.random.default_rng(1).permutation(300)
    np.testing.assert_array_equal(x[shuffle][canonical_order(x[shuffle])], expected)
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    np.testing.assert_array_equal(canonical_order(x @ turn), canonical_order(x))


def test_order_of_lattice_points_with_equal_distances():
    x = np.random.default_rng(0).integers(-2, 3, size=(200, 2)).astype(float)
    shuffle = np.random.default_rng(1).permutation(200)
    np.testing.assert_array_equal(x[canonical_order(x)], x[shuffle][canonical_order(x[shuffle])])
