"""A model that takes images of any size is served, within limits."""

import numpy as np
import pytest

pytest.importorskip("fastapi")

from support.serving import as_seen, file_of, served, surface
from vwkde.inspection import SurfaceInspector


def test_images_of_other_sizes_are_checked_up_to_four_times_the_pixels():
    inspector = SurfaceInspector(features="texture", size=(128, 128))
    inspector.fit([(f"good {seed}.png", as_seen(surface(seed))) for seed in range(20)])
    wide = np.tile(surface(100), 2)[:, :200]
    with served(inspector) as site:
        assert site.model()["any_size"]
        status, found = site.send("/api/check", file_of(wide))
        assert status == 200, found
        assert (found["image_width"], found["image_height"]) == (200, 128)
        assert all(box["right"] <= 200 for box in found["boxes_if_rejected"])
        status, found = site.send("/api/check", file_of(np.tile(wide, (3, 2))), "large.png")
        assert status == 422
        assert (
            found["detail"] == "large.png: the image has more than 65,536 pixels; scale it down or cut it into parts."
        )
