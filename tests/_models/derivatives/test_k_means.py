import numpy as np
import pytest
from sklearn.cluster import KMeans

from vwkde._models.derivatives.k_means import _means, k_means


@pytest.mark.parametrize(("rows", "columns", "count"), [(60, 1, 2), (200, 3, 5), (900, 10, 8), (1_500, 2, 12)])
@pytest.mark.parametrize("seed", [0, 7])
def test_the_clusters_are_those_of_scikit_learn(rows, columns, count, seed):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns)) + 2 * (random.random((rows, 1)) < 0.5)
    x -= x.mean(axis=0)
    expected = KMeans(count, n_init=1, random_state=seed).fit(x).labels_
    np.testing.assert_array_equal(k_means(x, count, seed), expected)


def test_a_cluster_that_loses_its_rows_takes_the_one_farthest_from_its_centre():
    x = np.array([[-1.0], [-1.2], [1.0], [1.4], [9.0]])
    moved = _means(x, np.array([0, 0, 1, 1, 1]), np.array([[-1.0], [1.0], [50.0]]))
    np.testing.assert_allclose(moved, [[-1.1], [1.2], [9.0]])


@pytest.mark.parametrize("distinct", [1, 3])
def test_fewer_distinct_rows_than_clusters_are_their_own_clusters(distinct):
    x = np.repeat(np.arange(distinct)[:, None] * [1.0, -2.0], 5, axis=0)
    labels = k_means(x - x.mean(axis=0), 6, 0)
    assert len(np.unique(labels)) == distinct
    assert (labels.reshape(distinct, 5) == labels[::5, None]).all()
