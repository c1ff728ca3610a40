import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from vwkde._data.sample import Sample
from vwkde._models.guides.regression import fit_line


def sample(x, weight=None):
    return Sample(x, np.ones(len(x)) if weight is None else weight / weight.mean(), np.arange(len(x)))


def by_scikit_learn(p, q, inverse_ridge):
    x, rows = np.concatenate([p.points, q.points]), len(p) + len(q)
    weight = np.concatenate([s.weight * rows / (2 * len(s)) for s in (p, q)])
    model = LogisticRegression(C=inverse_ridge, tol=1e-12, max_iter=10_000)
    return model.fit(x, np.repeat([1, 0], [len(p), len(q)]), sample_weight=weight)


@pytest.mark.parametrize("inverse_ridge", [0.001, 0.1, 1.0, 1e4])
@pytest.mark.parametrize("apart", [0.0, 0.5, 30.0])
def test_the_minimum_is_that_of_scikit_learn(inverse_ridge, apart):
    random = np.random.default_rng(0)
    p = sample(random.normal(apart, 2.0, (90, 4)), random.uniform(0.5, 2, 90))
    q = sample(random.normal(size=(200, 4)))
    found, expected = fit_line(p, q, inverse_ridge), by_scikit_learn(p, q, inverse_ridge)
    np.testing.assert_allclose(found.coefficients, expected.coef_[0], rtol=1e-3, atol=1e-4)
    assert found.intercept == pytest.approx(expected.intercept_[0], rel=1e-3, abs=1e-3)


def test_columns_that_do_not_vary_or_are_copies_do_no_harm():
    random = np.random.default_rng(1)
    x, y = random.normal(0.5, 1, (60, 1)), random.normal(size=(60, 1))
    p, q = (sample(np.column_stack([each, each, np.zeros(60)])) for each in (x, y))
    found = fit_line(p, q, 1.0)
    assert found.coefficients[0] == pytest.approx(found.coefficients[1])
    assert found.coefficients[2] == 0


def test_many_features_have_the_same_minimum():
    random = np.random.default_rng(2)
    p, q = sample(random.normal(0.1, 1, (150, 65))), sample(random.normal(size=(150, 65)))
    found, expected = fit_line(p, q, 0.1), by_scikit_learn(p, q, 0.1)
    np.testing.assert_allclose(found.coefficients, expected.coef_[0], atol=1e-4)
    assert found.intercept == pytest.approx(expected.intercept_[0], abs=1e-4)
