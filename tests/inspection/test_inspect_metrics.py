import numpy as np
import pytest
from scipy.ndimage import label
from scipy.stats import norm
from sklearn import metrics as sklearn_metrics

from vwkde.inspection.metrics import (
    Defect,
    Detection,
    Matches,
    PixelTally,
    UndefinedMeasureError,
    aupro,
    aupro_error,
    bootstrap_interval,
    count_pixels,
    detection_average_precision,
    image_auroc,
    image_average_precision,
    match_detections,
    overlap,
    pixel_auroc,
    pixel_auroc_error,
    precision_recall_curve,
    pro_curve,
    roc_curve,
)

LABELS = [False, False, True, True]
SCORES = [0.1, 0.4, 0.35, 0.8]


def disc(shape, row, column, radius):
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    return (rows - row) ** 2 + (columns - column) ** 2 <= radius**2


def some_images(seed=0, count=6, shape=(60, 80)):
    """Return maps and masks of which every third has no defect."""
    rng = np.random.default_rng(seed)
    for index in range(count):
        mask = disc(shape, 20, 20, 3 + index) | disc(shape, 45, 60, 1) if index % 3 else np.zeros(shape, bool)
        yield rng.standard_normal(shape) + 1.2 * mask, mask


def tally_of(*images):
    return PixelTally.of(count_pixels(*image) for image in images)


def test_images_by_hand():
    assert image_auroc(LABELS, SCORES) == 0.75
    assert image_average_precision(LABELS, SCORES) == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert image_auroc(LABELS, [3, 3, 3, 3]) == 0.5
    assert image_auroc(LABELS, -np.array(SCORES)) == 0.25
    assert image_average_precision(LABELS, [1, 2, 3, 4]) == 1


def test_curves_of_images():
    roc = roc_curve(LABELS, SCORES)
    np.testing.assert_array_equal(roc.false_positive_rate, [0, 0, 0.5, 0.5, 1])
    np.testing.assert_array_equal(roc.true_positive_rate, [0, 0.5, 0.5, 1, 1])
    np.testing.assert_array_equal(roc.thresholds, [np.inf, 0.8, 0.4, 0.35, 0.1])
    curve = precision_recall_curve(LABELS, SCORES)
    np.testing.assert_allclose(curve.precision, [1 / 2, 2 / 3, 1 / 2, 1, 1])
    np.testing.assert_allclose(curve.recall, [1, 1, 0.5, 0.5, 0])


def test_auroc_of_two_normals():
    rng = np.random.default_rng(0)
    scores = np.concatenate([rng.standard_normal(20_000), rng.standard_normal(20_000) + 1])
    assert image_auroc(np.arange(40_000) >= 20_000, scores) == pytest.approx(norm.cdf(1 / np.sqrt(2)), abs=0.008)


@pytest.mark.parametrize("measure", [roc_curve, precision_recall_curve, image_auroc, image_average_precision])
@pytest.mark.parametrize(
    ("labels", "scores", "message"),
    [
        ([True, True], [1, 2], "All 2 images are defective"),
        ([0, 0, 0], [1, 2, 3], "All 3 images are good"),
        ([0, 1], [1, 2, 3], "one per image"),
        ([[0, 1]], [[1, 2]], "one per image"),
        ([0, 1], [1, np.nan], "finite"),
        ([0, 2], [1, 2], "true for defective"),
    ],
)
def test_images_that_tell_nothing(measure, labels, scores, message):
    with pytest.raises(ValueError, match=message):
        measure(labels, scores)


def test_pixels_agree_with_scikit_learn_exactly_where_bins_hold_one_score():
    rng = np.random.default_rng(1)
    images = [(rng.integers(-200, 300, size=(30, 40)) + 80 * mask, mask) for _, mask in some_images(shape=(30, 40))]
    tally = tally_of(*images)
    flat = [np.concatenate([image[side].ravel() for image in images]) for side in (1, 0)]
    assert pixel_auroc(tally) == pytest.approx(sklearn_metrics.roc_auc_score(*flat), abs=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_pixels_agree_with_scikit_learn_within_the_stated_error(scale):
    images = list(some_images())
    tally = tally_of(*((scores * scale, mask) for scores, mask in images))
    flat = [np.concatenate([image[side].ravel() for image in images]) for side in (1, 0)]
    error = abs(pixel_auroc(tally) - sklearn_metrics.roc_auc_score(*flat))
    assert 0 < pixel_auroc_error(tally) < 3e-4
    assert error <= pixel_auroc_error(tally) + 1e-12
    assert error < 1e-5


def test_signs_of_scores_are_heeded():
    scores = np.array([[-1e9, -2.5, -2.0, -1e-9, -0.0], [0.0, 1e-9, 2.0, 2.5, 1e9]])
    for threshold in (-2.2, -1e-4, 1e-4, 2.2):
        tally = tally_of((scores, scores > threshold))
        assert pixel_auroc(tally) == 1
    assert pixel_auroc(tally_of((scores, scores < 0))) == 0
    halves = tally_of((np.array([[-0.0, 0.0]]), np.array([[True, False]])))
    assert (pixel_auroc(halves), pixel_auroc_error(halves)) == (0.5, 0.5)


def test_huge_scores_do_not_overflow():
    assert pixel_auroc(tally_of((np.array([[1e300, -1e300, 0.0]]), np.array([[True, False, False]])))) == 1


def known_tally():
    """Return the tally of uniform scores of good pixels, and of scores with density 2t of a defect."""
    even = (np.arange(40_000) + 0.5) / 40_000
    scores = np.concatenate([even, np.sqrt(even)]).reshape(200, 400)
    return tally_of((scores, np.arange(80_000).reshape(200, 400) >= 40_000))


def test_areas_of_a_known_curve():
    """At threshold t the shares are f = 1 − t of the good and 1 − t² = 2f − f² of the defect."""
    tally = known_tally()
    assert pixel_auroc(tally) == pytest.approx(2 / 3, abs=1e-5)
    assert aupro(tally) == pytest.approx(0.3 - 0.3**2 / 3, abs=1e-4)
    assert aupro(tally, limit=1) == pytest.approx(2 / 3, abs=1e-5)
    assert aupro(tally, limit=0.05) == pytest.approx(0.05 - 0.05**2 / 3, abs=1e-4)
    assert aupro_error(tally) < 1e-3


def test_aupro_of_scores_that_know_everything_nothing_and_the_opposite():
    mask = disc((40, 40), 20, 20, 5)
    assert aupro(tally_of((mask * 1.0, mask))) == pytest.approx(1)
    assert aupro(tally_of((np.ones(mask.shape), mask))) == pytest.approx(0.15)
    assert aupro(tally_of((-1.0 * mask, mask))) == 0


def test_small_regions_weigh_as_much_as_large_ones():
    mask = disc((60, 60), 20, 20, 12)
    scores = mask * 1.0
    mask[50, 50] = True
    scores[50, 50] = -1
    tally = tally_of((scores, mask))
    assert aupro(tally) == pytest.approx(0.5)
    assert pixel_auroc(tally) > 0.99


def test_regions_that_touch_at_a_corner_are_one():
    mask = np.zeros((6, 6), bool)
    mask[1, 1] = mask[2, 2] = mask[4, 5] = True
    assert count_pixels(np.zeros((6, 6)), mask).regions == 2


def aupro_by_thresholds(images, limit=0.3):
    """Return AUPRO by going through all thresholds and regions."""
    good = np.concatenate([scores[~mask] for scores, mask in images])
    regions = []
    for scores, mask in images:
        labels, count = label(mask, np.ones((3, 3)))
        regions += [scores[labels == index + 1] for index in range(count)]
    thresholds = np.unique(np.concatenate([scores.ravel() for scores, _ in images]))[::-1]
    x = np.array([0, *((good >= threshold).mean() for threshold in thresholds)])
    y = np.array([0, *(np.mean([(region >= t).mean() for region in regions]) for t in thresholds)])
    cut = np.append(x[x < limit], limit)
    return sklearn_metrics.auc(cut, np.append(y[x < limit], np.interp(limit, x, y))) / limit


def test_aupro_agrees_with_its_definition():
    images = list(some_images(seed=3, shape=(50, 70), count=4))
    tally = tally_of(*images)
    error = abs(aupro(tally) - aupro_by_thresholds(images))
    assert error <= aupro_error(tally)
    assert error < 1e-4
    whole = [(np.round(scores, 1) * 10, mask) for scores, mask in images]
    assert aupro(tally_of(*whole)) == pytest.approx(aupro_by_thresholds(whole), abs=1e-12)


def test_pro_curve_rises_from_none_to_all():
    false_positives, found = pro_curve(tally_of(*some_images()))
    for side in (false_positives, found):
        assert side[0] == 0
        assert side[-1] == pytest.approx(1)
        assert (np.diff(side) >= 0).all()
    assert (found >= false_positives - 0.02).all()


def test_what_is_kept_of_a_map_does_not_grow_with_its_size():
    rng = np.random.default_rng(0)
    small, large = (len(count_pixels(rng.gamma(2, size=(side, side))).bins) for side in (250, 1000))
    assert large < 2 * small
    assert large < 8_000


def test_taking_images_is_counting_them_again():
    counts = [count_pixels(*image) for image in some_images()]
    chosen = [4, 0, 4, 2, 1]
    taken = PixelTally.of(counts).take(chosen)
    again = PixelTally.of([counts[index] for index in chosen])
    assert len(taken) == len(again) == 5
    for measure in (pixel_auroc, aupro, pixel_auroc_error):
        assert measure(taken) == pytest.approx(measure(again), abs=1e-12)
    twice = taken.take([0, 3])
    assert len(twice) == 2
    assert twice.regions @ twice.times == sum(counts[index].regions for index in (0, 4))


@pytest.mark.parametrize(
    ("scores", "mask", "message"),
    [
        (np.zeros((2, 3)), np.zeros((3, 2), bool), "one shape"),
        (np.zeros(3), np.zeros(3, bool), "one shape"),
        (np.array([[np.nan]]), None, "finite"),
    ],
)
def test_maps_that_cannot_be_counted(scores, mask, message):
    with pytest.raises(ValueError, match=message):
        count_pixels(scores, mask)


def test_pixels_that_tell_nothing():
    scores = np.arange(6.0).reshape(2, 3)
    for mask in (None, np.ones((2, 3), bool)):
        for measure in (pixel_auroc, pixel_auroc_error, aupro, aupro_error):
            with pytest.raises(UndefinedMeasureError, match="needs good"):
                measure(tally_of((scores, mask)))
    with pytest.raises(UndefinedMeasureError, match="no images"):
        PixelTally.of([])
    for measure in (aupro, aupro_error):
        with pytest.raises(ValueError, match="limit must be above 0"):
            measure(tally_of((scores, scores > 3)), limit=0)


def as_mask(box, shape=(10, 10)):
    mask = np.zeros(shape, bool)
    top, left, bottom, right = box
    mask[top:bottom, left:right] = True
    return mask


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
def test_overlap_of_boxes_and_masks(first, second, expected):
    for one, other in ((first, second), (second, first)):
        assert overlap(one, other) == pytest.approx(expected)
        assert overlap(as_mask(one), as_mask(other)) == pytest.approx(expected)
        assert overlap(one, as_mask(other)) == pytest.approx(expected)
        assert overlap(as_mask(one), other) == pytest.approx(expected)


def test_overlap_of_boxes_between_pixels():
    assert overlap((0, 0, 1.5, 1), (0.5, 0, 1.5, 1)) == pytest.approx(2 / 3)
    assert overlap((0.4, 0, 2.6, 1), as_mask((0, 0, 3, 1))) == 1


def test_masks_of_two_shapes_do_not_compare():
    with pytest.raises(ValueError, match=r"one shape. Got \(10, 10\) and \(9, 9\)"):
        overlap(as_mask((0, 0, 1, 1)), as_mask((0, 0, 1, 1), (9, 9)))


def test_a_defect_found_twice_is_found_once():
    defects = [Defect(0, (0, 0, 10, 10)), Defect(2, (0, 0, 4, 4))]
    detections = [
        Detection(0, 0.5, (0, 0, 10, 9)),
        Detection(0, 0.9, (0, 0, 8, 8)),
        Detection(1, 0.7, (0, 0, 10, 10)),
        Detection(2, 0.3, (5, 5, 9, 9)),
    ]
    first, second, third = match_detections(detections, defects, images=3)
    np.testing.assert_array_equal(first.confidence, [0.9, 0.5])
    np.testing.assert_array_equal(first.right, [True, False])
    assert (first.defects, second.defects, third.defects) == (1, 0, 1)
    assert not second.right[0]
    assert not third.right[0]
    # In order of confidence right, wrong, wrong, wrong; two defects.
    assert detection_average_precision([first, second, third]) == 0.5


def test_a_detection_belongs_to_the_defect_that_it_overlaps_most():
    """The second overlaps the free defect a little, but belongs to the one that is taken."""
    defects = [Defect(0, (0, 0, 10, 10)), Defect(0, (0, 10, 10, 20))]
    detections = [Detection(0, 0.9, (0, 0, 10, 10)), Detection(0, 0.8, (0, 0, 10, 14))]
    (matches,) = match_detections(detections, defects, images=1)
    np.testing.assert_array_equal(matches.right, [True, False])
    assert overlap(detections[1].region, defects[1].region) > 0.1


def test_the_overlap_must_be_above_the_threshold():
    defects, detections = [Defect(0, (0, 0, 1, 8))], [Detection(0, 1, (0, 0, 1, 2))]
    assert not match_detections(detections, defects, 1, least_overlap=0.25)[0].right[0]
    assert match_detections(detections, defects, 1, least_overlap=0.2499)[0].right[0]
    assert match_detections(detections, defects, 1)[0].right[0]
    assert not match_detections(detections, defects, 1, least_overlap=0.5)[0].right[0]


def test_masks_and_boxes_give_one_answer():
    defects = [Defect(0, (1, 1, 5, 5)), Defect(1, (2, 2, 9, 4))]
    found = [(0, 0.2, (1, 2, 5, 6)), (1, 0.8, (0, 0, 3, 3)), (1, 0.1, (2, 2, 8, 4))]
    boxes = match_detections([Detection(*entry) for entry in found], defects, 2)
    masks = match_detections(
        [Detection(image, confidence, as_mask(box)) for image, confidence, box in found],
        [Defect(defect.image, as_mask(defect.region)) for defect in defects],
        2,
    )
    for one, other in zip(boxes, masks, strict=True):
        np.testing.assert_array_equal(one.right, other.right)
    assert [list(one.right) for one in boxes] == [[True], [False, True]]


def matches_of(right, defects, confidence=None):
    confidence = -np.arange(len(right), dtype=float) if confidence is None else np.asarray(confidence, float)
    return [Matches(confidence, np.array(right, bool), defects)]


def test_average_precision_by_hand():
    """Precisions 1, 1/2, 2/3, 1/2, 3/5 at recalls 1/4, 1/4, 1/2, 1/2, 3/4."""
    matches = matches_of([1, 0, 1, 0, 1], 4)
    assert detection_average_precision(matches) == pytest.approx((1 + 2 / 3 + 3 / 5) / 4)
    assert detection_average_precision(matches, "eleven-point") == pytest.approx((3 * 1 + 3 * 2 / 3 + 2 * 3 / 5) / 11)


def test_precision_is_the_best_at_this_recall_or_a_higher_one():
    matches = matches_of([0, 1, 1], 2)
    assert detection_average_precision(matches) == pytest.approx(2 / 3)
    assert detection_average_precision(matches, "eleven-point") == pytest.approx(2 / 3)


def test_recalls_of_tenths_are_reached_exactly():
    for found in range(11):
        matches = matches_of([1] * found, 10)
        assert detection_average_precision(matches) == pytest.approx(found / 10)
        expected = (found + 1) / 11 if found else 0
        assert detection_average_precision(matches, "eleven-point") == pytest.approx(expected)


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


def test_detections_that_make_no_sense():
    box = (0, 0, 1, 1)
    with pytest.raises(ValueError, match=r"from 0 to 1\. Got 2"):
        match_detections([Detection(2, 1, box)], [], 2)
    with pytest.raises(ValueError, match=r"from 0 to 1\. Got -1"):
        match_detections([], [Defect(-1, box)], 2)
    with pytest.raises(ValueError, match="Confidences must be finite"):
        match_detections([Detection(0, np.nan, box)], [], 1)
    with pytest.raises(ValueError, match="least overlap"):
        match_detections([], [], 1, least_overlap=1)
    with pytest.raises(ValueError, match="'form' parameter"):
        detection_average_precision(matches_of([1], 1), "voc")


def test_interval_of_a_mean():
    values = np.random.default_rng(0).standard_normal(400) + 5
    low, high = bootstrap_interval(np.mean, values, repetitions=2000)
    half = norm.ppf(0.975) * values.std() / 20
    assert low == pytest.approx(values.mean() - half, abs=0.02)
    assert high == pytest.approx(values.mean() + half, abs=0.02)
    assert bootstrap_interval(np.mean, values) == bootstrap_interval(np.mean, values)
    assert bootstrap_interval(np.mean, values) != bootstrap_interval(np.mean, values, seed=1)
    inner = bootstrap_interval(np.mean, values, level=0.5, repetitions=2000)
    assert low < inner[0] < inner[1] < high


def test_intervals_hold_the_truth_as_often_as_they_say():
    rng = np.random.default_rng(0)
    samples = rng.exponential(size=(200, 60))
    held = [low <= 1 <= high for low, high in (bootstrap_interval(np.mean, row, repetitions=200) for row in samples)]
    assert 0.88 <= np.mean(held) <= 0.98


def test_images_stay_whole_when_drawn():
    labels, scores = np.arange(30) % 2 == 0, np.arange(30.0)
    low, high = bootstrap_interval(lambda y, x: float((x[y] % 2 == 0).all() and (x[~y] % 2).all()), labels, scores)
    assert (low, high) == (1, 1)


def test_intervals_of_all_measures():
    rng = np.random.default_rng(0)
    labels = np.arange(80) % 4 == 0
    scores = rng.standard_normal(80) + 1.5 * labels
    tally = tally_of(*some_images(count=12, shape=(30, 40)))
    matches = [Matches(rng.random(2), np.array([True, index % 3 == 0]), 3) for index in range(20)]
    for measure, *per_image in (
        (image_auroc, labels, scores),
        (image_average_precision, labels, scores),
        (pixel_auroc, tally),
        (aupro, tally),
        (detection_average_precision, matches),
    ):
        low, high = bootstrap_interval(measure, *per_image, repetitions=100)
        assert 0 < low < measure(*per_image) < high < 1


def test_draws_of_one_class_are_drawn_again():
    labels, scores = [False] * 11 + [True], list(range(12))
    assert bootstrap_interval(image_auroc, labels, scores, repetitions=50) == (1, 1)
    attempts = []

    def rarely(values):
        attempts.append(values)
        if len(attempts) > 1:
            raise UndefinedMeasureError
        return 1.0

    with pytest.raises(UndefinedMeasureError, match="give more of both"):
        bootstrap_interval(rarely, labels, repetitions=3)
    assert len(attempts) == 31


@pytest.mark.parametrize(
    ("per_image", "options", "message"),
    [
        (([1, 2], [1]), {}, r"lengths \[1, 2\]"),
        (([],), {}, r"lengths \[0\]"),
        ((), {}, r"lengths \[\]"),
        (([1, 2],), {"level": 1}, "0 < level < 1"),
        (([1, 2],), {"repetitions": 0}, "repetitions ≥ 1"),
    ],
)
def test_intervals_that_cannot_be_made(per_image, options, message):
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(np.mean, *per_image, **options)


def test_a_measure_without_value_is_told_at_once():
    with pytest.raises(UndefinedMeasureError, match="All 3 images are good"):
        bootstrap_interval(image_auroc, [0, 0, 0], [1, 2, 3])
