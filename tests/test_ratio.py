import pickle
from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from vwkde import DensityRatio
from vwkde._compute import parallel
from vwkde._coordinates.whitening import fit_whitening
from vwkde._fit.bandwidth import select_bandwidth
from vwkde._fit.candidates import WeightTrial
from vwkde._models.gaussian import fit_gaussian
from vwkde.datasets import heteroscedastic, isotropic, mean_difference, one_dimensional, three_modes
from vwkde.ratio._plain import PlainRatio

PAIR = isotropic(3)
P, Q = PAIR.sample(180, 140)
Z = PAIR.numerator.sample(20, np.random.default_rng(9))
WEIGHTINGS = ["variational", "closed-form", "uniform"]


@cache
def default_ratio():
    """Return the default, fitted once for all tests that only ask it; none changes it."""
    return DensityRatio().fit(P, Q)


def values(ratio):
    """Return everything that a fitted ratio says."""
    return np.concatenate(
        [ratio.numerator_log_ratio_, ratio.denominator_log_ratio_, [ratio.divergence("kl").value, 1 / ratio.bandwidth_]]
    )


@pytest.mark.parametrize("weighting", WEIGHTINGS)
def test_ratio_is_that_of_the_weighted_sums(weighting):
    ratio = DensityRatio(guide=None, weighting=weighting).fit(P, Q)
    p, q, z = (ratio._fitted.average.main.coordinates(x) for x in (P, Q, Z))
    log_weight = [ratio.log_weight(x) for x in (P, Q)]

    def log_density(x, points, weight, own=False):
        squared = cdist(x, points, "sqeuclidean")
        if own:
            np.fill_diagonal(squared, np.inf)
        return logsumexp(weight - squared / (2 * ratio.bandwidth_**2), axis=1) - np.log(len(points) - own)

    at_new = log_density(z, p, log_weight[0]) - log_density(z, q, log_weight[1])
    at_numerator = log_density(p, p, log_weight[0], own=True) - log_density(p, q, log_weight[1])
    at_denominator = log_density(q, p, log_weight[0]) - log_density(q, q, log_weight[1], own=True)
    np.testing.assert_allclose(ratio.log_ratio(Z), at_new, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ratio.numerator_log_ratio_, at_numerator, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ratio.denominator_log_ratio_, at_denominator, rtol=1e-9, atol=1e-10)
    assert ratio.divergence("kl").value == pytest.approx(at_numerator.mean())


def test_the_closed_form_weight_is_that_of_the_fitted_gaussians():
    """Up to a constant, which whitening and normalisation leave open."""
    ratio = DensityRatio(guide=None, weighting="closed-form", derivatives="gaussian").fit(P, Q)
    densities = [multivariate_normal(x.mean(axis=0), np.cov(x, rowvar=False)) for x in (P, Q)]
    expected = -0.5 * sum(density.logpdf(Z) for density in densities)
    found = ratio.log_weight(Z)
    np.testing.assert_allclose(found - found[0], expected - expected[0], rtol=1e-6, atol=1e-6)
    assert np.ptp(expected) > 1


def test_a_plain_estimate_has_a_constant_weight():
    assert np.ptp(DensityRatio(guide=None, weighting="uniform").fit(P, Q).log_weight(Z)) == 0


def test_a_ridge_flattens_the_weight_until_none_is_left():
    """It is a penalty on the coefficients, so these shrink with it, whatever the data."""
    ridges = 1e-3, 0.1, 10.0, 1e9
    fitted = [DensityRatio(guide=None, derivatives="gaussian", ridge=ridge).fit(P, Q) for ridge in ridges]
    size = [np.linalg.norm(ratio.weight_.coefficients) for ratio in fitted]
    assert (np.diff(size) < 0).all()
    plain = DensityRatio(guide=None, weighting="uniform").fit(P, Q)
    np.testing.assert_allclose(fitted[-1].log_ratio(Z), plain.log_ratio(Z), atol=1e-5)
    assert np.abs(fitted[1].log_ratio(Z) - plain.log_ratio(Z)).max() > 0.1


@pytest.mark.parametrize(
    "part",
    [
        {"weighting": "closed-form"},
        {"weighting": "uniform"},
        {"weighting": "network"},
        {"target": "kl"},
        {"derivatives": "gaussian"},
        {"derivatives": LinearRegression()},
    ],
    ids=str,
)
def test_a_guide_chosen_from_the_data_refuses_parts_of_the_paper(part):
    (name,) = part
    message = rf"(?s)The '{name}' parameter of DensityRatio must be .* with guide='auto'.* instead; give guide=None"
    estimator = DensityRatio(**part)
    with pytest.raises(ValueError, match=message):
        estimator.fit(P, Q)


def test_the_default_spelled_out_is_the_default():
    spelled = DensityRatio(guide="auto", weighting="variational", derivatives="auto", target="pooled").fit(P, Q)
    np.testing.assert_array_equal(values(spelled), values(default_ratio()))
    assert spelled.diagnostics_["guide"] != "none"
    assert spelled.diagnostics_["weighting_tried"] == "variational"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"guide": None},
        {"guide": None, "target": "posterior"},
        {"guide": None, "weighting": "closed-form"},
        {"guide": None, "weighting": "uniform"},
    ],
    ids=str,
)
def test_any_affine_copy_gives_the_same_answer(options):
    random = np.random.default_rng(3)
    turn = np.linalg.qr(random.normal(size=(3, 3)))[0]
    estimator = DensityRatio(**options)
    expected = estimator.fit(P, Q) if options else default_ratio()
    maps = {
        "translated": (np.eye(3), 1e4),
        "enlarged": (1e6 * np.eye(3), 0),
        "reduced": (1e-6 * np.eye(3), 0),
        "turned": (turn, 0),
        "badly scaled": (np.diag([1e-6, 1.0, 1e6]), 0),
        "sheared": (random.normal(size=(3, 3)) @ np.diag([1, 100, 1e4]), 5),
    }
    if not options:  # the default looks at columns one by one and in pairs
        del maps["turned"], maps["sheared"]
    for a, b in maps.values():
        found = clone(estimator).fit(P @ a + b, Q @ a + b)
        np.testing.assert_allclose(values(found), values(expected), rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found.log_ratio(Z @ a + b), expected.log_ratio(Z), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("guide", ["auto", None])
def test_row_order_does_not_matter_even_where_choices_are_random(guide):
    estimator = DensityRatio(guide=guide, max_basis=50)
    expected = estimator.fit(P, Q)
    log_ratio = expected.numerator_log_ratio_
    random = np.random.default_rng(0)
    rows, columns = random.permutation(len(P)), random.permutation(len(Q))
    found = clone(estimator).fit(P[rows], Q[columns])
    assert found.divergence("kl").value == pytest.approx(expected.divergence("kl").value, rel=1e-10)
    np.testing.assert_allclose(found.numerator_log_ratio_, log_ratio[rows], rtol=1e-9, atol=1e-10)


def test_memory_budget_and_threads_do_not_matter():
    expected = values(default_ratio())
    for parameters in ({"memory_budget": 1}, {"memory_budget": 100_000}, {"n_threads": 1}, {"n_threads": 3}):
        np.testing.assert_allclose(values(DensityRatio(**parameters).fit(P, Q)), expected, rtol=1e-9, atol=1e-10)


def test_the_same_seed_gives_the_same_answer():
    for options in ({"guide": None, "max_basis": 40}, {"guide": "auto"}):
        first, second = (values(DensityRatio(**options, random_state=5).fit(P, Q)) for _ in range(2))
        np.testing.assert_array_equal(first, second)
        assert not np.array_equal(first, values(DensityRatio(**options, random_state=6).fit(P, Q)))


def test_equal_weights_are_no_weights_and_their_scale_is_free():
    expected = values(default_ratio())
    for size in (1.0, 1e-9, 1e9):
        found = DensityRatio().fit(
            P, Q, numerator_weight=np.full(len(P), size), denominator_weight=np.full(len(Q), size)
        )
        np.testing.assert_allclose(values(found), expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::vwkde.exceptions.OverlapWarning")  # without its weights the numerator is too wide
@pytest.mark.parametrize("weighting", ["uniform", "variational"])
def test_weights_correct_a_biased_sample(weighting):
    """Points drawn from another density, weighted by the ratio to the right one, stand for the right one."""
    random = np.random.default_rng(0)
    wide = random.normal(0, 2, size=(1_500, 1))
    weight = np.exp(-0.5 * wide[:, 0] ** 2 * (1 - 1 / 4))
    q = random.normal(1, 1, size=(1_500, 1))
    estimator = DensityRatio(guide=None, weighting=weighting, bandwidth=0.4)
    found = estimator.fit(wide, q, numerator_weight=weight).divergence("kl")
    ignored = estimator.fit(wide, q).divergence("kl")
    assert found.value == pytest.approx(0.5, abs=0.12)
    assert ignored.value > 0.9


def test_rows_of_no_weight_have_no_say():
    weight = np.ones(len(P))
    weight[::3] = 0
    options = {"guide": None, "bandwidth": 0.6, "weighting": "uniform"}
    found = DensityRatio(**options).fit(P, Q, numerator_weight=weight)
    expected = DensityRatio(**options).fit(P[weight > 0], Q)
    # the pooled covariance counts degrees of freedom, which differ by the rows that do not count
    np.testing.assert_allclose(found.log_ratio(Z), expected.log_ratio(Z), atol=0.1)
    assert found.divergence("kl").value == pytest.approx(expected.divergence("kl").value, abs=0.05)


def test_posterior_follows_the_ratio_and_the_prior():
    ratio = default_ratio()
    r = ratio.ratio(Z)
    np.testing.assert_allclose(ratio.posterior(Z), r / (r + 1))
    np.testing.assert_allclose(ratio.posterior(Z, prior=0.2), 0.2 * r / (0.2 * r + 0.8))


@pytest.mark.parametrize("target", ["pooled", "posterior", "ratio", "kl"])
def test_every_target_lowers_the_bias_where_it_looks(target):
    pair = isotropic(5)
    p, q = pair.sample(400)
    x = np.concatenate([p, q])
    r = np.exp(pair.log_ratio(x))
    importance = {"pooled": r**0, "posterior": (r / (1 + r) ** 2) ** 2, "ratio": r**2, "kl": r / (1 + r)}[target]
    options = {"guide": None, "target": target}
    fitted = [DensityRatio(**options, weighting=weighting).fit(p, q) for weighting in ("variational", "uniform")]
    after, before = (np.average(ratio.residual_bias(x) ** 2, weights=importance) for ratio in fitted)
    assert after < 0.1 * before


def test_targets_differ():
    targets = ("pooled", "posterior", "ratio", "kl")
    results = [DensityRatio(guide=None, target=target).fit(P, Q).divergence("kl").value for target in targets]
    assert len({round(value, 8) for value in results}) == 4


def test_both_samples_count_alike_whatever_their_sizes():
    pair = isotropic(2)
    p, q = pair.sample(100, 3_000)
    ratio = DensityRatio(guide=None, max_basis=500).fit(p, q)
    plain = DensityRatio(guide=None, weighting="uniform").fit(p, q)
    for x in (p, q):
        assert np.mean(ratio.residual_bias(x) ** 2) < 0.05 * np.mean(plain.residual_bias(x) ** 2)


def test_residual_bias_predicts_the_error_of_plain_estimates():
    pair = one_dimensional()
    p, q = pair.sample(50_000)
    ratio = DensityRatio(guide=None, weighting="uniform", bandwidth=0.3).fit(p, q)
    x = np.linspace(-1, 1.5, 11)[:, None]
    error = ratio.log_ratio(x) - pair.log_ratio(x)
    predicted = ratio.bandwidth_**2 * ratio.residual_bias(x)
    np.testing.assert_allclose(error, predicted, atol=0.05)
    assert np.abs(predicted).max() > 0.1


def test_far_queries_have_finite_log_ratios():
    far = np.array([[1e3, 0, 0], [0, -1e5, 0.0]])
    for weighting in WEIGHTINGS:
        ratio = DensityRatio(guide=None, weighting=weighting).fit(P, Q)
        assert np.isfinite(ratio.log_ratio(far)).all()
        assert np.isfinite(ratio.ratio(far)).all()


@pytest.mark.parametrize("rule", ["scott", "silverman", "likelihood", "ise"])
def test_bandwidth_rules_are_averaged_over_the_samples(rule):
    ratio = DensityRatio(bandwidth=rule).fit(P, Q)
    each = [select_bandwidth(ratio._fitted.average.main.coordinates(x), rule) for x in (P, Q)]
    assert ratio.bandwidth_ == pytest.approx(np.mean(each), rel=1e-6)
    assert DensityRatio(guide=None).fit(P, Q).bandwidth_ != ratio.bandwidth_


def test_importance_weights_turn_the_denominator_into_the_numerator():
    pair = mean_difference(2, 1.0)
    target, training = pair.sample(800, 1_200)
    weight = DensityRatio().fit(target, training).importance_weights()
    assert weight.shape == (1_200,)
    assert weight.mean() == pytest.approx(1)
    assert (weight > 0).all()
    assert abs(training[:, 0].mean() - target[:, 0].mean()) > 0.9
    np.testing.assert_allclose(np.average(training, axis=0, weights=weight), target.mean(axis=0), atol=0.15)


def test_importance_weights_include_the_rows_own():
    random = np.random.default_rng(3)
    target, rows = random.normal(size=(500, 2)), random.normal(-0.5, 1.2, size=(500, 2))
    own = np.exp(-0.8 * rows[:, 0])
    weight = DensityRatio(guide="gaussian").fit(target, rows, denominator_weight=own).importance_weights()
    assert weight.mean() == pytest.approx(1)
    np.testing.assert_allclose(np.average(rows, axis=0, weights=weight), target.mean(axis=0), atol=0.15)
    own[:50] = 0
    weight = DensityRatio(guide="gaussian").fit(target, rows, denominator_weight=own).importance_weights()
    assert (weight[:50] == 0).all()


def test_scikit_learn_conventions():
    ratio = DensityRatio(bandwidth=0.7)
    assert clone(ratio).get_params() == ratio.get_params()
    with pytest.raises(NotFittedError):
        ratio.log_ratio(Z)
    with pytest.raises(NotFittedError):
        _ = ratio.numerator_log_ratio_
    before = ratio.get_params()
    assert ratio.fit(P, Q) is ratio
    assert ratio.get_params() == before
    restored = pickle.loads(pickle.dumps(ratio))
    np.testing.assert_array_equal(restored.log_ratio(Z), ratio.log_ratio(Z))
    assert ratio.n_features_in_ == 3


def test_fitting_again_forgets_the_first_fit():
    named = pd.DataFrame(P, columns=list("abc")), pd.DataFrame(Q, columns=list("abc"))
    ratio = DensityRatio().fit(*named)
    assert list(ratio.feature_names_in_) == ["a", "b", "c"]
    _ = values(ratio)
    ratio.fit(Q, P)
    assert not hasattr(ratio, "feature_names_in_")
    np.testing.assert_array_equal(values(ratio), values(DensityRatio().fit(Q, P)))


def test_diagnostics_say_what_was_chosen():
    diagnostics = DensityRatio(guide=None).fit(*heteroscedastic(10).sample(300)).diagnostics_
    assert diagnostics["derivatives"] == "gaussian"
    assert diagnostics["rows"] == [300, 300]
    assert diagnostics["squared_bias_after"] < 0.5 * diagnostics["squared_bias_before"]


@pytest.mark.parametrize("derivatives", ["mixture", "kernel", "auto"])
def test_models_of_several_modes_leave_less_bias_than_one_gaussian(derivatives):
    """The paper's form on mixtures of equal mean and covariance, which a Gaussian cannot tell apart."""
    pair = three_modes()
    p, q = pair.sample(800)
    options = {"guide": None, "bandwidth": 0.35}
    found, gaussian = (DensityRatio(**options, derivatives=d).fit(p, q) for d in (derivatives, "gaussian"))
    z = pair.sample(400, random_state=1)[0]
    error = [np.abs(np.mean(r.log_ratio(z)) - np.mean(pair.log_ratio(z))) for r in (found, gaussian)]
    assert error[0] < 0.8 * error[1]
    assert found.diagnostics_["derivatives"] == ("mixture" if derivatives == "auto" else derivatives)
    if derivatives == "auto":
        for losses in found.diagnostics_["score_matching_losses"]:
            assert losses["mixture"] < losses["gaussian"]
    assert found.diagnostics_["squared_bias_after"] < 0.6 * found.diagnostics_["squared_bias_before"]


def test_without_options_the_scores_are_chosen_by_the_held_out_loss_and_it_is_told():
    p, q = three_modes().sample(500)
    found = DensityRatio().fit(p, q).diagnostics_
    assert found["derivatives"] == "mixture"
    for losses in found["score_matching_losses"]:
        assert set(losses) == {"gaussian", "mixture", "kernel"}
        assert losses["mixture"] < losses["gaussian"] - 0.5


def test_the_weight_that_the_default_tries_is_that_of_the_chosen_scores(monkeypatch):
    """Three modes of equal mean and covariance: Gaussian scores see no bias, and would give a weight of one."""
    tried = []
    weigh = WeightTrial.fit
    monkeypatch.setattr(WeightTrial, "fit", lambda *args: tried.append(weigh(*args)) or tried[-1])
    p, q = three_modes().sample(500)
    DensityRatio().fit(p, q)
    few = fit_whitening(p, q, (np.ones(500), np.ones(500)), ("p", "q"))(p)
    assert np.ptp(tried[0].log_weight(few)) > 0.5


def test_derivatives_may_be_an_object():
    class OwnGaussian:
        def fit(self, x, weight):
            return fit_gaussian(x, weight)

    found, expected = (DensityRatio(guide=None, derivatives=d).fit(P, Q) for d in (OwnGaussian(), "gaussian"))
    np.testing.assert_allclose(found.log_ratio(Z), expected.log_ratio(Z))


def test_each_side_has_its_own_derivatives_though_fit_returns_the_object_itself():
    class StandardNormal:
        def fit(self, x, weight):
            self.mean = np.average(x, axis=0, weights=weight)
            return self

        def score(self, x):
            return self.mean - x

        def laplacian_over_density(self, x):
            return (self.score(x) ** 2).sum(axis=1) - x.shape[1]

    given = StandardNormal()
    ratio = DensityRatio(guide=None, derivatives=given).fit(P, Q)
    one, other = ratio._fitted.derivatives
    assert np.linalg.norm(one.mean - other.mean) > 1  # the means are √2 apart
    assert ratio.diagnostics_["squared_bias_before"] > 10 * ratio.diagnostics_["squared_bias_after"] > 0
    assert not hasattr(given, "mean")


def test_chosen_derivatives_of_gaussian_data_are_those_of_the_paper():
    p, q = heteroscedastic(10).sample(400)
    chosen, paper = (DensityRatio(guide=None, derivatives=d).fit(p, q) for d in ("auto", "gaussian"))
    assert chosen.divergence("kl").value == paper.divergence("kl").value


def test_what_comes_in_as_tensors_goes_out_as_tensors():
    torch = pytest.importorskip("torch")
    ratio = DensityRatio(guide=None).fit(torch.tensor(P), torch.tensor(Q))
    for single in (torch.float32, torch.float64):
        points = torch.tensor(Z, dtype=single)
        for ask in (ratio.log_ratio, ratio.ratio, ratio.posterior, ratio.log_weight, ratio.residual_bias):
            found = ask(points)
            assert found.dtype == single
            np.testing.assert_allclose(found.numpy(), ask(Z), rtol=1e-3, atol=1e-3)
    assert ratio.log_ratio(torch.ones((2, 3), dtype=torch.int64)).dtype == torch.float64
    assert isinstance(ratio.log_ratio(pd.DataFrame(Z)), np.ndarray)


@pytest.mark.parametrize("guide", ["gaussian", "logistic", "mixture", "boosting"])
def test_guided_ratios_survive_pickling(guide):
    p, q = mean_difference(2, 1.0).sample(150)
    ratio = DensityRatio(guide=guide, weighting="uniform").fit(p, q)
    restored = pickle.loads(pickle.dumps(ratio))
    np.testing.assert_array_equal(restored.log_ratio(p), ratio.log_ratio(p))
    assert restored.divergence("kl").value == ratio.divergence("kl").value


@pytest.mark.parametrize("guide", ["auto", None])
def test_one_thread_asked_for_is_one_thread_throughout(guide, monkeypatch):
    monkeypatch.setattr(parallel, "_NUMBERS", 60)  # so that even these few rows are whitened in blocks
    monkeypatch.setenv("OMP_NUM_THREADS", "4")
    monkeypatch.delenv("NUMBA_NUM_THREADS", raising=False)
    many = np.tile(P, (50, 1))  # rows enough for several blocks of weights and of biases
    pools = []

    def pool(threads, make=parallel._pool):
        pools.append(threads)
        return make(threads)

    monkeypatch.setattr(parallel, "_pool", pool)
    one = DensityRatio(guide=guide, n_threads=1).fit(P, Q)
    one.log_ratio(Z), one.log_weight(many), one.residual_bias(many), one.divergence("kl")
    assert pools == []
    DensityRatio(guide=guide).fit(P, Q).log_ratio(Z)
    assert set(pools) & {2, 3, 4}


def test_functions_fit_the_ratio_that_the_estimator_fits():
    plain = PlainRatio(guide="gaussian").fit(P, Q)
    estimator = DensityRatio(guide="gaussian").fit(P, Q)
    assert not isinstance(plain, BaseEstimator)
    assert isinstance(estimator, BaseEstimator)
    np.testing.assert_array_equal(plain.log_ratio(Q), estimator.log_ratio(Q))
    halves = [each.divergence("kl", interval="subsample").standard_error for each in (plain, estimator)]
    assert halves[0] == halves[1]


@pytest.mark.parametrize("ratio", [PlainRatio, DensityRatio])
@pytest.mark.parametrize("wrong", [{"bandwidth": -1.0}, {"max_basis": True}, {"random_state": "seed"}, {"guide": "no"}])
def test_parameters_that_differ_from_the_defaults_are_checked(ratio, wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of DensityRatio must"):
        ratio(**wrong).fit(P, Q)
