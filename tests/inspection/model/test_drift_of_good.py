"""Whether images that pass are still like those learnt."""

import numpy as np
import pytest

from vwkde.inspection.model.calibration import Calibration
from vwkde.inspection.model.drift_of_good import drift_of_good

RANDOM = np.random.default_rng(3)
KNOWN = Calibration(RANDOM.normal(size=60), 0.05)


def test_good_images_of_the_same_kind_give_no_warning_even_beside_defective_ones():
    told = [drift_of_good(KNOWN, [*RANDOM.normal(size=40), *RANDOM.normal(9, 1, 20)]).words for _ in range(200)]
    assert told == [None] * 200


def test_images_that_pass_but_score_higher_are_told():
    scores = RANDOM.normal(0.9, 0.5, size=60)
    drift = drift_of_good(KNOWN, scores)
    assert drift.rejected_share < 0.5
    assert drift.p_value < 1e-3
    assert "the false-reject rate no longer holds" in drift.words


def test_if_hardly_anything_passes_the_share_is_told():
    drift = drift_of_good(KNOWN, RANDOM.normal(9, 1, 30))
    assert (drift.p_value, drift.rejected_share) == (None, 1)
    assert "100% of the images are rejected" in drift.words


@pytest.mark.parametrize(("calibration", "count"), [(KNOWN, 7), (Calibration(KNOWN.scores[:10], 0.05), 30)])
def test_few_images_or_no_threshold_say_nothing(calibration, count):
    assert drift_of_good(calibration, [9.0] * count) is None
