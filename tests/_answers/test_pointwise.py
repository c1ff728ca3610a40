"""The standard error of the log ratio at points is that of repeated draws."""

import numpy as np
import pytest

import vwkde
from vwkde.datasets import mean_difference

PAIR = mean_difference(2, 1.0)
POINTS = np.concatenate(PAIR.sample(20, random_state=99))


@pytest.mark.parametrize("parameters", [{"guide": "gaussian"}, {"guide": None, "derivatives": "gaussian"}], ids=str)
def test_errors_are_those_of_repeated_draws(parameters):
    values, errors = [], []
    for seed in range(12):
        ratio = vwkde.DensityRatio(**parameters).fit(*PAIR.sample(200, random_state=seed))
        value, error = ratio.log_ratio(POINTS, return_std=True)
        values.append(value)
        errors.append(error)
    scatter = np.std(values, axis=0, ddof=1)
    reported = np.sqrt(np.mean(np.square(errors), axis=0))
    assert 0.7 < np.median(reported / scatter) < 2.0
    inside = np.abs(np.array(values) - PAIR.log_ratio(POINTS)) < 1.96 * np.array(errors)
    assert 0.85 < inside.mean() < 1.0


def test_errors_shrink_with_the_rows_and_grow_where_there_are_few():
    few, many = (vwkde.DensityRatio(guide="gaussian").fit(*PAIR.sample(n)) for n in (200, 3_200))
    assert np.median(many.log_ratio(POINTS, return_std=True)[1]) < 0.5 * np.median(
        few.log_ratio(POINTS, return_std=True)[1]
    )
    near, far = few.log_ratio([[0.5, 0.0], [3.0, 3.0]], return_std=True)[1]
    assert far > 1.5 * near
