import numpy as np
import pytest
from sklearn import covariance

from vwkde._coordinates.shrinkage import ledoit_wolf_shrinkage


@pytest.mark.parametrize(("rows", "columns"), [(5, 1), (8, 30), (200, 4), (2_000, 3)])
def test_it_is_that_of_scikit_learn(rows, columns):
    random = np.random.default_rng(0)
    x = random.normal(size=(rows, columns)) * np.arange(1, columns + 1)
    x -= x.mean(axis=0)
    expected = covariance.ledoit_wolf_shrinkage(x, assume_centered=True)
    assert ledoit_wolf_shrinkage(x) == pytest.approx(expected, rel=1e-9)


def test_rows_that_do_not_vary_are_not_shrunk():
    assert ledoit_wolf_shrinkage(np.zeros((4, 3))) == 0
