import numpy as np
import pytest

from vwkde.exceptions import FewImagesWarning, UnlikeImagesWarning
from vwkde.inspection.model.calibration import Calibration, calibrate, warn_about_unlike


def test_rejecting_by_the_threshold_is_rejecting_by_the_p_value():
    rng = np.random.default_rng(0)
    found = calibrate(rng.normal(size=59), 0.05)
    scores = [*rng.normal(1, 1, size=200), *found.scores]
    for score in scores:
        assert (score > found.threshold) == (found.p_value(score) <= 0.05)
    assert max(scores) > found.threshold


def test_p_values_are_ranks():
    found = calibrate(np.arange(19.0), 0.1)
    assert found.p_value(100.0) == 1 / 20
    assert found.p_value(-1.0) == 1.0
    assert found.p_value(9.0) == 11 / 20
    assert found.threshold == 17.0  # the 18th of 19: two of twenty places lie above


@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_good_images_are_rejected_at_the_rate(rate):
    rng = np.random.default_rng(1)
    rejected = [calibrate(rng.gumbel(size=39), rate).threshold < rng.gumbel() for _ in range(4_000)]
    assert np.mean(rejected) == pytest.approx(rate, abs=4 * np.sqrt(rate / 4_000))


def test_too_few_images_are_told_and_reject_nothing():
    with pytest.warns(
        FewImagesWarning, match="10 good images are too few for a false-reject rate of 0.01.*at least 99 "
    ):
        found = calibrate(np.arange(10.0), 0.01)
    assert found.threshold == np.inf
    assert calibrate(np.arange(99.0), 0.01).threshold == 98.0


@pytest.mark.parametrize(("images", "rate"), [(10, "0.091"), (15, "0.063"), (24, "0.04"), (199, "0.005")])
def test_the_rate_that_the_warning_proposes_is_possible(images, rate):
    with pytest.warns(FewImagesWarning, match=rf"a rate of at least {rate}\.$"):
        calibrate(np.arange(float(images)), 0.001)
    assert np.isfinite(calibrate(np.arange(float(images)), float(rate)).threshold)


def test_bad_rates_and_scores_are_told():
    with pytest.raises(ValueError, match="'false_reject_rate' parameter must be between 0 and 1"):
        calibrate(np.arange(5.0), 1.0)
    with pytest.raises(ValueError, match="not finite"):
        calibrate(np.array([0.0, np.inf]), 0.5)


def test_bad_images_that_are_found_raise_the_threshold_into_the_gap_below_them():
    known = Calibration(np.arange(1.0, 41.0), 0.1, np.array([50.0, 60.0]))
    assert known.threshold_of_good == 37
    assert known.threshold == 45
    assert Calibration(known.scores, 0.1, np.array([38.5, 60.0])).threshold == 38.25


def test_bad_images_that_are_missed_leave_the_threshold_and_few_good_images_still_reject_nothing():
    known = Calibration(np.arange(1.0, 41.0), 0.1)
    assert Calibration(known.scores, 0.1, np.array([30.0, 60.0])).threshold == known.threshold
    assert Calibration(known.scores[:5], 0.1, np.array([60.0])).threshold == np.inf


def test_a_threshold_that_odd_good_images_set_is_told():
    """With 31 good images and a rate of 0.05 the highest one is the threshold."""
    scores = np.concatenate([np.random.default_rng(2).exponential(0.5, 29), [10.2, 6.4]])
    names = [f"{number}.png" for number in range(31)]
    assert Calibration(scores, 0.05).unlike == [29, 30]
    with pytest.warns(
        UnlikeImagesWarning, match=r"threshold of 10.2 is set by .*: 29.png \(10.2\), 30.png \(6.4\); half"
    ):
        warn_about_unlike(calibrate(scores, 0.05), [29, 30], names)
    warn_about_unlike(
        calibrate(scores, 0.1), [29, 30], names
    )  # the threshold is below both; warnings are errors in tests


@pytest.mark.parametrize("seed", range(20))
def test_good_images_that_are_alike_are_not_told(seed):
    random = np.random.default_rng([3, seed])
    draw = random.exponential, random.gumbel, random.normal
    scores = draw[seed % 3](size=(20, 60, 200)[seed % 3])
    assert Calibration(scores, 0.05).unlike == []
