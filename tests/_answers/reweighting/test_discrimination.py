"""The independent check: half for equal populations, more if they differ, with an honest error."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from vwkde._answers.reweighting.discrimination import _area, discriminate


def test_the_area_is_that_of_scikit_learn():
    random = np.random.default_rng(0)
    p, q = random.integers(0, 8, 50).astype(float), random.integers(0, 6, 70).astype(float)
    p_weight, q_weight = random.random(50), random.random(70)
    expected = roc_auc_score(
        np.repeat([1, 0], [50, 70]), np.concatenate([p, q]), sample_weight=np.concatenate([p_weight, q_weight])
    )
    assert _area(p, p_weight, q, q_weight).area == pytest.approx(expected)


@pytest.mark.parametrize("rows", [300, 600])
def test_equal_populations_cannot_be_told_apart(rows):
    random = np.random.default_rng(1)
    curves = [
        discriminate(*(x for _ in "pq" for x in (random.normal(size=(rows, 2)), np.ones(rows))), seed)
        for seed in range(6)
    ]
    areas, errors = (np.array(each) for each in zip(*curves, strict=True))
    assert abs(areas.mean() - 0.5) < 3 * np.sqrt((errors**2).mean() / len(areas))
    assert np.std(areas) < 2 * np.sqrt((errors**2).mean())


def test_a_shift_is_found_and_the_right_weights_hide_it():
    random = np.random.default_rng(2)
    p, q = random.normal(1, 1, (800, 1)), random.normal(0, 1, (800, 1))
    before = discriminate(p, np.ones(800), q, np.ones(800), 0)
    assert before.area == pytest.approx(norm.cdf(1 / np.sqrt(2)), abs=3 * before.standard_error)
    after = discriminate(p, np.ones(800), q, np.exp(q[:, 0] - 0.5), 0)
    assert abs(after.area - 0.5) < 3 * after.standard_error
