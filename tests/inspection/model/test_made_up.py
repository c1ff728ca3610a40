import numpy as np
import pytest

from vwkde.inspection.model.made_up import with_defects


def surface(shape=(128, 160)):
    return (0.5 + 0.1 * np.random.default_rng(0).standard_normal(shape)).clip(0, 1).astype(np.float32)


def test_defects_change_the_image_where_they_are():
    image = surface()
    for seed in range(20):
        changed, masks = with_defects(image, np.random.default_rng(seed))
        where = np.any(masks, axis=0)
        assert changed.min() >= 0
        assert changed.max() <= 1
        if where.any():
            assert np.abs(changed - image)[where].mean() > 5 * np.abs(changed - image)[~where].mean()


def test_defects_are_of_many_sizes():
    shares = [mask.mean() for seed in range(20) for mask in with_defects(surface(), np.random.default_rng(seed))[1]]
    assert np.median(shares) < 0.1
    assert max(shares) > 5 * np.median(shares)


def test_a_seed_makes_the_same_defects():
    one, other = (with_defects(surface(), np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(one[0], other[0])


@pytest.mark.parametrize("shape", [(32, 32), (33, 400)])
def test_images_without_any_detail_have_defects_too(shape):
    changed, masks = with_defects(np.full(shape, 0.5, dtype=np.float32), np.random.default_rng(0))
    assert np.isfinite(changed).all()
    assert all(mask.shape == shape for mask in masks)
