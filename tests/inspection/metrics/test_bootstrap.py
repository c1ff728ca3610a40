import numpy as np
import pytest
from scipy.stats import norm

from support.maps import some_images, tally_of
from vwkde.inspection.metrics import UndefinedMeasureError
from vwkde.inspection.metrics.bootstrap import bootstrap_interval
from vwkde.inspection.metrics.detections import Matches, detection_average_precision
from vwkde.inspection.metrics.images import image_auroc, image_average_precision
from vwkde.inspection.metrics.pixels import aupro, pixel_auroc


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
