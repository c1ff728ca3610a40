import numpy as np
import pytest

from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.metrics.detections import (
    OVERLAP,
    Matches,
    box_overlap,
    detection_average_precision,
    mask_overlap,
    match_detections,
    region_overlap,
)
from vwkde.inspection.model.regions import Box, Region, find_regions


def as_mask(box, shape=(10, 10)):
    mask = np.zeros(shape, bool)
    top, left, bottom, right = box
    mask[top:bottom, left:right] = True
    return mask


def region(box, peak=1.0):
    """A region that fills its box."""
    top, left, bottom, right = box
    return Region(Box(*box), np.ones((bottom - top, right - left), bool), peak)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ((0, 0, 2, 2), (1, 1, 3, 3), 1 / 7),
        ((0, 0, 4, 6), (0, 0, 4, 6), 1),
        ((0, 0, 4, 6), (1, 2, 3, 4), 4 / 24),
        ((0, 0, 2, 2), (2, 0, 4, 2), 0),
        ((0, 0, 2, 2), (5, 5, 7, 9), 0),
        ((3, 3, 3, 5), (3, 3, 3, 5), 0),
    ],
)
def test_overlap_of_boxes_masks_and_regions(first, second, expected):
    for one, other in ((first, second), (second, first)):
        assert box_overlap(Box(*one), Box(*other)) == pytest.approx(expected)
        assert mask_overlap(as_mask(one), as_mask(other)) == pytest.approx(expected)
        assert region_overlap(region(one), region(other)) == pytest.approx(expected)


def test_regions_overlap_as_the_masks_that_they_are_cut_from():
    random = np.random.default_rng(0)
    ones, others = (find_regions(random.random((40, 50)), 0.55) for _ in range(2))
    assert len(ones) > 20
    for one in ones:
        for other in others:
            expected = mask_overlap(one.on((40, 50)), other.on((40, 50)))
            assert region_overlap(one, other) == pytest.approx(expected)


def test_masks_of_two_shapes_do_not_compare():
    with pytest.raises(ValueError, match=r"one shape. Got \(10, 10\) and \(9, 9\)"):
        mask_overlap(as_mask((0, 0, 1, 1)), as_mask((0, 0, 1, 1), (9, 9)))


def test_a_defect_found_twice_is_found_once():
    first = match_detections([region((0, 0, 10, 9), 0.5), region((0, 0, 8, 8), 0.9)], [region((0, 0, 10, 10))])
    second = match_detections([region((0, 0, 10, 10), 0.7)], [])
    third = match_detections([region((5, 5, 9, 9), 0.3)], [region((0, 0, 4, 4))])
    np.testing.assert_array_equal(first.confidence, [0.9, 0.5])
    np.testing.assert_array_equal(first.right, [True, False])
    assert (first.defects, second.defects, third.defects) == (1, 0, 1)
    assert not second.right[0]
    assert not third.right[0]
    # In order of confidence right, wrong, wrong, wrong; two defects.
    assert detection_average_precision([first, second, third]) == 0.5


def test_a_detection_belongs_to_the_defect_that_it_overlaps_most():
    """The second overlaps the free defect a little, but belongs to the one that is taken."""
    defects = [region((0, 0, 10, 10)), region((0, 10, 10, 20))]
    detections = [region((0, 0, 10, 10), 0.9), region((0, 0, 10, 14), 0.8)]
    np.testing.assert_array_equal(match_detections(detections, defects).right, [True, False])
    assert region_overlap(detections[1], defects[1]) > OVERLAP


def test_the_overlap_must_be_above_a_tenth():
    assert not match_detections([region((0, 0, 1, 1))], [region((0, 0, 1, 10))]).right[0]
    assert match_detections([region((0, 0, 1, 1))], [region((0, 0, 1, 9))]).right[0]


def matches_of(right, defects, confidence=None):
    confidence = -np.arange(len(right), dtype=float) if confidence is None else np.asarray(confidence, float)
    return [Matches(confidence, np.array(right, bool), defects)]


def test_average_precision_by_hand():
    """Precisions 1, 1/2, 2/3, 1/2, 3/5 at recalls 1/4, 1/4, 1/2, 1/2, 3/4."""
    matches = matches_of([1, 0, 1, 0, 1], 4)
    assert detection_average_precision(matches) == pytest.approx((1 + 2 / 3 + 3 / 5) / 4)


def test_precision_is_the_best_at_this_recall_or_a_higher_one():
    matches = matches_of([0, 1, 1], 2)
    assert detection_average_precision(matches) == pytest.approx(2 / 3)


def test_what_is_not_found_counts_as_no_precision():
    for found in range(11):
        matches = matches_of([1] * found, 10)
        assert detection_average_precision(matches) == pytest.approx(found / 10)


def test_the_order_of_equal_confidences_is_of_no_account():
    rng = np.random.default_rng(0)
    right, confidence = rng.random(40) < 0.4, rng.integers(5, size=40)
    expected = detection_average_precision(matches_of(right, 30, confidence))
    for _ in range(5):
        order = rng.permutation(40)
        assert detection_average_precision(matches_of(right[order], 30, confidence[order])) == pytest.approx(expected)
    assert detection_average_precision(matches_of([1, 0], 1, [2, 2])) == 0.5


def test_all_points_are_the_area_below_the_best_precision():
    rng = np.random.default_rng(5)
    right = rng.random(60) < 0.5
    hits = np.cumsum(right)
    recall, precision = hits / 40, hits / np.arange(1, 61)
    grid = (np.arange(40_000) + 0.5) / 40_000
    best = [precision[recall >= level].max(initial=0) for level in grid]
    assert detection_average_precision(matches_of(right, 40)) == pytest.approx(np.mean(best), abs=1e-4)


def test_no_detections_and_no_defects():
    assert detection_average_precision(matches_of([], 3)) == 0
    with pytest.raises(UndefinedMeasureError, match="at least one defect"):
        detection_average_precision(matches_of([0, 0], 0))
