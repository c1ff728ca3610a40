"""The theory: kernel estimates of the log ratio are off by h²·B to leading order, and weights steer B."""

from dataclasses import dataclass

import numpy as np
import pytest

from vwkde._models.gaussian import GaussianModel
from vwkde._models.weights.closed_form import GeometricMeanWeight
from vwkde._models.weights.residual import bias_terms, residual_bias
from vwkde._models.weights.uniform import UniformWeight
from vwkde.datasets import one_dimensional

NODES, QUADRATURE = np.polynomial.hermite_e.hermegauss(80)


@dataclass
class Logistic:
    """A non-Gaussian density with exact derivatives."""

    scale: float

    def log_density(self, x):
        z = x[:, 0] / self.scale
        return -z - 2 * np.log1p(np.exp(-z))

    def score(self, x):
        return -np.tanh(x / (2 * self.scale)) / self.scale

    def laplacian_over_density(self, x):
        t = np.tanh(x[:, 0] / (2 * self.scale))
        return (t**2 - 0.5 * (1 - t**2)) / self.scale**2


@dataclass
class SharedCovarianceWeight:
    """The paper's closed form for two Gaussians with one covariance: B vanishes everywhere, for every b ≥ 0.

    log α = −½ (x − m)ᵀA(x − m) with the midpoint m of the means, A = b (I − aaᵀ/‖a‖²) − precision and
    a = precision · (mean₁ − mean₂).
    """

    numerator_mean: np.ndarray
    denominator_mean: np.ndarray
    precision: np.ndarray
    b: float = 0.0

    def log_weight(self, x):
        return 0.5 * np.einsum("ij,ij->i", x - self.midpoint, self.gradient(x))

    def slope(self, x, direction):
        return np.einsum("ij,ij->i", self.gradient(x), direction)

    @property
    def midpoint(self):
        return (self.numerator_mean + self.denominator_mean) / 2

    def gradient(self, x):
        a = self.precision @ (self.numerator_mean - self.denominator_mean)
        across = np.eye(len(a)) - np.outer(a, a) / (a @ a)
        return (x - self.midpoint) @ (self.precision - self.b * across)


def expected_log_ratio(p, q, weight, x, h):
    """Return log E[p̂₁]/E[p̂₂]: the expectations are Gaussian smoothings of α·p, integrated exactly."""
    moved = (x[:, None] + h * NODES).reshape(-1, 1)
    smoothed = [
        np.exp(weight.log_weight(moved) + density.log_density(moved)).reshape(len(x), -1) @ QUADRATURE
        for density in (p, q)
    ]
    return np.log(smoothed[0] / smoothed[1])


def bias_over_h_squared(p, q, weight, x, h):
    exact = p.log_density(x[:, None]) - q.log_density(x[:, None])
    return (expected_log_ratio(p, q, weight, x, h) - exact) / h**2


GAUSSIANS = (GaussianModel(np.zeros(1), np.eye(1) / 1.1**2), GaussianModel(np.ones(1), np.eye(1) / 0.9**2))
SHARED = (GaussianModel(np.zeros(1), np.eye(1)), GaussianModel(np.ones(1), np.eye(1)))
MIXED = (Logistic(0.7), GaussianModel(np.full(1, 0.5), np.eye(1) / 1.3))


@pytest.mark.parametrize(
    ("pair", "weight"),
    [
        (GAUSSIANS, UniformWeight()),
        (MIXED, UniformWeight()),
        (GAUSSIANS, GeometricMeanWeight(*GAUSSIANS)),
        (MIXED, GeometricMeanWeight(*MIXED)),
        (MIXED, GeometricMeanWeight(*GAUSSIANS)),
        (SHARED, UniformWeight()),
        (SHARED, SharedCovarianceWeight(np.zeros(1), np.ones(1), np.eye(1))),
    ],
)
def test_bias_over_h_squared_tends_to_b(pair, weight):
    x = np.linspace(-1.5, 2, 8)
    b = residual_bias(weight, bias_terms(*pair, x[:, None]), x[:, None])
    errors = [np.abs(bias_over_h_squared(*pair, weight, x, h) - b).max() for h in (0.2, 0.1, 0.05)]
    assert errors[2] < 0.02 * (0.1 + np.abs(b).max())
    assert errors[2] < 0.5 * errors[1] < 0.25 * errors[0] or errors[0] < 1e-10


def test_plain_estimates_are_biased_where_weighted_ones_are_not():
    x = np.linspace(-1.5, 2, 8)
    closed_form = SharedCovarianceWeight(np.zeros(1), np.ones(1), np.eye(1))
    assert np.abs(bias_over_h_squared(*SHARED, UniformWeight(), x, 0.5)).max() > 0.5
    assert np.abs(bias_over_h_squared(*SHARED, closed_form, x, 0.5)).max() < 1e-10


@pytest.mark.parametrize("b", [0.0, 0.7, 3.0])
def test_the_closed_form_leaves_no_bias_in_many_dimensions(b):
    random = np.random.default_rng(0)
    means = random.normal(size=(2, 6))
    root = random.normal(size=(6, 6))
    precision = root @ root.T + np.eye(6)
    x = random.normal(size=(50, 6))
    terms = bias_terms(*(GaussianModel(mean, precision) for mean in means), x)
    weight = SharedCovarianceWeight(*means, precision, b=b)
    assert np.abs(terms.unweighted).max() > 1
    np.testing.assert_allclose(residual_bias(weight, terms, x), 0, atol=1e-10 * np.abs(terms.unweighted).max())


def test_the_geometric_mean_is_the_closed_form_when_the_covariances_agree():
    random = np.random.default_rng(0)
    means, precision, x = random.normal(size=(2, 3)), np.diag([1.0, 2.0, 0.5]), random.normal(size=(40, 3))
    geometric = GeometricMeanWeight(*(GaussianModel(mean, precision) for mean in means))
    closed_form = SharedCovarianceWeight(*means, precision)
    assert np.ptp(geometric.log_weight(x) - closed_form.log_weight(x)) < 1e-12


def test_the_geometric_mean_leaves_half_the_laplacian_of_the_log_ratio():
    pair = one_dimensional()
    derivatives = pair.numerator.derivatives, pair.denominator.derivatives
    x = np.linspace(-2, 3, 11)[:, None]
    b = residual_bias(GeometricMeanWeight(*derivatives), bias_terms(*derivatives, x), x)
    np.testing.assert_allclose(b, 0.5 * (1 / 0.9**2 - 1 / 1.1**2), rtol=1e-12)


def test_slopes_agree_with_finite_differences():
    weight = GeometricMeanWeight(*GAUSSIANS)
    x, step = np.linspace(-2, 2, 9)[:, None], 1e-6
    slope = (weight.log_weight(x + step) - weight.log_weight(x - step)) / (2 * step)
    np.testing.assert_allclose(weight.slope(x, np.ones((9, 1))), slope, rtol=1e-7, atol=1e-9)
