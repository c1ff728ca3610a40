import numpy as np
import pytest

from vwkde.inspection.model.made_up.changes import CHANGES, Site, pasted
from vwkde.inspection.model.made_up.defects import with_defects
from vwkde.inspection.model.made_up.shapes import blob, crack


def surface(shape=(128, 160)):
    return (0.5 + 0.1 * np.random.default_rng(0).standard_normal(shape)).clip(0, 1).astype(np.float32)


def test_defects_change_the_image_where_they_are():
    image = surface()
    for seed in range(20):
        changed, masks = with_defects(image, np.random.default_rng(seed), 3, surface())
        where = np.any(masks, axis=0)
        assert changed.min() >= 0
        assert changed.max() <= 1
        if where.any():
            assert np.abs(changed - image)[where].mean() > 5 * np.abs(changed - image)[~where].mean()


def test_defects_are_of_many_sizes():
    drawn = (with_defects(surface(), np.random.default_rng(seed), 3, surface()) for seed in range(20))
    shares = [mask.mean() for _, masks in drawn for mask in masks]
    assert np.median(shares) < 0.1
    assert max(shares) > 5 * np.median(shares)


def test_a_seed_makes_the_same_defects():
    one, other = (with_defects(surface(), np.random.default_rng(3), 3, surface()) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])


@pytest.mark.parametrize("shape", [(32, 32), (33, 400)])
def test_images_without_any_detail_have_defects_too(shape):
    flat = np.full(shape, 0.5, dtype=np.float32)
    for seed in range(20):
        changed, masks = with_defects(flat, np.random.default_rng(seed), 4, flat)
        assert np.isfinite(changed).all()
        assert [mask.shape for mask in masks] == [shape] * 4


def test_the_image_itself_stays_as_it_is():
    image = surface()
    with_defects(image, np.random.default_rng(1), 4, image)
    np.testing.assert_array_equal(image, surface())


@pytest.mark.parametrize("draw", [crack, blob])
def test_a_shape_covers_pixels_of_its_box(draw):
    for seed in range(30):
        (rows, columns), cover = draw((90, 140), np.random.default_rng(seed))
        assert cover.shape == (rows.stop - rows.start, columns.stop - columns.start)
        assert rows.stop <= 90
        assert columns.stop <= 140
        assert cover.size == 0 or 0 <= cover.min() <= cover.max() <= 1.5


@pytest.mark.parametrize("change", sorted(set(CHANGES), key=lambda each: each.__name__))
def test_a_change_returns_as_many_pixels_of_about_the_same_range(change):
    pixels, other = surface((20, 31)), surface()
    changes = []
    for seed in range(5):
        changed = change(Site(pixels, np.full_like(pixels, 0.05), other), np.random.default_rng(seed))
        assert changed.shape == pixels.shape
        assert np.isfinite(changed).all()
        changes.append(np.abs(changed - pixels).mean())
    assert 0.01 < np.mean(changes) < 0.5


def test_a_piece_that_is_as_large_as_the_image_becomes_a_tint():
    pixels = surface((20, 31))
    changed = pasted(Site(pixels, np.full_like(pixels, 0.05), pixels), np.random.default_rng(0))
    assert np.ptp(changed - pixels) < 1e-6
