import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from vwkde import BiasWarning, DensityRatio, kl_divergence
from vwkde._models.weights.residual import bias_terms, residual_bias
from vwkde._runtime.progress import listening
from vwkde.datasets import Gaussian, GaussianPair, heteroscedastic, one_dimensional, three_modes

torch = pytest.importorskip("torch")

from vwkde._models.weights.network import NetworkWeight, fit_weight_network  # noqa: E402


@pytest.fixture(scope="module")
def gaussians():
    pair = one_dimensional()
    x = np.concatenate(pair.sample(300))
    terms = bias_terms(pair.numerator.derivatives, pair.denominator.derivatives, x)
    return x, terms, fit_weight_network(x, terms, np.ones(len(x)))


def test_the_slope_is_the_derivative_of_log_alpha(gaussians):
    x, _, weight = gaussians
    step = 1e-5
    slope = (weight.log_weight(x + step) - weight.log_weight(x - step)) / (2 * step)
    np.testing.assert_allclose(weight.slope(x, np.ones_like(x)), slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(weight.slope(x, np.full_like(x, -2.0)), -2 * weight.slope(x, np.ones_like(x)))
    assert np.abs(slope).max() > 1


def test_the_bias_nearly_vanishes(gaussians):
    x, terms, weight = gaussians
    assert np.mean(residual_bias(weight, terms, x) ** 2) < 0.02 * np.mean(terms.unweighted**2)


def test_rows_without_importance_do_not_count(gaussians):
    x, terms, _ = gaussians
    right = x[:, 0] > 0
    one_sided = fit_weight_network(x, terms, np.where(right, 1.0, 0.0) / right.mean())
    bias = residual_bias(one_sided, terms, x) ** 2
    assert np.mean(bias[right]) < 0.05 * np.mean(terms.unweighted[right] ** 2)
    assert np.mean(bias[~right]) > 5 * np.mean(bias[right])


def test_a_weight_that_has_learnt_nothing_is_uniform():
    x = np.ones((3, 2))
    np.testing.assert_array_equal(NetworkWeight(()).log_weight(x), np.zeros(3))
    np.testing.assert_array_equal(NetworkWeight(()).slope(x, x), np.zeros(3))


def test_the_model_free_variant_is_accurate_where_the_plain_estimate_is_not():
    pair = heteroscedastic(10)
    samples = pair.sample(500)
    found = kl_divergence(*samples, method="vwkde-mf").value
    with pytest.warns(BiasWarning):
        plain = kl_divergence(*samples, method="kde").value
    assert plain < 0 < 0.75 * pair.kl < found < 1.25 * pair.kl


def test_it_needs_no_gaussians_and_finds_the_columns_that_count():
    pair = three_modes(12)
    estimate = kl_divergence(*pair.sample(700), method="vwkde-mf")
    assert estimate.value == pytest.approx(pair.kl, rel=0.2)
    assert estimate.diagnostics["coordinates"] == "subspace"
    assert (estimate.diagnostics["weighting"], estimate.diagnostics["derivatives"]) == ("network", "network")


@pytest.mark.parametrize(
    ("weighting", "derivatives"), [("variational", "network"), ("network", "gaussian"), ("network", "mixture")]
)
def test_mixed_forms(weighting, derivatives):
    pair = three_modes()
    P, Q = pair.sample(400)
    ratio = DensityRatio(guide=None, weighting=weighting, derivatives=derivatives).fit(P, Q)
    diagnostics = ratio.diagnostics_
    assert diagnostics["squared_bias_after"] < 0.5 * diagnostics["squared_bias_before"]
    assert diagnostics["weighting"] == weighting
    assert diagnostics["derivatives"] == derivatives
    assert np.corrcoef(ratio.log_ratio(P), pair.log_ratio(P))[0, 1] > 0.75


def test_a_network_weight_acts_on_top_of_a_guide():
    pair = GaussianPair(Gaussian(np.zeros(2), np.eye(2)), Gaussian(np.array([0.7, 0.0]), 1.6 * np.eye(2)))
    options = {"weighting": "network", "derivatives": "gaussian", "bandwidth": 0.6}
    ratio = DensityRatio(guide=LogisticRegression(), **options).fit(*pair.sample(1_500))
    assert ratio.diagnostics_["weighting"] == "network"
    assert ratio.diagnostics_["squared_bias_after"] < 0.5 * ratio.diagnostics_["squared_bias_before"]


def test_equal_seeds_give_equal_answers_on_any_number_of_threads():
    samples = three_modes().sample(150)
    values = [kl_divergence(*samples, method="vwkde-mf", n_threads=n, random_state=3).value for n in (1, 2, 2)]
    assert values[1] == values[2]
    assert values[0] == pytest.approx(values[1], rel=1e-9)
    assert kl_divergence(*samples, method="vwkde-mf", random_state=4).value != values[0]


def test_the_closed_form_has_no_use_for_a_network():
    P, Q = three_modes().sample(100)
    with pytest.raises(ValueError, match="must have a log density with weighting='closed-form'"):
        DensityRatio(guide=None, weighting="closed-form", derivatives="network").fit(P, Q)


def test_training_tells_its_progress_from_every_thread():
    told = {}
    with listening(lambda stage, done, total: told.setdefault(stage, []).append((done, total))):
        kl_divergence(*three_modes().sample(150), method="vwkde-mf", n_threads=2)
    stages = {
        "numerator scores 1",
        "numerator scores 2",
        "denominator scores 1",
        "weight network 1",
        "weight network 2",
    }
    assert stages < set(told)
    steps = told["weight network 1"]
    assert steps[0] == (1, 600)
    assert len(steps) > 20
