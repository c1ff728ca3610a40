import numpy as np
import pytest
from sklearn.decomposition import FastICA

from vwkde._models.guides.fast_ica import fast_ica


@pytest.mark.parametrize(("columns", "steps"), [(2, 50), (6, 50), (6, 3)])
@pytest.mark.filterwarnings("ignore:FastICA did not converge")
def test_the_directions_are_those_of_scikit_learn(columns, steps):
    random = np.random.default_rng(0)
    x = random.laplace(size=(500, columns)) @ random.normal(size=(columns, columns))
    values, vectors = np.linalg.eigh(np.cov(x.T, bias=True))
    white = (x - x.mean(axis=0)) @ (vectors / np.sqrt(values))
    expected = FastICA(whiten=False, random_state=3, max_iter=steps, tol=1e-4).fit(white).components_
    found = fast_ica(white, steps, 1e-4, seed=3)
    np.testing.assert_allclose(found, expected, atol=1e-8)
    np.testing.assert_allclose(found @ found.T, np.eye(columns), atol=1e-12)
