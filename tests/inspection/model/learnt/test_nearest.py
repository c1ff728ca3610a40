"""Patches against the nearest good ones."""

import numpy as np
import pytest

from vwkde.inspection.model.learnt.nearest import keep_patches

RANDOM = np.random.default_rng(5)
PATCHES = RANDOM.normal(size=(30, 900, 6)).astype(np.float32)


@pytest.fixture(scope="module")
def library():
    return keep_patches(PATCHES, worst=3, seed=0)


def test_values_are_those_of_the_nearest_kept_patch(library):
    query = RANDOM.normal(size=(700, 6)).astype(np.float32)
    kept = library.patches.reshape(-1, 6).astype(np.float64)
    squares = np.array([np.square(kept - each).sum(axis=1).min() for each in query])
    found = library.compare(query)
    np.testing.assert_allclose(found.log_ratio, squares / (2 * library.bandwidth**2), rtol=1e-5)
    assert found.score == pytest.approx(np.sort(found.log_ratio)[-3:].mean())
    assert library.compare(PATCHES[7]).nearest == 7


def test_a_good_image_is_judged_by_the_others(library):
    judged = library.left_out(PATCHES[3:4], first=3)[0]
    kept = np.delete(library.patches, 3, axis=0).reshape(-1, 6)
    squares = np.array([np.square(kept - each).sum(axis=1).min() for each in PATCHES[3]])
    np.testing.assert_allclose(judged.log_ratio, squares / (2 * library.bandwidth**2), rtol=1e-4)
    assert 3 not in judged.neighbours
    assert len(set(judged.neighbours.tolist())) == 10
    assert judged.score > library.compare(PATCHES[3]).score


def test_other_patches_of_a_good_image_are_judged_by_the_others_too(library):
    again = library.compare_with_others(PATCHES[3], 3)
    assert again.score == library.left_out(PATCHES[3:4], first=3)[0].score
    assert 3 not in again.neighbours


def test_patches_that_differ_are_kept():
    rare = np.zeros((3, 500, 2), dtype=np.float32)
    rare[:, :4] = [[9, 0], [0, 9], [-9, 0], [0, -9]]
    rare += RANDOM.normal(scale=0.01, size=rare.shape).astype(np.float32)
    for image in keep_patches(rare, worst=1, seed=1).patches:
        assert all((np.linalg.norm(image - each, axis=1) < 0.1).any() for each in ([9, 0], [0, 9], [-9, 0], [0, -9]))


def test_more_images_and_back(library):
    new = RANDOM.normal(3, 1, size=(1, 900, 6)).astype(np.float32)
    grown = library.grown(new, seed=30)
    assert grown.compare(new[0]).score < 0.5 * library.compare(new[0]).score
    np.testing.assert_array_equal(grown.fewer(30).patches, library.patches)


def test_images_without_any_variation_are_refused():
    with pytest.raises(ValueError, match="patches of the good images are all alike"):
        keep_patches(np.ones((4, 50, 3), dtype=np.float32), worst=1, seed=0)
