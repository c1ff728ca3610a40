"""The guided form against its mathematics, on grids that stand for whole densities, so that nothing is random."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import vwkde
from vwkde._data.sample import Sample
from vwkde._fit.guided_ratio import GuideAlone, GuidedRatio
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.kernel_pair import make_pair
from vwkde._models.derivatives.tilted import GuideSlopes, TiltedDerivatives
from vwkde._models.gaussian import fit_gaussian
from vwkde._models.guides.cross_fit import CrossFitted, no_guide
from vwkde._models.weights.residual import bias_terms, residual_bias
from vwkde._models.weights.uniform import UniformWeight
from vwkde.datasets import Gaussian, GaussianPair, isotropic, one_dimensional

PAIR = one_dimensional()
GRID = np.linspace(-12, 12, 4_001)[:, None]
X = np.linspace(-1.5, 2, 30)[:, None]


def density_as_sample(density):
    weight = np.exp(density.log_density(GRID))
    return Sample(GRID, weight / weight.mean(), np.arange(len(GRID)))


def guided(guide, bandwidth):
    """Return the guided ratio of the exact densities, smoothed by the kernel, with a known guide."""
    p, q = density_as_sample(PAIR.numerator), density_as_sample(PAIR.denominator)
    if guide is None:
        cross_fitted = no_guide((p, q))
    else:
        values = guide(GRID)
        cross_fitted = CrossFitted("gaussian", (guide,), (values, values), (GRID, GRID))
    return GuidedRatio(cross_fitted, make_pair((p, q), UniformWeight(), bandwidth, Numerics(), cross_fitted))


def coarse(x):
    """A guide that is only close: the truth less a smooth error."""
    return PAIR.log_ratio(x) - 0.3 * x[:, 0] - 0.1 * x[:, 0] ** 2


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 3.0])
def test_an_exact_guide_leaves_no_bias_at_any_bandwidth(bandwidth):
    truth = PAIR.log_ratio(X)
    np.testing.assert_allclose(guided(PAIR.log_ratio, bandwidth).log_ratio(X), truth, atol=1e-9)
    assert np.abs(guided(None, bandwidth).log_ratio(X) - truth).max() > 0.1


def test_the_leading_bias_of_an_inexact_guide_is_as_derived():
    """(h²/2)·(∇²δ + ∇δ·∇log(q₁q₂)) with δ = 0.3x + 0.1x², q₁q₂ = p₁p₂: the tilts cancel in the product."""
    x = X[:, 0]
    scores = sum(d.derivatives.score(X)[:, 0] for d in (PAIR.numerator, PAIR.denominator))
    derived = 0.5 * (0.2 + (0.3 + 0.2 * x) * scores)
    for bandwidth, accuracy in ((0.2, 0.06), (0.1, 0.015)):
        bias = (guided(coarse, bandwidth).log_ratio(X) - PAIR.log_ratio(X)) / bandwidth**2
        np.testing.assert_allclose(bias, derived, atol=accuracy)
    assert np.abs(derived).max() > 0.5


def test_residual_bias_of_tilted_densities_is_the_derived_one():
    guide = guided(coarse, 0.1).guide
    tilted = [
        TiltedDerivatives(density.derivatives, GuideSlopes(guide), tilt)
        for density, tilt in ((PAIR.numerator, 0.5), (PAIR.denominator, -0.5))
    ]
    found = residual_bias(UniformWeight(), bias_terms(*tilted, X), X)
    measured = (guided(coarse, 0.1).log_ratio(X) - PAIR.log_ratio(X)) / 0.1**2
    np.testing.assert_allclose(found, measured, atol=0.015)


def test_a_guide_alone_is_what_an_ever_wider_kernel_leaves():
    ratio = guided(coarse, 1e4)
    alone = GuideAlone(ratio.guide, ratio.samples)
    np.testing.assert_array_equal(alone.log_ratio(X), coarse(X))
    np.testing.assert_array_equal(alone.at_samples, (coarse(GRID), coarse(GRID)))
    assert alone.bandwidth == np.inf
    np.testing.assert_allclose(guided(coarse, 1e4).log_ratio(X) - coarse(X), _constant(), atol=1e-5)


def _constant():
    """For h → ∞ the sums add the logarithm of the tilted densities' masses."""
    p, q = (density_as_sample(d).weight for d in (PAIR.numerator, PAIR.denominator))
    half = coarse(GRID) / 2
    return np.log(np.average(np.exp(-half), weights=p) / np.average(np.exp(half), weights=q))


def test_a_narrow_kernel_forgets_the_guide():
    for guide in (coarse, None):
        np.testing.assert_allclose(guided(guide, 0.02).log_ratio(X), PAIR.log_ratio(X), atol=2e-3)


def test_far_from_one_sample_the_sums_add_no_more_than_allowed():
    far = np.array([[11.9]])
    free = guided(None, 0.05).log_ratio(far)
    bound = replace(guided(None, 0.05), most=5.0).log_ratio(far)
    assert abs(free[0]) > 5
    assert abs(bound[0]) == 5


def test_a_weight_on_top_of_a_guide_must_earn_its_place():
    pair = isotropic(20)
    p, q = pair.sample(300, random_state=1)
    plain, found = (vwkde.kl_divergence(p, q, guide="logistic", weighting=w) for w in ("uniform", "variational"))
    assert found.diagnostics["weighting"] == "uniform"
    assert found.diagnostics["weighting_tried"] == "variational"
    assert found.value == plain.value
    assert 0.2 < found.value < 1.5 * pair.kl


def test_a_weight_on_top_of_a_guide_leaves_one_ratio_that_counts_in_full():
    pair = GaussianPair(Gaussian(np.zeros(2), np.eye(2)), Gaussian(np.array([0.7, 0.0]), 1.6 * np.eye(2)))
    ratio = vwkde.DensityRatio(guide=LogisticRegression(), bandwidth=0.6).fit(*pair.sample(2_000))
    assert ratio.diagnostics_["weighting"] == "variational"
    (member,) = ratio._fitted.average.members
    assert member.pointwise == member.average == 1
    np.testing.assert_array_equal(ratio._fitted.average.at_samples(averages=True), member.ratio.at_samples)


def test_the_slopes_of_a_guide_are_computed_once_for_all_that_need_them():
    calls = []

    def guide(x):
        calls.append(len(x))
        return x[:, 0] ** 2

    slopes, x = GuideSlopes(guide), np.random.default_rng(0).normal(size=(50, 3))
    density = fit_gaussian(x, np.ones(50))
    bias_terms(TiltedDerivatives(density, slopes, 0.5), TiltedDerivatives(density, slopes, -0.5), x)
    assert len(calls) == 1 + 2 * 3
    np.testing.assert_allclose(slopes(x)[0][:, 0], 2 * x[:, 0])
    np.testing.assert_allclose(slopes(2 * x)[1], 2)
