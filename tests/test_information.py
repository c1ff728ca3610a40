import numpy as np
import pandas as pd
import pytest

import vwkde
from vwkde._models.guides.cross_fit import FOLDS
from vwkde.information import _pairs


def correlated(rows, columns, correlation, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(rows, columns))
    return x, correlation * x + np.sqrt(1 - correlation**2) * random.normal(size=(rows, columns))


@pytest.mark.parametrize(("columns", "correlation"), [(1, 0.7), (3, 0.5)])
def test_mutual_information_of_gaussians(columns, correlation):
    truth = -0.5 * columns * np.log(1 - correlation**2)
    estimates = [vwkde.mutual_information(*correlated(500, columns, correlation, seed)) for seed in range(3)]
    assert np.mean([e.value for e in estimates]) == pytest.approx(truth, rel=0.15)
    assert estimates[0].kind == "mutual-information"
    assert estimates[0].unit == "nats"
    low, high = estimates[0].interval
    assert low < truth < high


def test_independent_columns_have_none():
    x, y = correlated(400, 2, 0.0)
    estimate = vwkde.mutual_information(x, y)
    assert abs(estimate.value) < 0.03


def test_dependence_that_no_correlation_shows():
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 600)
    x, y = (f(angle) + 0.1 * random.normal(size=600) for f in (np.cos, np.sin))
    assert abs(np.corrcoef(x, y)[0, 1]) < 0.1
    assert vwkde.mutual_information(x, y).value == pytest.approx(0.679, rel=0.2)  # by quadrature


def test_the_measures_of_x_and_y_do_not_matter():
    x, y = correlated(200, 2, 0.6)
    expected = vwkde.mutual_information(x, y).value
    assert vwkde.mutual_information(1e4 * x + 5, pd.DataFrame(y * 1e-3, columns=["a", "b"])).value == pytest.approx(
        expected, rel=1e-5
    )


def test_pairs_are_never_rows_and_stay_in_their_fold():
    fold = np.random.default_rng(0).permutation(np.arange(103) % FOLDS)
    first, second = _pairs(fold, 0)
    assert (first != second).all()
    assert (fold[first] == fold[second]).all()
    assert len(set(zip(first, second, strict=True))) == len(first)
    assert np.ptp(np.bincount(first)) == 0  # every x as often as any other


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.zeros(20), np.zeros(19), "same number of rows. Got 20 and 19"),
        (np.arange(9.0), np.arange(9.0), "at least 10 are needed"),
        (np.array([np.nan] * 20), np.arange(20.0), "X must be finite"),
    ],
)
def test_bad_input_is_told(x, y, message):
    with pytest.raises(ValueError, match=message):
        vwkde.mutual_information(x, y)
