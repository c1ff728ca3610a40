"""Accuracy against known divergences: small and seeded here; benchmarks/accuracy.py has the full table."""

from functools import cache

import numpy as np
import pytest

import vwkde
from vwkde.datasets import heteroscedastic, isotropic, mean_difference, one_dimensional
from vwkde.divergences import make_ratio

REPETITIONS = 5


def repeated(pair, rows=1_000, **parameters):
    estimates = [vwkde.kl_divergence(*pair.sample(rows, random_state=s), **parameters) for s in range(REPETITIONS)]
    return np.mean([estimate.value for estimate in estimates])


@pytest.mark.parametrize("pair", [isotropic(10), isotropic(20), heteroscedastic(10), heteroscedastic(20)])
@pytest.mark.filterwarnings("ignore::vwkde.exceptions.BiasWarning")
def test_the_papers_estimator_is_near_the_truth_where_plain_kde_is_not(pair):
    assert repeated(pair, method="vwkde-mb") == pytest.approx(pair.kl, rel=0.2)
    assert repeated(pair, method="kde") < 0.8 * pair.kl


@pytest.mark.parametrize("pair", [one_dimensional(), isotropic(10), heteroscedastic(20)])
def test_the_default_is_within_the_floor_of_any_estimator(pair):
    error = repeated(pair) - pair.kl
    p, q = (pair.log_ratio(x) for x in pair.sample(100_000))
    floor = np.sqrt(np.var(p) / 1_000 + np.var(np.exp(q)) / 1_000)
    assert abs(error) < 2 * floor / np.sqrt(REPETITIONS)


@pytest.mark.parametrize("bandwidth", [0.5, 1.0])
def test_the_one_dimensional_example_is_flat_in_the_bandwidth(bandwidth):
    pair = one_dimensional()
    assert repeated(pair, method="vwkde-mb", bandwidth=bandwidth) == pytest.approx(pair.kl, rel=0.15)
    plain = {0.5: 0.75, 1.0: 0.39}[bandwidth]
    assert repeated(pair, method="kde", bandwidth=bandwidth) == pytest.approx(plain * pair.kl, rel=0.1)


def test_equal_densities_have_no_divergence():
    assert repeated(mean_difference(5, 0.0), rows=300) == pytest.approx(0, abs=0.05)


def test_unequal_sizes():
    pair = mean_difference(4, 1.0)
    values = [vwkde.kl_divergence(*pair.sample(600, 150, random_state=s)).value for s in range(REPETITIONS)]
    assert np.mean(values) == pytest.approx(pair.kl, rel=0.2)


def test_standard_error_covers_the_scatter():
    pair = mean_difference(2, 1.0)
    estimates = [vwkde.kl_divergence(*pair.sample(200, random_state=s)) for s in range(12)]
    scatter = np.std([e.value for e in estimates])
    assert 0.7 < np.median([e.standard_error for e in estimates]) / scatter < 3


def test_method_names_stand_for_parameters():
    pair = isotropic(3).sample(200)
    kde = vwkde.kl_divergence(*pair, method="kde")
    assert kde.value == vwkde.kl_divergence(*pair, guide=None, weighting="uniform", bandwidth="likelihood").value
    paper = vwkde.kl_divergence(*pair, guide=None)
    assert vwkde.kl_divergence(*pair, method="vwkde-mb").value == paper.value != vwkde.kl_divergence(*pair).value
    overridden = vwkde.kl_divergence(*pair, method="kde", bandwidth=0.9)
    assert overridden.diagnostics["bandwidth"] == 0.9


@pytest.mark.parametrize(
    ("method", "parameters", "message"),
    [
        ("kde", {"guide": "gaussian"}, "'guide' parameter of kl_divergence must be None with method='kde'"),
        ("kde", {"guide": ["line"]}, "'guide' parameter of kl_divergence must be None"),
        ("kde", {"weighting": "variational"}, "'weighting' parameter of kl_divergence must be 'uniform'"),
        ("vwkde-mb", {"guide": "auto"}, "omit it, or omit method="),
        ("vwkde-mb", {"derivatives": "mixture"}, "must be 'gaussian' with method='vwkde-mb'"),
        ("vwkde-mf", {"weighting": "uniform"}, "must be 'network' with method='vwkde-mf'"),
    ],
)
def test_parameters_that_contradict_a_method_are_refused(method, parameters, message):
    samples = np.random.default_rng(0).normal(size=(2, 40, 2))
    with pytest.raises(ValueError, match=message):
        vwkde.kl_divergence(*samples, method=method, **parameters)
    with pytest.raises(ValueError, match=f"with method='{method}'"):
        make_ratio(method, parameters)


def test_parameters_that_repeat_a_method_are_allowed():
    p, q = np.random.default_rng(0).normal(size=(2, 40, 2))
    expected = vwkde.kl_divergence(p, q, method="kde", engine="reference", bandwidth="scott")
    assert expected == vwkde.kl_divergence(
        p, q, method="kde", guide=None, weighting=np.str_("uniform"), engine="reference", bandwidth="scott"
    )


@cache
def shifted_ratios():
    pair = mean_difference(3, 1.0)
    return [vwkde.DensityRatio().fit(*pair.sample(1_000, random_state=s)) for s in range(REPETITIONS)]


@pytest.mark.parametrize(
    ("kind", "options", "truth"),
    [
        ("reverse-kl", {}, 0.5),
        ("jensen-shannon", {}, 0.1115),
        ("total-variation", {}, 0.3829),
        ("hellinger", {}, np.sqrt(1 - np.exp(-1 / 8))),
        ("renyi", {"order": 0.5}, 0.25),
        ("renyi", {"order": 2}, 1.0),
        ("chi2", {}, np.e - 1),
    ],
)
def test_other_divergences_of_unit_gaussians_one_apart(kind, options, truth):
    values = [ratio.divergence(kind, **options).value for ratio in shifted_ratios()]
    tails_decide = kind == "chi2" or options.get("order", 0) > 1
    assert np.mean(values) == pytest.approx(truth, rel=0.2 if tails_decide else 0.1)


def test_intervals_by_subsamples_agree_with_those_by_influence():
    ratio = vwkde.DensityRatio(guide=None, weighting="uniform").fit(*mean_difference(2, 0.7).sample(300))
    influence, subsample = (ratio.divergence("kl", interval=name) for name in ("influence", "subsample"))
    assert influence.value == subsample.value
    assert 0.5 < subsample.standard_error / influence.standard_error < 1.6
    wide, narrow = (ratio.divergence("kl", confidence_level=level).interval for level in (0.99, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_what_the_candidates_disagree_about_widens_the_interval(monkeypatch):
    p, q = one_dimensional().sample(200)
    ratio = vwkde.DensityRatio().fit(p, q)
    assert ratio.divergence("kl").systematic_error == 0  # by no more than noise explains
    monkeypatch.setattr("vwkde._answers.uncertainty._CLEARLY", 0.0)
    estimate = ratio.divergence("kl")
    values = [member.ratio.at_samples[0].mean() for member in ratio._fitted.average.members if member.average]
    assert 0 < estimate.systematic_error < np.ptp(values)
    assert np.diff(estimate.interval) > 2 * 1.959 * estimate.standard_error


def test_the_bias_that_a_weight_leaves_widens_the_interval():
    pair = one_dimensional()
    p, q = pair.sample(1_000)
    plain = vwkde.kl_divergence(p, q, guide=None, weighting="uniform", bandwidth=0.7)
    assert plain.systematic_error == pytest.approx(abs(plain.value - pair.kl), rel=0.8)
    weighted = vwkde.kl_divergence(p, q, method="vwkde-mb", bandwidth=0.7)
    assert weighted.systematic_error < 0.5 * plain.systematic_error


def test_kl_is_the_default_kind():
    pair = isotropic(3).sample(200)
    expected = vwkde.kl_divergence(*pair).value
    assert vwkde.divergence(*pair).value == expected
    assert vwkde.divergence(*pair[::-1], kind="reverse-kl").value == pytest.approx(expected, rel=1e-6)
    assert vwkde.divergence(*pair, "hellinger", method="kde").unit == ""


def test_log_density_ratio_is_that_of_the_fitted_object():
    p, q = isotropic(3).sample(200)
    found = vwkde.log_density_ratio(p, q, at=p[:5], method="kde")
    expected = vwkde.DensityRatio(guide=None, weighting="uniform", bandwidth="likelihood").fit(p, q).log_ratio(p[:5])
    np.testing.assert_array_equal(found, expected)


def test_weights_reach_the_fit():
    p, q = isotropic(2).sample(300)
    weight = np.exp(p[:, 0])
    found = vwkde.kl_divergence(p, q, numerator_weight=weight).value
    assert found < 0.7 * vwkde.kl_divergence(p, q).value
