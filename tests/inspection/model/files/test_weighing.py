import numpy as np
import pytest

from vwkde.inspection.model.files.weighing import check_weighing, read_weighing, weighing_arrays
from vwkde.inspection.model.marks.weighing import POOLED, fit_weighing

COPIES = 2


@pytest.fixture(scope="module")
def weighing():
    random = np.random.default_rng(0)
    good, defective = (random.standard_normal((POOLED, COPIES, 300)).astype(np.float32) for _ in range(2))
    return fit_weighing([good], [defective + 1])


def test_what_is_written_is_read(weighing):
    arrays = weighing_arrays(weighing)
    check_weighing(arrays, COPIES)
    places = np.random.default_rng(1).standard_normal((20, COPIES * POOLED)).astype(np.float32)
    np.testing.assert_array_equal(read_weighing(arrays).log_odds(places), weighing.log_odds(places))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("mark_weights_0", lambda values: values[:, 1:], "mark_weights_0 must be finite single numbers of shape"),
        ("mark_biases_2", lambda values: values * np.nan, "mark_biases_2 must be finite"),
        ("mark_weights_1", lambda values: values.astype(np.float64), "mark_weights_1 must be finite single"),
        ("mark_weights_2", lambda values: values + np.float32(2e6), "mark_weights_2 must be .* at most 1e"),
        ("mark_lowest", lambda values: values + 100, "mark_lowest must be at most mark_highest"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(weighing, name, change, words):
    arrays = weighing_arrays(weighing)
    arrays[name] = change(arrays[name])
    with pytest.raises(ValueError, match=words):
        check_weighing(arrays, COPIES)


def test_the_largest_numbers_allowed_give_finite_log_odds(weighing):
    arrays = {name: np.full_like(values, 1e6) for name, values in weighing_arrays(weighing).items()}
    check_weighing(arrays, COPIES)
    places = np.full((1, COPIES * POOLED), 1e9, dtype=np.float32)
    assert np.isfinite(read_weighing(arrays).log_odds(places)).all()
