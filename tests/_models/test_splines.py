import numpy as np
from sklearn.preprocessing import SplineTransformer

from vwkde._models.guides.splines import AdditiveSplines


def test_the_splines_are_those_of_scikit_learn_also_beyond_the_knots():
    random = np.random.default_rng(0)
    x = random.normal(size=(200, 2))
    knots = np.quantile(x, np.linspace(0, 1, 8), axis=0)
    expected = SplineTransformer(knots=knots, extrapolation="linear", include_bias=False).fit(x)
    splines, far = AdditiveSplines(8).fit(x), 3 * random.normal(size=(100, 2))
    assert (np.abs(far) > np.abs(x).max()).any()
    np.testing.assert_allclose(splines.transform(x), expected.transform(x), atol=1e-12)
    np.testing.assert_allclose(splines.transform(far), expected.transform(far), atol=1e-12)


def test_columns_have_knots_of_their_own():
    x = np.random.default_rng(0).normal(size=(300, 2))
    assert AdditiveSplines((8, 16)).fit(x).transform(x).shape == (300, 9 + 17)
    straight = AdditiveSplines((8, 16), straight=True).fit(x).transform(x)
    np.testing.assert_array_equal(straight[:, -2:], x)
