"""Nothing in the ignored part of an image can change its result, whatever the features."""

import numpy as np
import pytest

pytest.importorskip("safetensors")

from support.serving import as_seen, surface
from vwkde.inspection import ImageError, SurfaceInspector
from vwkde.inspection.model.features.registry import FEATURES
from vwkde.inspection.model.inspected_part import InspectedPart, ignoring

IMAGE = as_seen(surface(1))
IGNORED = np.zeros(IMAGE.shape, dtype=bool)
IGNORED[:20] = True
IGNORED[70:110, 40:90] = True


@pytest.mark.parametrize("features", FEATURES.values(), ids=FEATURES)
def test_features_see_nothing_of_the_ignored_part(features):
    other = np.where(IGNORED, 1 - IMAGE, IMAGE)
    seen = ignoring(features, IGNORED)
    np.testing.assert_array_equal(seen(IMAGE), seen(other))
    assert np.abs(features(IMAGE) - features(other)).max() > 0.1
    changed = IMAGE.copy()
    changed[60, 60] = 1 - changed[60, 60]
    assert np.abs(seen(IMAGE) - seen(changed)).max() > 0.001
    assert np.prod(seen.grid.shape(IMAGE.shape)) == len(seen(IMAGE).reshape(-1, seen(IMAGE).shape[-1]))


def test_ignored_pixels_take_the_nearest_value_and_the_lowest_of_the_map():
    mask = np.ones((5, 6), dtype=bool)
    mask[0], mask[3, 2:4] = False, False
    part = InspectedPart(mask)
    image = np.arange(30.0).reshape(5, 6)
    filled = part.filled(image)
    assert filled.shape == part.shape() == (4, 6)
    assert set(filled[2, 2:4]) <= {image[3, 1], image[3, 4], image[2, 2], image[2, 3], image[4, 2], image[4, 3]}
    placed = part.placed(image[1:])
    assert (placed[mask] == image[mask]).all()
    assert (placed[~mask] == 6).all()


@pytest.mark.parametrize("features", ["texture", "combined"])
def test_a_model_keeps_what_it_ignores(tmp_path, features):
    good = [as_seen(surface(seed)) for seed in range(20)]
    inspector = SurfaceInspector(features=features, ignore=IGNORED, candidates=3).fit(good)
    defect = IMAGE.copy()
    defect[75:105, 45:85] = 0.5
    inspector.save(tmp_path / "part.vwkde")
    loaded = SurfaceInspector.load(tmp_path / "part.vwkde")
    for each in (inspector, loaded):
        assert each.check(defect).score == each.check(IMAGE).score
    found = loaded.check(np.where(np.arange(128)[:, None] < 60, 0.5, IMAGE).astype(np.float32))
    assert found.verdict == "NG"
    assert not any(region.on(IMAGE.shape)[IGNORED].any() for region in found.regions())
    np.testing.assert_array_equal(loaded.ignore, IGNORED)
    with pytest.raises(ImageError, match="is 64 × 128 pixels, but must have 128 × 128"):
        loaded.check(IMAGE[:, :64])


@pytest.mark.parametrize(
    ("ignored", "words"),
    [
        (np.ones((8, 8), dtype=bool), "must leave pixels to inspect"),
        (np.ones((8, 8)), "must be an array of True and False"),
        (np.ones(8, dtype=bool), r"of shape \(8,\) instead"),
    ],
)
def test_masks_that_make_no_sense_are_refused(ignored, words):
    with pytest.raises(ValueError, match=words):
        SurfaceInspector(ignore=ignored).check_parameters()
