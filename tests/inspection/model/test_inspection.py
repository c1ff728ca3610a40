"""The verdict depends on the score, regions on the map, and the boxes shown on both."""

from dataclasses import replace

import numpy as np
import pytest

from vwkde.inspection import Inspection
from vwkde.inspection.model.map_colours import map_colours
from vwkde.inspection.model.regions import Box

MAP = np.zeros((20, 30), dtype=np.float32)
MAP[2:5, 3:9], MAP[10:12, 20:30] = 6.0, 2.8
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


def test_a_rejected_image_is_coloured_somewhere(found):
    low = replace(found, map_threshold=7.0)
    coloured = map_colours(low.log_ratio, low.coloured_from)[..., 3] > 0
    np.testing.assert_array_equal(coloured, MAP == 6.0)
    assert found.coloured_from == found.map_threshold
    assert replace(low, score=0.0).coloured_from == 7.0  # one that passes stays clear


def test_regions_are_outlined_where_they_are_nearly_as_high_as_their_own_peak(found):
    smeared = MAP.copy()
    smeared[:8, :15] = np.maximum(smeared[:8, :15], 2.3)
    each = replace(found, log_ratio=smeared, map_threshold=2.2)
    assert boxes(each.regions()) == [Box(0, 0, 8, 15), LOW]
    assert each.shown_boxes == [HIGH, LOW]
    np.testing.assert_array_equal(each.outlines[0].on(MAP.shape), MAP == 6.0)


def test_a_thin_crack_stays_thin_where_the_map_is_high_everywhere(found):
    values = np.full((20, 30), 3.5, dtype=np.float32)
    values[9:12, 5:25], values[10, 5:25] = 4.3, 6.0
    (region,) = replace(found, log_ratio=values).outlines
    assert region.box == Box(10, 5, 11, 25)


def test_what_is_connected_in_the_map_stays_one_region(found):
    chain = np.zeros((20, 30), dtype=np.float32)
    chain[5, 2:28], chain[5, 4], chain[5, 20] = 3.0, 9.0, 8.0
    (region,) = replace(found, log_ratio=chain).outlines
    assert (region.box, region.peak) == (Box(5, 4, 6, 21), 9.0)
    assert np.count_nonzero(region.mask) == 2
