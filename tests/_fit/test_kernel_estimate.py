"""The unit of estimation against plain loops, and over rows that are not in memory."""

import numpy as np
import pytest
from scipy.special import logsumexp

from support.elsewhere import ROWS, samples
from vwkde._compute.resources import Resources
from vwkde._data.sample import Rest, Sample, make_unordered_sample
from vwkde._data.sources import ArrayRows
from vwkde._data.streams import Stream
from vwkde._fit.kernel_estimate import KernelEstimate, Numerics, PointWeight
from vwkde._fit.kernel_pair import make_pair
from vwkde._models.guides.cross_fit import CrossFitted
from vwkde._models.weights.expansion import KernelExpansion
from vwkde._models.weights.uniform import UniformWeight

POINTS = np.random.default_rng(0).normal(size=(40, 3))
WEIGHT = np.where(np.arange(40) % 4 == 0, 0.0, 4 / 3)
X = np.random.default_rng(1).normal(size=(7, 3))


class Slope:
    """A weight that grows along the first column."""

    def log_weight(self, x):
        return 0.4 * x[:, 0]


def slow_log_density(x, points, log_weight, total, bandwidth, skipped=None):
    """Return log Σ w k / (total · (2πh²)^(d/2)) by plain loops."""
    found = []
    for i, query in enumerate(x):
        terms = [
            log_weight[j] - np.sum((query - point) ** 2) / (2 * bandwidth**2)
            for j, point in enumerate(points)
            if skipped is None or j != i
        ]
        found.append(logsumexp(terms) - 1.5 * np.log(2 * np.pi * bandwidth**2))
    return np.array(found) - np.log(total)


def weighted_estimate(bandwidth=0.7, weight=None):
    sample = Sample(POINTS, WEIGHT, np.arange(40))
    return KernelEstimate(sample, weight or PointWeight(Slope()), bandwidth)


def log_weights():
    with np.errstate(divide="ignore"):
        return np.log(WEIGHT) + 0.4 * POINTS[:, 0]


def test_the_log_density_is_that_of_plain_loops():
    expected = slow_log_density(X, POINTS, log_weights(), 40.0, 0.7)
    np.testing.assert_allclose(weighted_estimate().log_density(X), expected, rtol=1e-12)


def test_points_are_left_out_of_their_own_estimate():
    expected = slow_log_density(POINTS, POINTS, log_weights(), 40.0 - WEIGHT, 0.7, skipped=True)
    np.testing.assert_allclose(weighted_estimate().left_out(), expected, rtol=1e-12)
    at = slow_log_density(POINTS + 0.1, POINTS, log_weights(), 40.0 - WEIGHT, 0.7, skipped=True)
    np.testing.assert_allclose(weighted_estimate().left_out_at(POINTS + 0.1), at, rtol=1e-12)


def test_a_plain_estimate_integrates_to_one():
    grid = np.linspace(-12, 12, 4_001)[:, None]
    estimate = KernelEstimate(make_unordered_sample(POINTS[:, :1]), PointWeight(), 0.5)
    assert np.exp(estimate.log_density(grid)).sum() * 24 / 4_000 == pytest.approx(1, abs=1e-9)


def test_several_bandwidths_and_weights_are_each_alone():
    widths, ways = np.array([0.3, 0.9]), (PointWeight(), PointWeight(Slope()))
    together = weighted_estimate(widths, ways)
    assert together.log_density(X).shape == (2, 7, 2)
    for i, h in enumerate(widths):
        for k, way in enumerate(ways):
            alone = weighted_estimate(float(h), way)
            np.testing.assert_allclose(together.log_density(X)[i, :, k], alone.log_density(X), rtol=1e-11)
            np.testing.assert_allclose(together.left_out()[i, :, k], alone.left_out(), rtol=1e-11)


def test_the_effective_size_is_that_of_its_definition():
    squared = ((X[:, None] - POINTS) ** 2).sum(axis=2)
    terms = np.exp(log_weights() - squared / (2 * 0.7**2))
    expected = terms.sum(axis=1) ** 2 / (terms**2).sum(axis=1)
    np.testing.assert_allclose(np.exp(weighted_estimate().log_effective_size(X)), expected, rtol=1e-10)


def test_half_of_the_guide_enters_either_sum():
    samples = make_unordered_sample(POINTS), make_unordered_sample(X)
    values = 0.3 * POINTS[:, 1], 0.2 * X[:, 2]
    guide = CrossFitted("gaussian", (lambda x: x[:, 0],), values, (POINTS, X))
    pair = make_pair(samples, UniformWeight(), 0.7, Numerics(), guide)
    np.testing.assert_array_equal(pair.numerator.log_alpha[:, 0], -0.5 * values[0])
    np.testing.assert_array_equal(pair.denominator.log_alpha[:, 0], 0.5 * values[1])


@pytest.mark.parametrize("budget", [2**15, 2**17, 2**28])
def test_rows_in_memory_and_the_rest_are_all_rows(budget):
    p, q = samples()
    random = np.random.default_rng(1)
    weight = random.uniform(0.2, 1.8, ROWS)
    weight /= weight.mean()
    alpha = PointWeight(KernelExpansion(p[random.choice(ROWS, 20, replace=False)], random.normal(size=20), 2.0))
    held = np.sort(random.choice(ROWS, 100, replace=False))
    stream = Stream(ArrayRows(p), "numerator", Resources(memory_budget=budget), weight, held)
    some = Sample(p[held], weight[held], np.arange(100), rest=Rest(stream, np.asarray))
    part = KernelEstimate(some, alpha, 0.8)
    whole = KernelEstimate(Sample(p, weight, np.arange(ROWS)), alpha, 0.8)
    np.testing.assert_allclose(part.log_density(q[:60]), whole.log_density(q[:60]), rtol=1e-10)
    np.testing.assert_allclose(part.left_out(), whole.left_out()[held], rtol=1e-10)
    own, other = part.left_out_and_at(q[:60])
    np.testing.assert_allclose(own, part.left_out(), rtol=1e-12)
    np.testing.assert_allclose(other, part.log_density(q[:60]), rtol=1e-12)
    several = KernelEstimate(some, (alpha, PointWeight()), np.array([0.8, 1.6]))
    np.testing.assert_allclose(several.log_density(q[:60])[0, :, 0], whole.log_density(q[:60]), rtol=1e-10)
