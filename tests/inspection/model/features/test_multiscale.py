import numpy as np
import pytest

from vwkde.inspection import SurfaceInspector, make_surfaces
from vwkde.inspection.model.coordinates import fit_scaled_coordinates
from vwkde.inspection.model.features.multiscale import MultiScale

FEATURES = MultiScale()
GRAY = 36
"""The place of the mean gray value, after six features of each of six wavelengths."""


@pytest.fixture(scope="module")
def surfaces():
    return make_surfaces("granular", n_good=45, n_bad=8, size=128)


@pytest.fixture(scope="module")
def inspector(surfaces):
    return SurfaceInspector(features="multiscale").fit(surfaces.images[:25])


def test_features_of_each_copy_come_one_after_the_other():
    image = np.random.default_rng(0).random((130, 201)).astype(np.float32)
    features = FEATURES(image)
    assert features.shape == (9 * 13 + 4 * 6, 1, 41)
    np.testing.assert_array_equal(features[:, 0, -1], np.repeat([0, 1], [9 * 13, 4 * 6]))
    first = features[: 9 * 13, 0, GRAY].reshape(9, 13)
    assert first[2, 3] == pytest.approx(image[32:64, 48:80].mean(), abs=1e-6)


def test_an_image_half_as_large_has_the_features_of_the_second_copy():
    rows, columns = np.mgrid[:256, :256]
    waves = (0.5 + 0.2 * np.cos(2 * np.pi * (columns + 0.4 * rows) / 17.0)).astype(np.float32)
    large, small = FEATURES(waves)[:, 0], FEATURES(waves[::2, ::2])[:, 0]
    second = large[large[:, -1] == 1].reshape(7, 7, 41)[1:-1, 1:-1]
    alone = small[small[:, -1] == 0].reshape(7, 7, 41)[1:-1, 1:-1]
    strong = np.argsort(alone[2, 2, :36:6])[-2:]  # only waves that are there can agree
    np.testing.assert_allclose(second[..., :36:6][..., strong], alone[..., :36:6][..., strong], atol=0.15)


def test_copies_are_whitened_apart_and_scaled_to_one_reach():
    random = np.random.default_rng(1)
    numbers = np.repeat([0.0, 1.0], 300)[:, None]
    images = [
        np.hstack([random.normal(size=(600, 3)) * np.where(numbers, 50.0, 1.0) + 7 * numbers, numbers])
        for _ in range(24)
    ]
    coordinates = fit_scaled_coordinates(images, 3, 0)
    mapped = np.array([coordinates(image) for image in images])
    assert mapped.shape == (24, 600, 4)
    spreads = [mapped[:, rows, :3].std() for rows in (slice(300), slice(300, None))]
    assert spreads[0] == pytest.approx(spreads[1], rel=0.2)
    assert mapped[:, 300:, 3].min() - mapped[:, :300, 3].max() == 64


def test_defects_are_found_and_their_place(surfaces, inspector):
    found = [inspector.check(image) for image in surfaces.images[45:]]
    masks = surfaces.masks[45:]
    assert sum(result.rejected for result in found) >= 6
    inside = [
        each.log_ratio[mask].mean() > each.log_ratio[~mask].mean() for each, mask in zip(found, masks, strict=True)
    ]
    assert sum(inside) >= 7


def test_good_images_pass(surfaces, inspector):
    assert sum(inspector.check(image).rejected for image in surfaces.images[25:45]) <= 4


def test_a_saved_model_gives_the_same_scores(surfaces, inspector, tmp_path):
    inspector.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde")
    for image in surfaces.images[44:47]:
        one, other = inspector.check(image), loaded.check(image)
        assert one.score == other.score
        np.testing.assert_array_equal(one.log_ratio, other.log_ratio)
