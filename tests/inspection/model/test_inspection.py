"""The verdict depends on the score, regions on the map, and the boxes shown on both."""

from dataclasses import replace

import numpy as np
import pytest

from vwkde.inspection import Inspection
from vwkde.inspection.model.regions import Box

MAP = np.zeros((20, 30), dtype=np.float32)
MAP[2:5, 3:9], MAP[10:12, 20:30] = 5.0, 3.0
HIGH, LOW = Box(2, 3, 5, 9), Box(10, 20, 12, 30)


@pytest.fixture
def found():
    return Inspection("part", 2.0, 0.01, 1.0, "good 3", MAP, 2.5, 1.0)


def boxes(regions):
    return [region.box for region in regions]


def test_the_verdict_goes_by_the_score_alone(found):
    assert (found.rejected, found.verdict) == (True, "NG")
    for passing in (replace(found, score=1.0), replace(found, threshold=np.inf)):
        assert (passing.rejected, passing.verdict) == (False, "OK")


def test_regions_go_by_the_map_alone(found):
    for each in (found, replace(found, score=0.0)):
        assert boxes(each.regions()) == [HIGH, LOW]
        assert boxes(each.regions(4.0)) == [HIGH]
        assert boxes(each.regions(9.0)) == []


def test_boxes_are_shown_of_rejected_images_only(found):
    assert found.shown_boxes == found.boxes_if_rejected == [HIGH, LOW]
    passing = replace(found, score=0.0)
    assert passing.shown_boxes == []
    assert passing.boxes_if_rejected == [HIGH, LOW]


def test_a_rejected_image_whose_map_stays_low_shows_its_highest_region(found):
    low = replace(found, map_threshold=7.0)
    assert low.regions() == []
    assert low.shown_boxes == [HIGH]


def test_boxes_may_be_limited_to_places_near_the_peak(found):
    limited = replace(found, boxed_share=0.7)
    assert limited.shown_boxes == [HIGH]
    assert boxes(limited.regions()) == [HIGH, LOW]
    assert replace(found, boxed_share=0.5).shown_boxes == [HIGH, LOW]
