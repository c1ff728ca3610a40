"""Every detector against its formula written as a plain loop, or against the library's own estimator."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from vwkde.baselines.nearest import nn, nnwang
from vwkde.inspection.model.learnt.library import make_library
from vwkde.reproduce.surfaces.detectors import CANDIDATES, DETECTORS
from vwkde.reproduce.surfaces.pairs import common_balls, kernel_means, neighbour_distances

IMAGES, PATCHES = 7, 60


@pytest.fixture
def good():
    return np.random.default_rng(0).normal(size=(IMAGES, PATCHES, 4)).astype(np.float32)


@pytest.fixture
def query():
    """Patches of an image with a defect: the last three are far from all others."""
    patches = np.random.default_rng(1).normal(size=(PATCHES, 4)).astype(np.float32)
    patches[-3:] += 9
    return patches


@pytest.mark.parametrize("columns", [3, 4, 5, 9])
@pytest.mark.parametrize("k", [1, 2, 10, PATCHES])
def test_distances_to_neighbours_are_those_of_a_sort(columns, k):
    random = np.random.default_rng(columns)
    x, good = random.normal(size=(20, columns)), random.normal(size=(3, PATCHES, columns))
    wanted = [np.sort(cdist(x, image), axis=1)[:, k - 1] for image in good]
    found = neighbour_distances(x.astype(np.float32), good.transpose(0, 2, 1).astype(np.float32), k)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_equal_patches_are_at_distance_zero_and_count_as_often_as_they_are_there():
    x = np.zeros((1, 4), dtype=np.float32)
    good = np.repeat([[0.0], [0.0], [0.0], [2.0], [2.0], [5.0]], 4, axis=1).astype(np.float32).T[None].copy()
    found = [neighbour_distances(x, good, k)[0, 0] for k in (1, 3, 4, 5, 6)]
    np.testing.assert_allclose(found, [0, 0, 4, 4, 10])


def test_common_balls_hold_what_lies_within_the_larger_nearest_distance(good, query):
    distances = np.sort(cdist(query, query), axis=1)[:, 1:].astype(np.float32)
    radius, counts = common_balls(query, distances, np.ascontiguousarray(good.transpose(0, 2, 1)))
    for image in range(IMAGES):
        to_good = cdist(query, good[image])
        for row in range(PATCHES):
            within = max(distances[row, 0], to_good[row].min()) * (1 + 1e-6)
            for at, each in enumerate((distances[row], to_good[row])):
                assert counts[at, image, row] == np.count_nonzero(each <= within)
                assert radius[at, image, row] == pytest.approx(each[each <= within].max(), rel=1e-5)


def test_kernel_means_are_means_of_the_gaussian_kernel(good, query):
    found = kernel_means(query, np.ascontiguousarray(good.transpose(0, 2, 1)), 1.7)
    wanted = [np.exp(-(cdist(query, image) ** 2) / (2 * 1.7**2)).mean() for image in good]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def nearest_of(log_ratios):
    """Return the log ratios against the good image whose mean is the smallest."""
    return min(log_ratios, key=np.mean)


def test_kde_is_the_smallest_divergence_by_plain_estimates(good, query):
    detector = DETECTORS["kde"](good, 0)
    h = detector.library.bandwidth

    def log_density(x, sample, left_out):
        kernel = np.exp(-(cdist(x, sample) ** 2) / (2 * h**2))
        if left_out:
            np.fill_diagonal(kernel, 0)
        return np.log(kernel.sum(axis=1) / (len(sample) - left_out))

    x = query.astype(np.float64)
    wanted = nearest_of([log_density(x, x, True) - log_density(x, image, False) for image in good])
    found = detector(query)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-3, atol=1e-3)
    assert found.score == pytest.approx(wanted.mean(), abs=1e-3)


def test_kde_has_a_narrower_kernel_than_vwkde(good):
    assert DETECTORS["kde"](good, 0).library.bandwidth < DETECTORS["vwkde"](good, 0).library.bandwidth


def test_vwkde_is_the_comparison_with_the_library(good, query):
    wanted = make_library(good, CANDIDATES, 0).compare(query)
    found = DETECTORS["vwkde"](good, 0)(query)
    assert found.score == wanted.score
    np.testing.assert_array_equal(found.values, wanted.log_ratio)


@pytest.mark.parametrize("k", [1, 10])
def test_neighbours_are_those_of_the_estimator(good, query, k):
    x = query.astype(np.float64)
    wanted = nearest_of([nn(x, image.astype(np.float64), 0, k=k).at_numerator for image in good])
    found = DETECTORS[f"nn-{k}"](good, 0)(query)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-4, atol=1e-4)
    assert found.score == pytest.approx(wanted.mean(), abs=1e-4)


def test_nnwang_is_that_of_the_estimator(good, query):
    x = query.astype(np.float64)
    wanted = nearest_of([nnwang(x, image.astype(np.float64), 0).at_numerator for image in good])
    found = DETECTORS["nnwang"](good, 0)(query)
    np.testing.assert_allclose(found.values, wanted, rtol=1e-4, atol=1e-4)


def test_mmd_is_unbiased_and_its_values_are_the_witness_function(good, query):
    detector = DETECTORS["mmd"](good, 0)

    def kernel(x, y):
        return np.array([[np.exp(-((a - b) @ (a - b)) / (2 * detector.width**2)) for b in y] for a in x])

    x = query.astype(np.float64)
    own, n = kernel(x, x), PATCHES
    squared, witnesses = [], []
    for image in good.astype(np.float64):
        across, within = kernel(x, image), kernel(image, image)
        squared.append(((own.sum() - n) + (within.sum() - n)) / (n * (n - 1)) - 2 * across.mean())
        witnesses.append((own.sum(axis=1) - 1) / (n - 1) - across.mean(axis=1))
    found = detector(query)
    assert found.score == pytest.approx(min(squared), abs=1e-6)
    np.testing.assert_allclose(found.values, witnesses[int(np.argmin(squared))], atol=1e-6)


def test_mmd_is_as_wide_as_the_median_distance(good):
    medians = [np.median(cdist(image, image)[np.triu_indices(PATCHES, 1)]) for image in good]
    assert DETECTORS["mmd"](good, 0).width == pytest.approx(np.mean(medians), rel=1e-5)


def test_the_machine_calls_patches_outside_that_are_far_from_good_ones(good, query):
    found = DETECTORS["osvm"](good, 0)(query)
    assert set(np.argsort(found.values)[-3:]) == {PATCHES - 3, PATCHES - 2, PATCHES - 1}
    assert found.values[-1] > 0 > np.median(found.values)
    assert found.score == pytest.approx(found.values.mean())


@pytest.mark.parametrize("name", list(DETECTORS))
def test_a_large_defect_raises_every_score(good, name):
    clean = np.random.default_rng(2).normal(size=(PATCHES, 4)).astype(np.float32)
    defective = clean.copy()
    defective[:20] += 9
    detector = DETECTORS[name](good, 0)
    found = detector(defective)
    assert found.score > detector(clean).score
    assert np.median(found.values[:20]) > np.median(found.values[20:])


@pytest.mark.parametrize("name", ["nn-1", "nn-10", "nnwang", "kde"])
def test_equal_patches_leave_all_numbers_finite(good, name):
    query = good[0].copy()
    query[:5] = query[0]
    found = DETECTORS[name](good, 0)(query)
    assert np.isfinite(found.score)
    assert np.isfinite(found.values).all()
