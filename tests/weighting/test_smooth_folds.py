"""Smooth models without each fold: one step from a shared start is as good as a fit, and no model sees its fold."""

from dataclasses import replace

import numpy as np
import pytest

from vwkde._data.sample import make_sample
from vwkde._models.folds import deal_folds
from vwkde.weighting import _smooth_folds
from vwkde.weighting._smooth import fit_smooth
from vwkde.weighting._smooth_folds import Folds, fit_smooth_without_folds

ROWS = 6_000


def sample_of(points, weight=None):
    return make_sample(points, np.ones(len(points)) if weight is None else weight)


@pytest.fixture(scope="module")
def samples():
    random = np.random.default_rng(0)
    p, q = random.normal(size=(2, ROWS, 2))
    p[:, 1] += 0.6 * np.sin(3 * p[:, 0])
    weight = np.where(q[:, 0] > 0, 1.5, 0.5)
    return sample_of(p), sample_of(q, weight / weight.mean())


@pytest.fixture
def folds(samples, monkeypatch):
    monkeypatch.setattr(_smooth_folds, "_FEWEST_ROWS", 1_000)
    p, q = (deal_folds(sample, 5, np.random.default_rng(1)) for sample in samples)
    return Folds(samples, (p, q), 5)


def test_a_step_from_a_shared_start_is_as_good_as_a_fit(folds):
    x = np.random.default_rng(2).normal(size=(2_000, 2))
    for fold, model in enumerate(fit_smooth_without_folds(folds)):
        own = fit_smooth(*folds.without(fold))(x)
        assert np.std(model(x) - own) < 0.25 * np.std(own)
        assert abs(np.mean(model(x) - own)) < 0.03


def test_a_model_has_not_seen_its_fold(folds):
    """Other rows in one fold change the models of all other folds, and not the model without it."""
    before = fit_smooth_without_folds(folds)
    x = np.random.default_rng(3).normal(size=(200, 2))
    for fold in (0, 1, 4):
        changed = folds.samples[0].points.copy()
        changed[folds.of_rows[0] == fold] += 1.0
        other_rows = replace(folds.samples[0], points=changed), folds.samples[1]
        after = fit_smooth_without_folds(replace(folds, samples=other_rows))
        same = [np.allclose(one(x), other(x)) for one, other in zip(before, after, strict=True)]
        assert same == [other == fold for other in range(5)]


def test_few_rows_are_fitted_fold_by_fold(samples):
    few = tuple(sample_of(sample.points[:500]) for sample in samples)
    p, q = (deal_folds(sample, 5, np.random.default_rng(1)) for sample in few)
    folds = Folds(few, (p, q), 5)
    x = samples[1].points[:100]
    assert np.array_equal(fit_smooth_without_folds(folds)[2](x), fit_smooth(*folds.without(2))(x))


def test_folds_of_unequal_weight_leave_the_level_alone(monkeypatch):
    """Equal populations have the ratio one, also if a fold has most of the weight of one of them."""
    monkeypatch.setattr(_smooth_folds, "_FEWEST_ROWS", 500)
    x = np.random.default_rng(4).normal(size=(2, ROWS, 2))
    fold = np.arange(ROWS) % 5
    heavy = np.where(fold == 2, 6.0, 1.0)
    p, q = (sample_of(each) for each in x)
    folds = Folds((replace(p, weight=heavy / heavy.mean()), q), (fold, fold), 5)
    for model in fit_smooth_without_folds(folds):
        assert abs(model(x[1]).mean()) < 0.08
