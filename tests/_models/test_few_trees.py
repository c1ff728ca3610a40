import numpy as np
import pytest

from support.trees import classifier_of
from vwkde._data.sample import Sample
from vwkde._models.guides import few_trees
from vwkde._models.guides.classifiers import fit_classifier
from vwkde._models.guides.few_trees import Plan, fit_few_trees
from vwkde._models.guides.many_trees import fit_many_trees

RANDOM = np.random.default_rng(0)


def sample(rows, columns, shift, weighted=False):
    weight = RANDOM.uniform(0.2, 2, rows) if weighted else np.ones(rows)
    x = np.clip(np.round(3 * RANDOM.normal(shift, 1, (rows, columns))) + 10, 0, 20)
    return Sample(x, weight / weight.mean(), np.arange(rows))


@pytest.fixture(params=[fit_few_trees, fit_many_trees])
def fit(request):
    return request.param


@pytest.mark.parametrize("plan", [Plan(40, 8, 21), Plan(3, 2, 21), Plan(10, 16, 30)])
@pytest.mark.parametrize(("rows", "weighted"), [((400, 400), False), ((150, 500), True)])
def test_the_trees_are_those_of_scikit_learn(fit, plan, rows, weighted):
    p, q = (sample(n, 3, shift, weighted) for n, shift in zip(rows, (0.0, 0.4), strict=True))
    expected = fit_classifier(classifier_of(plan), p, q)
    x = RANDOM.permuted(np.concatenate([p.points, q.points]), axis=0)
    found = fit(plan, p, q)(x)
    assert np.ptp(found) > 0.05
    np.testing.assert_allclose(found, expected(x), atol=1e-9)


def test_rows_too_few_to_split_give_a_constant(fit):
    p, q = sample(15, 2, 0.0), sample(20, 2, 3.0)
    guide = fit(Plan(5, 8, 21), p, q)
    np.testing.assert_allclose(guide(p.points), 0.0, atol=1e-7)
    assert guide(np.empty((0, 2))).shape == (0,)


def test_log_odds_stay_within_what_the_rows_can_show(fit):
    p, q = (Sample(np.full((60, 1), value), np.ones(60), np.arange(60)) for value in (0.0, 1.0))
    guide = fit(Plan(300, 2, 2), p, q)
    np.testing.assert_allclose(guide(np.array([[0.0], [1.0]])), np.log(239) * np.array([1, -1]))


def test_blocks_of_rows_change_nothing(monkeypatch):
    p, q = sample(200, 2, 0.0), sample(200, 2, 0.5)
    guide = fit_few_trees(Plan(10, 4, 21), p, q)
    whole = guide(p.points)
    monkeypatch.setattr(few_trees, "_AT_A_TIME", 7)
    np.testing.assert_array_equal(guide(p.points), whole)


def test_many_rows_on_many_steps():
    p, q = (Sample(RANDOM.integers(0, 255, (3_000, 4)) * 1.0, np.ones(3_000), np.arange(3_000)) for _ in range(2))
    p = Sample(np.minimum(p.points, 254 - p.points[:, ::-1] // 2), p.weight, p.rows)
    plan = Plan(30, 31, 255)
    expected = fit_classifier(classifier_of(plan), p, q)(q.points)
    assert np.ptp(expected) > 0.5
    np.testing.assert_allclose(fit_many_trees(plan, p, q)(q.points), expected, atol=1e-9)
