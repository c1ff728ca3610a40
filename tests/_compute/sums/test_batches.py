import numpy as np
import pytest

from vwkde._compute import parallel
from vwkde._compute.engines import ENGINES
from vwkde._compute.resources import Resources
from vwkde._compute.sums import log_kernel_sums
from vwkde._compute.sums.batches import make_batch, mean_log_sums, mutual_mean_log_sums


def samples(columns, count=5, points=70, seed=0):
    return np.random.default_rng(seed).normal(size=(count, points, columns))


def oracle(x, y, bandwidth, own=False):
    return log_kernel_sums(x, y, bandwidth, leave_one_out=own, resources=Resources(ENGINES["reference"])).mean()


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 7, 16])
def test_all_pairs_are_those_of_the_oracle(columns):
    s = samples(columns)
    found = mutual_mean_log_sums(make_batch(s, s.mean(axis=(0, 1)), 0.8))
    expected = [[oracle(s[i], s[k], 0.8, i == k) for k in range(5)] for i in range(5)]
    np.testing.assert_allclose(found, expected, atol=2e-5)


def test_queries_may_have_another_number_of_points():
    s, q = samples(4), samples(4, count=3, points=41, seed=1)
    centre = s.mean(axis=(0, 1))
    found = mean_log_sums(make_batch(q, centre, 0.8), make_batch(s, centre, 0.8))
    expected = [[oracle(x, y, 0.8) for y in s] for x in q]
    np.testing.assert_allclose(found, expected, atol=2e-5)


@pytest.mark.parametrize("columns", [4, 16])
def test_one_point_far_from_everything_counts_fully(columns):
    s = samples(columns)
    s[2, 7] = 80.0
    batch = make_batch(s, s.mean(axis=(0, 1)), 0.5)
    found = mutual_mean_log_sums(batch)
    expected = [[oracle(s[i], s[k], 0.5, i == k) for k in range(5)] for i in range(5)]
    assert found[2, 0] < -300
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose(mean_log_sums(batch, batch)[2, [0, 1, 3]], found[2, [0, 1, 3]], rtol=1e-6)


def test_only_pairs_with_new_samples_are_computed():
    s = samples(4)
    batch = make_batch(s, s.mean(axis=(0, 1)), 0.8)
    whole, part = mutual_mean_log_sums(batch), mutual_mean_log_sums(batch, first=3)
    assert np.isnan(part[:3, :3]).all()
    np.testing.assert_array_equal(part[3:], whole[3:])
    np.testing.assert_array_equal(part[:, 3:], whole[:, 3:])


def test_threads_do_not_matter():
    s = samples(4, count=7)
    batch = make_batch(s, s.mean(axis=(0, 1)), 0.8)
    queries = make_batch(s[:2], s.mean(axis=(0, 1)), 0.8)
    found = []
    for n_threads in (1, 3):
        with parallel.at_most(n_threads):
            found.append((mutual_mean_log_sums(batch), mean_log_sums(queries, batch)))
    for one, three in zip(*found, strict=True):
        np.testing.assert_array_equal(one, three)
