import numpy as np
import pytest

from vwkde.inspection.model.features.patches import PatchGrid
from vwkde.inspection.model.features.registry import GradientMoments, as_features

GRID = PatchGrid()


def texture(seed=0, shape=(96, 128)):
    return np.random.default_rng(seed).random(shape).astype(np.float32)


def test_the_gradient_of_a_slope_is_its_steepness():
    rows, columns = np.mgrid[:96, :128].astype(np.float32)
    found = as_features("gradient")(0.003 * rows + 0.004 * columns)
    inner = found[1:-1, 1:-1]  # at the border the slope is reflected
    np.testing.assert_allclose(inner[..., 0], 0.005, rtol=1e-4)
    np.testing.assert_allclose(inner[..., 1], 0, atol=1e-6)


def test_flat_patches_are_zeros_not_nan():
    found = GradientMoments()(np.full((64, 64), 0.4, dtype=np.float32))
    np.testing.assert_allclose(found, 0, atol=1e-6)


def test_features_see_a_scratch():
    image = 0.1 * texture()
    scratched = image.copy()
    scratched[40:44, 50:90] += 0.8
    change = np.abs(GradientMoments()(scratched) - GradientMoments()(image)).max(axis=2)
    assert change[1:3, 2:5].min() > 0.5  # these hold a good part of it
    tops, lefts = GRID.starts(96), GRID.starts(128)
    far = (tops[:, None] + 32 < 34) | (tops[:, None] > 50) | (lefts + 32 < 44) | (lefts > 96)
    assert far.any()
    assert change[far].max() < 1e-3


def test_any_function_is_welcome_and_checked():
    image = texture()
    shape = GRID.shape(image.shape)
    found = as_features(lambda x: np.full((*shape, 2), x.mean()))(image)
    assert found.shape == (*shape, 2)
    assert found.dtype == np.float32
    with pytest.raises(ValueError, match=r"must return an array of shape \(4, 6, any number\)"):
        as_features(lambda x: x)(image)
    with pytest.raises(ValueError, match="must return finite numbers"):
        as_features(lambda _: np.full((*shape, 1), np.nan))(image)
    with pytest.raises(ValueError, match="must be one of"):
        as_features("pretty")
