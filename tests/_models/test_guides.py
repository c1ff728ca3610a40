from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal, special_ortho_group
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.covariance import LedoitWolf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from support.trees import classifier_of
from vwkde import DensityRatio
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample, make_sample
from vwkde._models.derivatives.mixture import make_mixture, marginal_mixture
from vwkde._models.gaussian import noise_of_unbiased, shrunk_gaussian, unbiased_gaussian
from vwkde._models.guides import GUIDES, boosting, logistic
from vwkde._models.guides import cross_fit as cross_fit_module
from vwkde._models.guides.additive import additive_forms
from vwkde._models.guides.boosting import BOOSTING, boosting_forms, fit_boosting
from vwkde._models.guides.classifiers import fit_classifier
from vwkde._models.guides.cross_fit import FOLDS, cross_fit, no_guide
from vwkde._models.guides.densities import fit_gaussians, fit_shared_gaussians
from vwkde._models.guides.few_trees import FewTrees
from vwkde._models.guides.kind import Refinement
from vwkde._models.guides.logistic import fit_logistic, quadratic_features
from vwkde._models.guides.splines import AdditiveSplines
from vwkde._models.log_loss import log_loss
from vwkde.datasets import mean_difference


def sample(x, weight=None):
    return Sample(x, np.ones(len(x)) if weight is None else weight / weight.mean(), np.arange(len(x)))


PAIR = mean_difference(3, 1.0)
P, Q = (sample(x) for x in PAIR.sample(400, 300))
X = np.random.default_rng(1).normal(size=(50, 3))


def test_the_unbiased_gaussian_is_right_in_the_mean_and_the_plain_one_is_not():
    random = np.random.default_rng(0)
    points = random.normal(size=(6, 3))
    samples = [sample(random.normal(size=(15, 3))) for _ in range(4_000)]
    unbiased = np.array([unbiased_gaussian(s).log_density(points) for s in samples])
    plain = np.array([multivariate_normal(*s.mean_and_covariance()).logpdf(points) for s in samples[:1_000]])
    truth = multivariate_normal(np.zeros(3)).logpdf(points)
    error = unbiased.std(axis=0) / np.sqrt(len(samples))
    assert (np.abs(unbiased.mean(axis=0) - truth) < 4 * error).all()
    assert (np.abs(plain.mean(axis=0) - truth) > 8 * error).any()


def test_the_shrunk_gaussian_is_that_of_ledoit_and_wolf():
    model = LedoitWolf().fit(P.points)
    biased = shrunk_gaussian(P)
    expected = multivariate_normal(model.location_, model.covariance_).logpdf(X)
    np.testing.assert_allclose(biased.log_density(X), expected, atol=0.02)  # its covariance divides by n, not n − 1


@pytest.mark.parametrize("flat", [1, 2])
@pytest.mark.parametrize("seed", range(10))
def test_a_covariance_with_a_wide_and_a_flat_direction_can_be_shrunk_towards(flat, seed):
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(5, 5)))[0]
    x = random.normal(size=(60, 5)) * ([1e4] + [1.0] * (4 - flat) + [0.0] * flat) @ turn
    assert np.isfinite(shrunk_gaussian(sample(x), np.cov(x.T)).log_density(x)).all()


def test_few_rows_fall_back_on_the_shrunk_gaussian():
    few = sample(P.points[:6])
    np.testing.assert_array_equal(unbiased_gaussian(few).log_density(X), shrunk_gaussian(few).log_density(X))


@pytest.mark.parametrize("inverse_ridge", [0.01, 1.0])
def test_a_quadratic_form_has_the_coefficients_of_its_features(inverse_ridge, monkeypatch):
    by_features = fit_logistic(inverse_ridge, P, Q)
    monkeypatch.setattr(logistic, "FEW_FEATURES", 0)
    by_slopes = fit_logistic(inverse_ridge, P, Q)
    assert np.abs(by_features.curvature).max() > 0.01
    np.testing.assert_allclose(by_slopes.curvature, by_features.curvature, atol=1e-4)
    np.testing.assert_allclose(by_slopes(X), by_features(X), atol=1e-3)


def test_a_ridge_on_quadratic_features_does_not_see_the_axes():
    turn = special_ortho_group.rvs(3, random_state=0)
    products = quadratic_features(X) @ quadratic_features(X).T
    np.testing.assert_allclose(quadratic_features(X @ turn) @ quadratic_features(X @ turn).T, products, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in GUIDES if name != "windows"])  # these columns are not alike
def test_every_guide_is_a_coarse_log_ratio(name):
    guide = cross_fit(name, (P, Q), 0)
    truth = PAIR.log_ratio(X)
    assert guide.name == name
    least = 0.75 if name == "boxes" else 0.85  # so few rows show two steps of a slope, whose correlation with it is 0.8
    assert np.corrcoef(guide(X), truth)[0, 1] > least
    assert np.mean((guide(X) - truth) ** 2) < 0.5 * np.mean(truth**2)
    assert len(guide.models) == FOLDS


@pytest.mark.parametrize("name", list(GUIDES))
def test_swapping_the_samples_turns_the_sign(name):
    one, other = cross_fit(name, (P, Q), 0), cross_fit(name, (Q, P), 0)
    tolerance = {"boosting": 0.3, "waves": 0.01}.get(name, 1e-6)  # waves are found in single precision
    np.testing.assert_allclose(one.at_samples[0], -other.at_samples[1], atol=tolerance)
    np.testing.assert_allclose(one(X), -other(X), atol=tolerance)


def test_values_at_the_samples_come_from_models_that_did_not_see_them():
    """A classifier that knows its rows by heart knows nothing of those held out."""
    same = [sample(x) for x in mean_difference(3, 0.0).sample(300)]
    memory = KNeighborsClassifier(1)
    guide = cross_fit(memory, same, 0)
    held_out = np.concatenate([guide.at_samples[0] > 0, guide.at_samples[1] < 0])
    seen = guide.models[0](same[0].points) > 0
    assert 0.4 < held_out.mean() < 0.6
    assert seen.mean() > 0.85  # four fifths by heart, the rest by chance
    assert guide.name == "KNeighborsClassifier"


def test_unequal_sizes_do_not_tilt_a_classifier():
    for classifier in (LinearDiscriminantAnalysis(), make_pipeline(StandardScaler(), LogisticRegression())):
        few = sample(Q.points[:80])
        guide = fit_classifier(classifier, P, few)
        assert np.mean(guide(X) - PAIR.log_ratio(X)) == pytest.approx(0, abs=0.35)


def test_row_weights_reach_every_guide():
    weight = np.exp(P.points[:, 0])  # turns the numerator into the denominator
    weighted = sample(P.points, weight)
    for name in list(GUIDES):
        found, expected = (np.abs(cross_fit(name, (p, Q), 0)(X)).mean() for p in (weighted, P))
        assert found < 0.7 * expected


def test_noise_is_the_variance_over_samples():
    guides = [cross_fit("gaussian", tuple(sample(x) for x in PAIR.sample(200, random_state=s)), 0) for s in range(40)]
    variance = np.var([guide(X) for guide in guides], axis=0)
    noise = np.mean([np.mean(guide.noise[0]) for guide in guides])
    assert 0.4 < noise / variance.mean() < 2.5


def test_no_guide_is_zero_everywhere():
    guide = no_guide((P, Q))
    assert guide.name == "none"
    assert not guide(X).any()
    assert not guide.at_samples[0].any()


def test_folds_may_come_with_the_rows():
    fold = np.arange(400) % FOLDS
    with_fold = Sample(P.points, P.weight, P.rows, fold=fold)
    guide = cross_fit("gaussian", (with_fold, Q), 0)
    without = with_fold.subset(fold != 2)
    assert len(without) == 320
    rows = fold == 2
    np.testing.assert_allclose(guide.at_samples[0][rows], guide.models[2](P.points[rows]))
    assert not np.allclose(guide.at_samples[0][rows], guide.models[1](P.points[rows]))


def test_the_best_ridge_is_the_one_with_the_smallest_held_out_loss():
    guide = cross_fit("logistic", (P, Q), 0)
    loss = log_loss(guide.at_samples, (P, Q))
    truth = log_loss((PAIR.log_ratio(P.points), PAIR.log_ratio(Q.points)), (P, Q))
    assert truth < loss < truth + 0.02


@pytest.mark.parametrize("many", [True, False])
def test_a_flexible_form_that_loses_in_two_folds_of_many_rows_is_not_fitted_in_the_others(many, monkeypatch):
    fits = {"good": 0, "better": 0, "worse": 0, "last": 0}

    def form(name, slope):
        def fit(numerator, denominator):
            del numerator, denominator
            fits[name] += 1
            return lambda x: slope * PAIR.log_ratio(x)

        return fit

    forms = form("good", 0.3), form("better", 1.0), form("worse", -1.0), form("last", 1.0)
    monkeypatch.setitem(GUIDES, "boosting", replace(GUIDES["boosting"], forms=lambda *_: forms))
    monkeypatch.setattr(cross_fit_module, "_MANY_ROWS", 300 if many else 301)
    guide = cross_fit("boosting", (P, Q), 0)
    assert fits == {"good": FOLDS, "better": FOLDS, "worse": 2 if many else FOLDS, "last": 0}
    for values, side in zip(guide.at_samples, (P, Q), strict=True):
        np.testing.assert_array_equal(values, PAIR.log_ratio(side.points))


@pytest.mark.parametrize("base_is_best", [True, False])
def test_what_a_form_refines_is_fitted_again_only_if_it_was_not_the_best_so_far(base_is_best, monkeypatch):
    fits = []

    def fit(numerator, denominator):
        fits.append(len(numerator) + len(denominator))
        return lambda x: 0.5 * PAIR.log_ratio(x)

    def better(numerator, denominator):
        del numerator, denominator
        return lambda x: 0.6 * PAIR.log_ratio(x)

    refined = Refinement(fit, lambda base, *_: lambda x: 2 * base(x))
    forms = (fit, refined) if base_is_best else (fit, better, refined)
    monkeypatch.setitem(GUIDES, "lump", replace(GUIDES["lump"], forms=lambda *_: forms))
    guide = cross_fit("lump", (P, Q), 0)
    assert len(fits) == (FOLDS if base_is_best else 2 * FOLDS)
    assert guide.fit is refined
    np.testing.assert_array_equal(guide.at_samples[0], PAIR.log_ratio(P.points))


def test_directions_that_do_not_vary_give_finite_values():
    flat = P.points.copy()
    flat[:, 0] = 0.0
    guide = fit_gaussians(sample(flat), Q)
    assert np.isfinite(guide(X)).all()


def test_the_additive_guide_suits_columns_of_another_shape():
    random = np.random.default_rng(0)
    p, q = sample(random.laplace(size=(600, 3))), sample(random.laplace(0.5, size=(600, 3)))
    losses = {}
    for name in ("gaussian", "logistic", "mixture", "additive"):
        guide = cross_fit(name, (p, q), 0)
        losses[name] = log_loss(guide.at_samples, (p, q))
    assert min(losses, key=losses.get) == "additive"
    assert losses["additive"] < min(loss for name, loss in losses.items() if name != "additive") - 0.005


def test_splines_leave_columns_of_few_values_as_they_are():
    random = np.random.default_rng(0)
    x = np.column_stack([random.normal(size=100), random.integers(0, 2, 100), np.ones(100)])
    splines = AdditiveSplines().fit(x)
    features = splines.transform(x)
    assert features.shape[1] > 8
    np.testing.assert_array_equal(features[:, -2:], x[:, 1:])
    assert np.isfinite(splines.transform(1e6 * x)).all()


def test_columns_with_fine_structure_get_more_knots():
    random = np.random.default_rng(0)
    x = random.random((6_000, 2))
    toothed = x[random.random(len(x)) < 0.5 + 0.35 * np.sin(16 * np.pi * x[:, 0])]
    samples = sample(toothed), sample(random.random((3_000, 2)))
    (fit,) = additive_forms(*samples)
    knots = fit.args[0]
    assert knots[0] >= 32
    assert knots[1] == 8
    truth = np.log1p(0.7 * np.sin(16 * np.pi * x[:, 0]))
    assert np.corrcoef(cross_fit("additive", samples, 0)(x), truth)[0, 1] > 0.9
    (fit,) = additive_forms(samples[1], sample(random.random((3_000, 2))))
    assert fit.args[0] == (8, 8)


def test_the_product_of_independent_columns_is_modelled_by_its_marginals():
    random = np.random.default_rng(0)
    z, rows = random.normal(size=(60, 5)), np.arange(60)
    joint = Sample(z, np.ones(60), rows, pairs=Pairs(2, rows, rows))
    product = Sample(
        np.column_stack([z[:, :2], np.roll(z[:, 2:], 1, axis=0)]), np.ones(60), rows, pairs=Pairs(2, rows, rows - 1)
    )
    found = fit_gaussians(joint, product)(z)
    x, y = (unbiased_gaussian(Sample(part, np.ones(60), rows)).log_density(part) for part in np.split(z, [2], axis=1))
    np.testing.assert_allclose(found, unbiased_gaussian(joint).log_density(z) - x - y, rtol=1e-9, atol=1e-9)


def test_the_marginal_of_a_mixture():
    random = np.random.default_rng(0)
    roots = random.normal(size=(2, 3, 3))
    mixture = make_mixture(
        np.array([0.3, 0.7]), random.normal(size=(2, 3)), roots @ roots.transpose(0, 2, 1) + np.eye(3)
    )
    grid = np.linspace(-12, 12, 4001)
    point = np.array([0.2, -0.4])
    density = np.exp(mixture.log_density(np.column_stack([np.tile(point, (len(grid), 1)), grid])))
    expected = np.log(np.trapezoid(density, grid))
    assert marginal_mixture(mixture, slice(2)).log_density(point[None])[0] == pytest.approx(expected)


def test_noise_is_that_at_rows_which_a_model_has_not_seen():
    """Equal samples: all that the guide says is noise. At its own rows a Gaussian of 20 columns has a quarter less."""
    random = np.random.default_rng(0)
    shares = []
    for _ in range(10):
        samples = tuple(make_sample(random.normal(size=(100, 20)), np.ones(100)) for _ in range(2))
        guide = cross_fit("gaussian", samples, 0)
        shares += [noise.mean() / u.var() for noise, u in zip(guide.noise_by_theory, guide.at_samples, strict=True)]
        assert all(noise.mean() <= u.var() * 1.001 for noise, u in zip(guide.sure_noise, guide.at_samples, strict=True))
    assert np.mean(shares) == pytest.approx(1, abs=0.1)


def test_the_noise_of_the_unbiased_gaussian_is_its_variance():
    random = np.random.default_rng(0)
    points = random.normal(size=(20, 8))
    models = [unbiased_gaussian(sample(random.normal(size=(40, 8)))) for _ in range(1_500)]
    variance = np.var([model.log_density(points) for model in models], axis=0)
    noise = np.mean([noise_of_unbiased(model, 40, points) for model in models], axis=0)
    np.testing.assert_allclose(noise.mean(), variance.mean(), rtol=0.1)


def test_gaussians_with_one_covariance_give_an_unbiased_linear_guide():
    pair = mean_difference(3, 1.0)
    guides = [fit_shared_gaussians(*map(sample, pair.sample(12, 15, random_state=seed))) for seed in range(1_500)]
    values = np.array([guide(X[:5]) for guide in guides])
    error = values.std(axis=0) / np.sqrt(len(values))
    assert (np.abs(values.mean(axis=0) - pair.log_ratio(X[:5])) < 4 * error).all()
    middle = 0.5 * (X[0] + X[1])
    np.testing.assert_allclose(guides[0](middle[None]), 0.5 * (values[0, 0] + values[0, 1]))


def test_a_shrunk_guide_does_not_know_the_coordinates_of_held_out_rows():
    """Coordinates from all rows, towards which a covariance is shrunk, know something about the rows held out."""
    random = np.random.default_rng(0)
    p, q = random.normal(size=(2, 120, 80))
    root = np.linalg.cholesky(np.linalg.inv((np.cov(p.T) + np.cov(q.T)) / 2))
    white = tuple(sample(x @ root) for x in (p, q))
    guide = cross_fit("shrunk-gaussian", white, 0)
    assert log_loss(guide.at_samples, white) > np.log(2)


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_on_steps_are_those_of_scikit_learn(weighted, few, monkeypatch):
    random = np.random.default_rng(0)
    weights = random.random((2, 300)) if weighted else (None, None)
    p, q = (
        sample(np.column_stack([x[:, 0], x[:, 1].round(1), x[:, 2]]), weight)
        for x, weight in zip(PAIR.sample(300), weights, strict=True)
    )
    monkeypatch.setattr(boosting, "_FEW_ROWS", 1_000 if few else 100)
    on_steps, by_itself = fit_boosting(BOOSTING, p, q), fit_classifier(classifier_of(BOOSTING), p, q)
    assert isinstance(on_steps.guide, FewTrees) == few
    assert np.ptp(on_steps(X)) > 1
    np.testing.assert_allclose(on_steps(X), by_itself(X), atol=1e-9)


class Returns(ClassifierMixin, BaseEstimator):
    """A classifier that returns something else than probabilities, or probabilities with rounding errors."""

    def __init__(self, how="nan"):
        self.how = how

    def fit(self, _x, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, x):
        half = np.full((len(x), 2), 0.5)
        return {
            "nan": half * np.nan,
            "values above one": 6 * half,
            "one column": half[:, :1],
            "no columns": half[:, 0],
            "too few rows": half[1:],
            "text": half.astype(str),
            "a list": half.tolist(),
            "rounding": half * (2 + 1e-7) * [1, 0],
        }[self.how]


@pytest.mark.parametrize("how", ["nan", "values above one", "one column", "no columns", "too few rows", "text"])
def test_a_classifier_that_returns_no_probabilities_is_named(how):
    with pytest.raises(ValueError, match=r"'guide' parameter .* predict_proba returns two .* Got .* from Returns"):
        cross_fit(Returns(how), (P, Q), 0)


@pytest.mark.parametrize("how", ["a list", "rounding"])
def test_other_forms_of_probabilities_are_taken(how):
    assert np.isfinite(np.concatenate(cross_fit(Returns(how), (P, Q), 0).at_samples)).all()


class OnlyFits:
    """Has the methods of a classifier, but cannot be cloned."""

    def fit(self, _x, _y):
        return self

    def predict_proba(self, x):
        return np.full((len(x), 2), 0.5)


@pytest.mark.parametrize("guide", [LogisticRegression, OnlyFits()])
@pytest.mark.parametrize("form", [lambda guide: guide, lambda guide: [guide]])
def test_a_class_or_what_cannot_be_cloned_is_no_guide(guide, form):
    with pytest.raises(ValueError, match="'guide' parameter of DensityRatio"):
        DensityRatio(guide=form(guide)).fit(P.points, Q.points)


def test_boosted_trees_see_finer_steps_where_there_are_many_rows():
    """A jump of the ratio lies between two steps; the rows there are on the wrong side."""
    random = np.random.default_rng(0)
    x = random.uniform(size=(40_000, 2))
    first = random.uniform(size=len(x)) < np.where(x[:, 0] > 1 / np.pi, 0.8, 0.2)
    p, q = (sample(x[each][:10_000]) for each in (first, ~first))
    forms = boosting_forms(p, q)
    assert [form.args[0].steps for form in forms] == [63, 255, 255]
    assert [form.args[0].steps for form in boosting_forms(P, Q)] == [63]
    at = np.column_stack([1 / np.pi + np.linspace(-0.01, 0.01, 2_001), np.full(2_001, 0.5)])
    truth = np.where(at[:, 0] > 1 / np.pi, 1, -1)
    coarse, fine = (np.mean(np.sign(form(p, q)(at)) != truth) for form in forms[:2])
    assert fine < coarse
