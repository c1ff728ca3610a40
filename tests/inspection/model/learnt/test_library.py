from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from vwkde import DensityRatio
from vwkde._compute import parallel
from vwkde._compute.engines import ENGINES
from vwkde._compute.resources import Resources
from vwkde._models.gaussian import fit_gaussian
from vwkde.inspection.model.learnt import library as module
from vwkde.inspection.model.learnt.library import Library, make_library

RNG = np.random.default_rng(0)


def surface(shift=0.0, patches=120, columns=3, random=RNG):
    """Patches of an image; images of one surface differ a little."""
    return (random.normal(size=(patches, columns)) + 0.1 * random.normal(size=columns) + shift).astype(np.float32)


@pytest.fixture(scope="module")
def library():
    random = np.random.default_rng(1)
    return make_library(np.stack([surface(random=random) for _ in range(12)]), candidates=4, seed=0)


def log_ratio(library, one, other):
    """The paper's estimator in the given coordinates; its own are those with unit pooled covariance."""
    x, y = one.astype(np.float64), other.astype(np.float64)
    centred = np.concatenate([x - x.mean(axis=0), y - y.mean(axis=0)])
    values, vectors = np.linalg.eigh(centred.T @ centred / (len(centred) - 2))
    root = vectors / np.sqrt(values) @ vectors.T
    ratio = DensityRatio(
        guide=None,
        derivatives="gaussian",
        bandwidth=library.bandwidth,
        length_scale=library.length_scale,
        max_basis=10**6,
    )
    return ratio.fit(x, y).numerator_log_ratio_, (x @ root).astype(np.float32), (y @ root).astype(np.float32)


def test_plain_divergences_are_those_of_kernel_estimates(library):
    """The library does not whiten again, so the comparison is with sums of its own coordinates."""
    from vwkde._compute.sums import log_kernel_sums

    query = surface()
    x = query.astype(np.float64)
    own = np.maximum(log_kernel_sums(x, x, library.bandwidth, leave_one_out=True), 0).mean() - np.log(119)
    expected = [
        own - (log_kernel_sums(x, y.astype(np.float64), library.bandwidth).mean() - np.log(120))
        for y in library.patches
    ]
    np.testing.assert_allclose(library.plain_divergences(query), expected, atol=1e-4)


def test_log_ratios_are_those_of_the_paper(library, monkeypatch):
    """Both agree in coordinates that `DensityRatio` does not change, with its ridge and all points as basis."""
    monkeypatch.setattr(module, "_BASIS", 10**6)
    monkeypatch.setattr(module, "_RIDGE", 0.1)
    monkeypatch.setattr(module, "_trust", lambda _models, points, _bandwidth: np.ones(len(points)))
    monkeypatch.setattr(module, "_at_least_itself", lambda estimate: estimate.left_out())
    expected, one, other = log_ratio(library, surface(shift=0.3), library.patches[0])
    alone = Library(other[None], library.bandwidth, library.length_scale, 1)
    np.testing.assert_allclose(alone.compare(one).log_ratio, expected, atol=1e-3)


def test_the_score_is_the_smallest_weighted_divergence_of_the_nearest(library):
    query = surface(shift=0.4)
    nearest = np.argsort(library.plain_divergences(query))[:4]
    single = [Library(library.patches[[image]], library.bandwidth, library.length_scale, 1) for image in nearest]
    each = [one.compare(query).score for one in single]
    found = library.compare(query)
    assert found.nearest == nearest[np.argmin(each)]
    assert found.score == min(each) == found.log_ratio.mean()


def test_good_images_are_scored_without_themselves(library):
    sums = library.mutual_sums()
    found = library.left_out(sums)
    for image in (0, 5):
        others = np.delete(np.arange(12), image)
        alone = Library(library.patches[others], library.bandwidth, library.length_scale, 4)
        expected = alone.compare(library.patches[image])
        assert found[image].score == pytest.approx(expected.score)
        assert found[image].nearest == others[expected.nearest]


def test_images_added_need_only_their_own_sums(library):
    part = Library(library.patches[:9], library.bandwidth, library.length_scale, 4)
    np.testing.assert_array_equal(library.mutual_sums(part.mutual_sums()), library.mutual_sums())


def test_another_surface_scores_higher_and_one_odd_patch_counts(library):
    good = [library.compare(surface()).score for _ in range(4)]
    assert library.compare(surface(shift=1.0)).score > max(good) + 0.3
    query = surface()
    query[7:9] = 40.0
    found = library.compare(query)
    assert found.score > max(good) + 5
    assert set(np.argsort(-found.log_ratio)[:2]) == {7, 8}


def test_threads_do_not_matter(library):
    query = surface(shift=0.3)
    with parallel.at_most(1):
        one = library.compare(query)
    with parallel.at_most(2):
        two = library.compare(query)
    assert one.score == two.score
    np.testing.assert_array_equal(one.log_ratio, two.log_ratio)


def test_worst_patches_are_compared_with_the_nearest_images_together(library):
    few = replace(library, worst=7)
    query = surface()
    query[:3] += 4
    found = few.compare(query)
    nearest = np.argsort(few.plain_divergences(query))[:4]
    spared = replace(library, patches=np.ascontiguousarray(library.patches[:, ::2]))  # 120 patches: one of two
    np.testing.assert_allclose(few.plain_divergences(query), spared.plain_divergences(query[::2]))
    x, good = query.astype(np.float64), library.patches[nearest].reshape(-1, 3).astype(np.float64)
    own = cdist(x, x, "sqeuclidean")
    np.fill_diagonal(own, np.inf)
    log_sums = [logsumexp(-d / (2 * library.bandwidth**2), axis=1) for d in (own, cdist(x, good, "sqeuclidean"))]
    expected = (log_sums[0] - np.log(119)) - (log_sums[1] - np.log(480))
    np.testing.assert_allclose(found.log_ratio, expected, atol=1e-4)
    assert found.score == pytest.approx(np.sort(expected)[-7:].mean(), abs=1e-4)
    assert found.nearest == nearest[0]
    assert set(np.argsort(found.log_ratio)[-3:]) == {0, 1, 2}


def test_a_patch_like_no_other_counts_in_full(library):
    """It is as unlikely in its own image as in the good ones, so its leave-one-out log ratio would be 0."""
    query = surface()
    query[0] = 12
    far = library.compare(query).log_ratio[0]
    nearest = np.linalg.norm(library.patches - query[0], axis=2).min()
    assert far > 0.5 * nearest**2 / (2 * library.bandwidth**2) > 50


def test_a_patch_like_no_other_counts_in_full_among_the_worst_if_asked_for(library):
    query = surface()
    query[0] = 12
    few = replace(library, worst=5)
    left_out, in_full = (replace(few, at_least_itself=asked).compare(query).log_ratio for asked in (False, True))
    nearest = np.linalg.norm(library.patches - query[0], axis=2).min()
    assert in_full[0] > 0.5 * nearest**2 / (2 * library.bandwidth**2) > left_out[0] + 50
    usual = left_out[1:] == in_full[1:]  # where other patches of the image are near, nothing changes
    assert usual.mean() > 0.5


def test_the_bias_of_far_patches_hardly_counts():
    """For one standard normal, h²/2 · ∇²p/p is h²/2 · (|x|² − d)."""
    points = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [10.0, 0.0, 0.0]])
    normal = fit_gaussian(np.random.default_rng(0).normal(size=(10**6, 3)), np.ones(10**6), "p")
    found = module._trust((normal, normal), points, bandwidth=0.5)
    expected = 1 / (1 + (0.125 * np.array([-3.0, 0.0, 97.0])) ** 2) ** 2
    np.testing.assert_allclose(found, expected / expected.mean(), rtol=0.02)
    assert found[2] < 1e-3


@pytest.mark.parametrize("worst", [None, 5])
def test_a_device_finds_what_the_cpu_finds(library, worst):
    pytest.importorskip("torch")
    library, there = replace(library, worst=worst), Resources(ENGINES["torch"])
    sums = library.mutual_sums()
    np.testing.assert_allclose(library.mutual_sums(resources=there), sums, rtol=1e-5)
    query = surface(shift=0.3)
    one, other = library.compare(query), library.compare(query, there)
    assert one.nearest == other.nearest
    np.testing.assert_allclose(other.log_ratio, one.log_ratio, atol=1e-5)
    scores = [[each.score for each in library.left_out(sums, resources)] for resources in (Resources(), there)]
    np.testing.assert_allclose(scores[1], scores[0], atol=1e-5)
