"""Regions of a map at a level."""

import numpy as np
import pytest

from vwkde.inspection.model.regions import Box, box_about, find_regions, near_peak


@pytest.mark.parametrize(("peak", "level"), [(10.0, 9.0), (-10.0, -11.0), (0.0, 0.0)])
def test_a_share_of_the_largest_value_lies_below_it(peak, level):
    assert near_peak(np.array([[peak, peak - 50]]), 0.9) == pytest.approx(level)


def test_regions_come_highest_first_and_larger_before_smaller():
    values = np.zeros((6, 9))
    values[0, 0] = 3
    values[4:6, 1:3] = 5
    values[2, 6:9] = 3
    first, second, third = find_regions(values, 3)
    assert [region.peak for region in (first, second, third)] == [5, 3, 3]
    assert [region.box for region in (first, second, third)] == [Box(4, 1, 6, 3), Box(2, 6, 3, 9), Box(0, 0, 1, 1)]
    np.testing.assert_array_equal(first.on(values.shape), values == 5)
    assert first.mask.shape == (2, 2)
    assert third.mask.sum() == 1


def test_pixels_that_meet_at_a_corner_are_one_region():
    values = np.eye(4)
    (region,) = find_regions(values, 1)
    assert region.box == Box(0, 0, 4, 4)
    assert region.mask.sum() == 4


def test_nothing_reaches_a_level_above_the_largest_value():
    assert find_regions(np.ones((3, 3)), 2) == []


def test_many_regions_take_no_more_room_than_the_map():
    values = np.zeros((256, 256))
    values[::8, ::8] = 1
    regions = find_regions(values, 1)
    assert len(regions) == 1_024
    assert sum(region.mask.nbytes for region in regions) == 1_024
    assert sum(region.on(values.shape) for region in regions).sum() == 1_024


def test_a_box_lies_about_all_that_is_true():
    mask = np.zeros((6, 9), bool)
    assert box_about(mask) == Box(0, 0, 0, 0)
    mask[1, 2] = mask[4, 7] = True
    assert box_about(mask) == Box(1, 2, 5, 8)
