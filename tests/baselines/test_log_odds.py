import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from vwkde.baselines.log_odds import classifier
from vwkde.datasets import isotropic, mean_difference

LINEAR = LogisticRegression(C=1e4)
P, Q = mean_difference(3, 1.2).sample(120, 80)


def test_recovers_the_divergence_in_two_dimensions():
    values = [classifier(*isotropic(2).sample(5_000, random_state=seed), 0).kl for seed in range(2)]
    assert np.mean(values) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(("n", "m"), [(3_000, 600), (600, 3_000)])
def test_sizes_may_differ(n, m):
    pair = mean_difference(2, 1.0)
    p, q = pair.sample(n, m)
    answer = classifier(p, q, 0, model=LINEAR)
    assert np.abs(answer.at_numerator - pair.log_ratio(p)).mean() < 0.15
    assert np.abs(answer.at_denominator - pair.log_ratio(q)).mean() < 0.15
    assert answer.kl == pytest.approx(0.5, abs=0.1)
    assert classifier(p, q, 0).kl == pytest.approx(0.5, abs=0.15)


def test_values_at_the_samples_are_cross_fitted():
    x, y = np.concatenate([P, Q]), np.repeat([1, 0], [120, 80])
    folds = StratifiedKFold(4, shuffle=True, random_state=7)
    probability = cross_val_predict(LINEAR, x, y, cv=folds, method="predict_proba")[:, 1]
    least = 0.5 / 150  # half a row of the three folds that a copy is fitted to
    probability = np.clip(probability, least, 1 - least)
    expected = np.log(probability / (1 - probability)) - np.log(120 / 80)
    answer = classifier(P, Q, 7, model=LINEAR, folds=4)
    np.testing.assert_allclose(np.concatenate([answer.at_numerator, answer.at_denominator]), expected, rtol=1e-9)
    assert answer.kl == pytest.approx(expected[:120].mean())


def test_new_points_get_the_mean_of_the_copies():
    x, y = np.concatenate([P, Q]), np.repeat([1, 0], [120, 80])
    copies = [
        LogisticRegression(C=1e4).fit(x[known], y[known])
        for known, _ in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y)
    ]
    new = np.random.default_rng(1).normal(size=(9, 3))
    expected = np.mean([copy.decision_function(new) for copy in copies], axis=0) - np.log(120 / 80)
    np.testing.assert_allclose(classifier(P, Q, 0, model=LINEAR).log_ratio(new), expected, rtol=1e-9)


def test_the_model_itself_is_left_alone():
    model = LogisticRegression()
    classifier(P, Q, 0, model=model)
    assert not hasattr(model, "coef_")


def test_certain_classifiers_give_finite_ratios():
    answer = classifier(P, Q, 0, model=DecisionTreeClassifier(random_state=0))
    assert np.isfinite([answer.kl, *answer.at_numerator, *answer.at_denominator, *answer.log_ratio(P)]).all()
    assert answer.at_numerator.max() == pytest.approx(np.log(2 * 160) - np.log(120 / 80), abs=0.01)


def test_scale_does_not_matter():
    p, q = isotropic(2).sample(400, 300)
    assert classifier(1000 * p, 1000 * q, 0).kl == pytest.approx(classifier(p, q, 0).kl, rel=1e-6)


def test_the_seed_decides():
    first, again, other = (classifier(P, Q, seed).kl for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_equal_rows_are_taken():
    answer = classifier(np.round(P), np.round(Q), 0)
    assert np.isfinite([answer.kl, *answer.at_numerator, *answer.at_denominator]).all()


@pytest.mark.parametrize("folds", [1, 81])
def test_wrong_folds_are_refused(folds):
    with pytest.raises(ValueError, match=f"The 'folds' parameter must be .* smaller sample, 80. Got {folds}"):
        classifier(P, Q, 0, folds=folds)
