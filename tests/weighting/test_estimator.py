"""Estimators for another population: as scikit-learn expects, better there, and scored for it."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import vwkde
from vwkde import ReweightedEstimator, weighted_scorer

RANDOM = np.random.default_rng(0)
X, TARGET = RANDOM.normal(0, 1, (400, 2)), RANDOM.normal([1.0, 0], 0.6, (300, 2))


def outcome(x):
    return np.sin(2 * x[:, 0])


Y = outcome(X) + RANDOM.normal(0, 0.1, 400)


@pytest.fixture(scope="module")
def model():
    return ReweightedEstimator(LinearRegression(), ratio="gaussian").fit(X, Y, TARGET)


def error(fitted):
    return np.mean((fitted.predict(TARGET) - outcome(TARGET)) ** 2)


def test_it_is_better_for_the_target(model):
    assert error(model) < 0.7 * error(LinearRegression().fit(X, Y))
    assert model.weights_.effective_size < 400
    assert model.n_features_in_ == 2


def test_the_score_is_that_for_the_target(model):
    new = RANDOM.normal(0, 1, (4_000, 2))
    over_target = 1 - error(model) / outcome(TARGET).var()
    unweighted = model.estimator_.score(new, outcome(new))
    assert abs(model.score(new, outcome(new)) - over_target) < 0.3 * abs(unweighted - over_target)


def test_searches_choose_for_the_target():
    """The slope is negative where the model is used: a strong ridge, or a wrong score, would hide it."""
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(), Ridge())
    model = ReweightedEstimator(pipeline, target=TARGET, ratio="gaussian")
    grid = {"estimator__polynomialfeatures__degree": [1, 3]}
    search = GridSearchCV(model, grid, cv=3, scoring=weighted_scorer("neg_mean_squared_error")).fit(X, Y)
    assert search.best_params_["estimator__polynomialfeatures__degree"] == 3
    assert error(search) < error(model.fit(X, Y)) + 0.05
    assert np.isfinite(cross_val_score(model, X, Y, cv=3)).all()


def test_classifiers_stay_classifiers():
    labels = np.where(Y > 0, "up", "down")
    model = ReweightedEstimator(LogisticRegression(), ratio="gaussian").fit(X, labels, TARGET)
    assert is_classifier(model)
    assert not is_regressor(model)
    assert list(model.classes_) == ["down", "up"]
    assert model.predict_proba(TARGET).shape == (300, 2)
    assert model.decision_function(TARGET).shape == (300,)
    assert 0 <= model.score(X, labels) <= 1
    assert not hasattr(ReweightedEstimator(LinearRegression()), "predict_proba")


def test_own_weights_and_tables():
    own = np.where(X[:, 1] > 0, 2.0, 1.0)
    frame, target = (pd.DataFrame(x, columns=["a", "b"]) for x in (X, TARGET))
    model = ReweightedEstimator(Ridge(), ratio="gaussian").fit(frame, Y, target, sample_weight=own)
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_allclose(model.weights_.values.sum(), own.sum())


def test_missing_values_and_dates_are_read_as_asked():
    frame, target = (pd.DataFrame(x, columns=["a", "b"]).assign(day=pd.Timestamp("2026-01-01")) for x in (X, TARGET))
    for table in (frame, target):
        table.loc[::9, "b"] = np.nan
    columns = make_column_transformer((SimpleImputer(), ["a", "b"]))
    model = ReweightedEstimator(
        make_pipeline(columns, LinearRegression()), ratio="logistic", missing="indicator", dates="drop"
    )
    model.fit(frame, Y, target)
    expected = vwkde.importance_weights(target, frame, estimator="logistic", missing="indicator", dates="drop")
    np.testing.assert_allclose(model.weights_.values, expected.values)
    assert np.isfinite(model.score(frame, Y))
    with pytest.raises(ValueError, match=r"belong to the estimator that was given\. Got \['dates', 'missing'"):
        ReweightedEstimator(Ridge(), ratio=vwkde.DensityRatio(), missing="indicator", dates="drop").fit(X, Y, TARGET)


def test_without_a_target_it_is_the_estimator_and_says_so():
    with pytest.warns(UserWarning, match=r"no target sample .* fit\(X, y, X_target\)"):
        model = ReweightedEstimator(Ridge()).fit(X, Y)
    np.testing.assert_allclose(model.predict(X), Ridge().fit(X, Y).predict(X))
    assert model.weights_ is None
    assert model.score(X, Y) == pytest.approx(Ridge().fit(X, Y).score(X, Y))


def test_metadata_may_be_routed():
    with config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(), LinearRegression())
        ReweightedEstimator(pipeline, ratio="additive").fit(X, Y, TARGET)


def test_it_is_cloned_and_errors_name_what_is_wrong(model):
    assert clone(model).get_params()["ratio"] == "gaussian"
    with pytest.raises(NotFittedError):
        ReweightedEstimator(Ridge()).predict(X)
    with pytest.raises(ValueError, match=r"must take sample_weight in fit\. Got KNeighborsRegressor"):
        ReweightedEstimator(KNeighborsRegressor()).fit(X, Y, TARGET)
    with pytest.raises(TypeError, match="scores a ReweightedEstimator"):
        weighted_scorer("r2")(Ridge().fit(X, Y), X, Y)
    with pytest.raises(ValueError, match="as many columns as the numerator") as refused:
        ReweightedEstimator(Ridge()).fit(X, Y, TARGET[:, :1])
    assert "the numerator is the target sample" in refused.value.__notes__[0]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning", "ignore:ReweightedEstimator has no target")
def test_scikit_learns_own_checks():
    """The constructor needs an estimator, as that of other meta-estimators does."""
    results = check_estimator(ReweightedEstimator(Ridge()), on_fail=None)
    failed = [result["check_name"] for result in results if result["status"] == "failed"]
    assert failed == []
    assert vwkde.ReweightedEstimator is ReweightedEstimator


def test_intervals_cover_the_target_though_errors_grow_there():
    """Errors grow with x, and so does the target: unweighted intervals would be too narrow there."""
    random = np.random.default_rng(5)

    def draw(rows, mean):
        x = random.normal(mean, 0.7, (rows, 1))
        return x, x[:, 0] + np.exp(x[:, 0]) * random.normal(size=rows)

    (x, y), (calibration, of_calibration), (target, truth) = draw(500, 0), draw(1_500, 0), draw(2_000, 0.7)
    model = vwkde.ReweightedEstimator(LinearRegression(), ratio="gaussian").fit(x, y, target)
    low, high = model.predict_interval(target, calibration, of_calibration, level=0.8).T
    assert np.mean((low <= truth) & (truth <= high)) == pytest.approx(0.8, abs=0.04)
    with pytest.warns(UserWarning, match="no target sample"):
        plain = vwkde.ReweightedEstimator(LinearRegression()).fit(x, y)
    low, high = plain.predict_interval(target, calibration, of_calibration, level=0.8).T
    assert np.mean((low <= truth) & (truth <= high)) < 0.7
    assert np.isinf(plain.predict_interval(target[:1], calibration[:3], of_calibration[:3])).all()
    with pytest.raises(ValueError, match="'level' parameter of predict_interval must be"):
        plain.predict_interval(target, calibration, of_calibration, level=90)
    with pytest.raises(ValueError, match="one finite number for each of the 1500 calibration rows"):
        plain.predict_interval(target, calibration, of_calibration[:9])
