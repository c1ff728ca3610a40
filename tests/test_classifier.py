"""The classifier: scikit-learn's own checks, known posteriors, and what a user passes in."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from vwkde import DensityRatio, RatioClassifier
from vwkde._answers.posterior import couple
from vwkde._models.nearest_mean import NearestMean
from vwkde.datasets import isotropic

KDE = DensityRatio(guide=None, weighting="uniform", bandwidth="likelihood")
FAR = np.array([[1e300, -1e300], [-1e308, 1e308], [0.0, 0.0], [1e-300, -1e-300]])
"""Points far outside, and very near zero."""


EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": "leaving one out, a row of weight two is not the same as two rows"
}


@parametrize_with_checks([RatioClassifier(), RatioClassifier(ratio=KDE)], expected_failed_checks=lambda _: EXPECTED)
@pytest.mark.filterwarnings("ignore::vwkde.exceptions.DegenerateDataWarning")
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_the_posterior_of_high_dimensional_gaussians_is_near_the_truth():
    pair = isotropic(20)
    p, q = pair.sample(1_000)
    z = np.concatenate(pair.sample(500, random_state=1))
    x, y = np.concatenate([p, q]), np.repeat(["p", "q"], 1_000)
    truth = expit(pair.log_ratio(z))
    fitted = [RatioClassifier(ratio=ratio).fit(x, y) for ratio in (None, KDE)]
    errors = [np.mean((each.predict_proba(z)[:, 0] - truth) ** 2) for each in fitted]
    assert errors[0] < 0.004 < errors[1] / 3


@pytest.fixture(scope="module")
def iris():
    return RatioClassifier().fit(*load_iris(return_X_y=True))


def test_coupled_pairs_agree_with_the_probabilities_they_come_from():
    truth = np.random.default_rng(0).dirichlet(np.ones(4), size=50)
    log_odds = {(i, j): np.log(truth[:, i] / truth[:, j]) for i in range(4) for j in range(i + 1, 4)}
    np.testing.assert_allclose(couple(log_odds, 4), truth, rtol=1e-9)


def test_several_classes(iris):
    x, y = load_iris(return_X_y=True)
    probability = iris.predict_proba(x)
    np.testing.assert_allclose(probability.sum(axis=1), 1)
    np.testing.assert_allclose(np.log(probability), iris.predict_log_proba(x), rtol=1e-6, atol=1e-9)
    assert iris.score(x, y) > 0.96
    assert iris.decision_function(x).shape == (150, 3)
    assert set(iris.ratios_) == {(0, 1), (0, 2), (1, 2)}


def test_held_out_log_loss_on_iris():
    x, y = load_iris(return_X_y=True)
    probability = cross_val_predict(RatioClassifier(), x, y, cv=5, method="predict_proba")
    assert log_loss(y, probability) < 0.12


def test_labels_may_be_strings_and_columns_may_have_names():
    x, y = load_iris(return_X_y=True, as_frame=True)
    names = y.map({0: "setosa", 1: "versicolor", 2: "virginica"})
    classifier = RatioClassifier(ratio=KDE).fit(x, names)
    assert list(classifier.classes_) == ["setosa", "versicolor", "virginica"]
    assert list(classifier.feature_names_in_) == list(x.columns)
    assert (classifier.predict(x) == names).mean() > 0.95
    with pytest.raises(ValueError, match="feature names"):
        classifier.predict(x.rename(columns=str.upper))


def test_priors_move_the_posterior_by_their_odds():
    x, y = load_iris(return_X_y=True)
    x, y = x[50:], y[50:]
    equal = RatioClassifier(ratio=KDE).fit(x, y)
    moved = RatioClassifier(ratio=KDE, priors=[0.2, 0.8]).fit(x, y)
    np.testing.assert_allclose(equal.priors_, [0.5, 0.5])
    np.testing.assert_allclose(moved.decision_function(x) - equal.decision_function(x), np.log(4))


@pytest.mark.parametrize("labels", [["a", "b", "c"], [0, 1, 2], [False, True]], ids=str)
def test_priors_by_label(labels):
    x, y = np.random.default_rng(0).normal(size=(20 * len(labels), 1)), np.repeat(labels, 20)
    priors = dict(zip(labels, [0.5, 0.2, 0.3], strict=False))
    reordered = dict(reversed(priors.items()))
    fitted = RatioClassifier(ratio=KDE, priors=reordered).fit(x, y)
    np.testing.assert_allclose(fitted.priors_, np.array(list(priors.values())) / sum(priors.values()))
    assert "prior of" in fitted._repr_html_()


@pytest.mark.parametrize(
    ("priors", "message"),
    [
        ({"a": 0.5}, r"exactly the labels of the classes, \['a', 'b'\]\. Got \['a'\] instead; add \['b'\]\."),
        ({"a": 0.5, np.str_("c"): 0.5}, r"Got \['a', 'c'\] instead; add \['b'\] and take out \['c'\]\."),
        ({"a": 0.5, "b": "much"}, r"one non-negative number for each of the 2 classes \['a', 'b'\]"),
        ({"a": 0.5, "b": np.nan}, "one non-negative number"),
        ([0.5, 0.2, 0.3], r"2 classes \['a', 'b'\], by label in a dict or in this order"),
    ],
)
def test_priors_that_do_not_fit_the_labels_are_told(priors, message):
    x, y = np.random.default_rng(0).normal(size=(40, 1)), np.repeat(["a", "b"], 20)
    with pytest.raises(ValueError, match=message):
        RatioClassifier(ratio=KDE, priors=priors).fit(x, y)


def test_weights_count_as_rows_in_the_priors():
    x, y = load_iris(return_X_y=True)
    weight = np.where(y == 1, 3.0, 1.0)
    np.testing.assert_allclose(RatioClassifier(ratio=KDE).fit(x, y, sample_weight=weight).priors_, [0.2, 0.6, 0.2])
    without = RatioClassifier(ratio=KDE).fit(x, y, sample_weight=np.where(y == 1, 0.0, 1.0))
    assert list(without.classes_) == [0, 2]


def test_groups_that_count_in_each_class():
    x, y = load_iris(return_X_y=True)
    groups = np.tile(np.arange(10), 15)
    ratio = DensityRatio(guide="gaussian")
    weight = np.where((y == 1) & (groups < 6), 0.0, 1.0)
    with pytest.raises(ValueError, match="Class 1 has rows of 4 groups; at least 5 are needed"):
        RatioClassifier(ratio=ratio).fit(x, y, sample_weight=weight, groups=groups)
    weight = np.where((y == 1) & (groups < 5), 0.0, 1.0)
    fitted = RatioClassifier(ratio=ratio).fit(x, y, sample_weight=weight, groups=groups)
    expected = RatioClassifier(ratio=ratio).fit(x[weight > 0], y[weight > 0], groups=groups[weight > 0])
    np.testing.assert_array_equal(fitted.predict_proba(x), expected.predict_proba(x))


def test_pipelines_and_grid_search():
    x, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), RatioClassifier(ratio=DensityRatio(guide=None, weighting="uniform")))
    grid = {"ratioclassifier__ratio__bandwidth": [0.3, 0.6, 50.0]}
    search = GridSearchCV(model, grid, scoring="neg_log_loss", cv=3).fit(x, y)
    assert search.best_params_["ratioclassifier__ratio__bandwidth"] != 50.0


def test_classes_that_do_not_meet():
    x = np.array([[0.0, 1.0], [0.1, 1.0], [0.2, 1.0], [0.0, 2.0], [0.1, 2.0], [0.2, 2.0]])
    y = np.repeat([0, 1], 3)
    classifier = RatioClassifier().fit(x, y)
    assert classifier.score(x, y) == 1
    assert np.isfinite(classifier.predict_log_proba(x)).all()


def test_classes_without_any_variation():
    x, y = np.repeat([[0.0], [1.0]], 30, axis=0), np.repeat(["a", "b"], 30)
    assert RatioClassifier().fit(x, y).predict([[0.1], [0.9]]).tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("categories", "score"), [("uvw", 1.0), ("uvww", 0.7)], ids=["a category each", "two classes in one category"]
)
@pytest.mark.filterwarnings("ignore::vwkde.exceptions.DegenerateDataWarning")
def test_columns_that_two_of_several_classes_share_do_not_spoil_the_third(categories, score):
    """The 0/1 column of the third class's category is zero in both others: it says nothing about these."""
    classes = len(categories)
    x = np.random.default_rng(0).normal(size=50 * classes)
    table, y = pd.DataFrame({"x": x, "k": np.repeat(list(categories), 50)}), np.repeat(np.arange(classes), 50)
    classifier = RatioClassifier().fit(table, y)
    assert classifier.score(table, y) >= score
    np.testing.assert_allclose(classifier.predict_proba(table).sum(axis=1), 1)
    far = table.assign(x=table["x"] * 1e300)
    np.testing.assert_allclose(classifier.predict_proba(far).sum(axis=1), 1)


@pytest.mark.parametrize("size", [1.0, 1e200, 1e-200])
@pytest.mark.filterwarnings("ignore::vwkde.exceptions.DegenerateDataWarning")
def test_the_unit_of_separated_classes_does_not_matter(size):
    y = np.repeat([0, 1], 100)
    x = size * np.column_stack([np.random.default_rng(0).normal(size=200) - 3 * (y == 0), y])
    classifier = RatioClassifier(ratio=KDE).fit(x, y)
    assert isinstance(classifier.ratios_[0, 1], NearestMean)
    assert classifier.score(x, y) == 1
    np.testing.assert_allclose(classifier.predict_proba(FAR).sum(axis=1), 1)


@pytest.mark.parametrize(
    ("y", "parameters", "message"),
    [
        ([0] * 6, {}, "at least 2 classes; the data have 1 class"),
        ([0, 0, 0, 0, 0, 1], {}, "has 1 row; at least 2 are needed"),
        ([0, 0, 0, 1, 1, 1], {"priors": [1.0]}, "one non-negative number for each of the 2 classes"),
        ([0, 0, 0, 1, 1, 1], {"priors": [2.0, -1.0]}, "one non-negative number for each of the 2 classes"),
        ([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], {}, "Unknown label type"),
    ],
)
def test_bad_input_is_told(y, parameters, message):
    x = np.random.default_rng(0).normal(size=(6, 2))
    with pytest.raises(ValueError, match=message):
        RatioClassifier(**parameters).fit(pd.DataFrame(x, columns=["a", "b"]), y)


def test_the_card_shows_the_divergences_of_the_weighted_rows():
    p, q = isotropic(2).sample(150)
    X, y = np.concatenate([p, q]), np.repeat(["a", "b"], 150)
    weight = np.where(X[:, 0] > 0, 5.0, 1.0)
    fitted = RatioClassifier().fit(X, y, sample_weight=weight)
    ratio = fitted.ratios_[0, 1]
    for kind in ("kl", "reverse-kl"):
        assert f"{ratio.divergence(kind).value:.2f}" in fitted._repr_html_()


def test_a_fit_that_fails_leaves_the_earlier_one():
    X, y = load_iris(return_X_y=True)
    fitted = RatioClassifier(ratio=KDE).fit(X, y)
    expected = fitted.predict(X)
    with pytest.raises(ValueError, match="at least 2 classes"):
        fitted.fit(X, np.zeros(len(X)))
    np.testing.assert_array_equal(fitted.predict(X), expected)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.Series(["a", None] * 10), "X must have no missing values"),
        (pd.Series(pd.date_range("2026-01-01", periods=20)), "Got dates or times in column 'extra'"),
    ],
    ids=["missing", "dates"],
)
def test_columns_are_refused_with_the_argument_that_helps(column, words):
    table, y = pd.DataFrame({"x": np.arange(20.0) % 7, "extra": column}), np.arange(20) % 2
    with pytest.raises(ValueError, match=words) as refused:
        RatioClassifier().fit(table, y)
    assert re.search(r"give (missing='indicator'|dates='number')", str(refused.value))
    assert "parameters of the ratio: ratio=DensityRatio(" in refused.value.__notes__[0]
