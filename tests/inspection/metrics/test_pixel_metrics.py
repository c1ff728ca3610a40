import numpy as np
import pytest
from scipy.ndimage import label
from sklearn import metrics as sklearn_metrics

from support.maps import disc, some_images, tally_of
from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.metrics.pixels import PixelTally, aupro, count_pixels, pixel_auroc, pro_curve


def test_pixels_agree_with_scikit_learn_exactly_where_bins_hold_one_score():
    rng = np.random.default_rng(1)
    images = [(rng.integers(-200, 300, size=(30, 40)) + 80 * mask, mask) for _, mask in some_images(shape=(30, 40))]
    tally = tally_of(*images)
    flat = [np.concatenate([image[side].ravel() for image in images]) for side in (1, 0)]
    assert pixel_auroc(tally) == pytest.approx(sklearn_metrics.roc_auc_score(*flat), abs=1e-12)


@pytest.mark.parametrize("scale", [1e-6, 1, 1e6])
def test_pixels_agree_with_scikit_learn_nearly_where_bins_hold_many(scale):
    images = list(some_images())
    tally = tally_of(*((scores * scale, mask) for scores, mask in images))
    flat = [np.concatenate([image[side].ravel() for image in images]) for side in (1, 0)]
    error = abs(pixel_auroc(tally) - sklearn_metrics.roc_auc_score(*flat))
    assert error < 1e-5


def test_signs_of_scores_are_heeded():
    scores = np.array([[-1e9, -2.5, -2.0, -1e-9, -0.0], [0.0, 1e-9, 2.0, 2.5, 1e9]])
    for threshold in (-2.2, -1e-4, 1e-4, 2.2):
        tally = tally_of((scores, scores > threshold))
        assert pixel_auroc(tally) == 1
    assert pixel_auroc(tally_of((scores, scores < 0))) == 0
    halves = tally_of((np.array([[-0.0, 0.0]]), np.array([[True, False]])))
    assert pixel_auroc(halves) == 0.5


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
    for measure in (pixel_auroc, aupro):
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
        for measure in (pixel_auroc, aupro):
            with pytest.raises(UndefinedMeasureError, match="needs good"):
                measure(tally_of((scores, mask)))
    with pytest.raises(UndefinedMeasureError, match="no images"):
        PixelTally.of([])
