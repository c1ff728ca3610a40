"""Kernel estimates of a joint density and of the product of its marginals leave out the rows that a pair is made of."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._fit import kernel_pair
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.kernel_pair import make_pair
from vwkde._models.guides.cross_fit import CrossFitted
from vwkde._models.weights.uniform import UniformWeight

ROWS, WIDTH = 12, 0.8


@pytest.fixture
def samples():
    z = np.random.default_rng(0).normal(size=(ROWS, 3))  # one column of X, two of Y
    rows = np.arange(ROWS)
    first, second = np.tile(rows, 2), np.concatenate([np.roll(rows, 1), np.roll(rows, 2)])
    product = np.column_stack([z[first, :1], z[second, 1:]])
    return (
        Sample(z, np.ones(ROWS), rows, pairs=Pairs(1, rows, rows)),
        Sample(product, np.ones(2 * ROWS), np.arange(2 * ROWS), copies=2, pairs=Pairs(1, first, second)),
    )


def log_density(x, points, log_weight=0.0):
    exponents = log_weight - ((points - x) ** 2).sum(axis=1) / (2 * WIDTH**2)
    return logsumexp(exponents) - np.log(len(points)) - points.shape[1] * np.log(np.sqrt(2 * np.pi) * WIDTH)


def test_without_a_guide_the_product_is_that_of_all_other_rows(samples):
    joint, product = samples
    at_p, at_q = make_pair(samples, UniformWeight(), WIDTH, Numerics()).at_samples
    for sample, found in ((joint, at_p), (product, at_q)):
        pairs = zip(sample.points, sample.pairs.first, sample.pairs.second, strict=True)
        for k, (point, i, j) in enumerate(pairs):
            rest = np.delete(joint.points, [i, j], axis=0)
            x, y = np.delete(joint.points[:, :1], i, axis=0), np.delete(joint.points[:, 1:], j, axis=0)
            assert found.numerator[k] == pytest.approx(log_density(point, rest))
            assert found.denominator[k] == pytest.approx(log_density(point[:1], x) + log_density(point[1:], y))


def test_with_a_guide_the_product_is_that_of_the_pairs_that_share_no_row(samples):
    joint, product = samples
    guide = CrossFitted(
        "gaussian",
        (lambda x: x[:, 0] * x[:, 1],),
        tuple(s.points[:, 0] * s.points[:, 1] for s in samples),
        tuple(s.points for s in samples),
    )
    at_p, _ = make_pair(samples, UniformWeight(), WIDTH, Numerics(), guide).at_samples
    for i, point in enumerate(joint.points):
        others = (product.pairs.first != i) & (product.pairs.second != i)
        expected = log_density(point, product.points[others], guide.at_samples[1][others] / 2)
        assert at_p.denominator[i] == pytest.approx(expected)


def test_new_points_see_all_rows(samples):
    joint, _ = samples
    x = np.array([[0.1, -0.2, 0.4]])
    found = make_pair(samples, UniformWeight(), WIDTH, Numerics()).at(x)
    expected = log_density(x[0, :1], joint.points[:, :1]) + log_density(x[0, 1:], joint.points[:, 1:])
    assert found.denominator[0] == pytest.approx(expected)


def test_mates_of_the_rows_that_a_pair_is_made_of_are_left_out_too(samples):
    joint, product = samples
    group = np.arange(ROWS) // 3
    joint = replace(joint, group=group, pairs=replace(joint.pairs, group=group))
    product = replace(product, pairs=replace(product.pairs, group=group))
    at_p, at_q = make_pair((joint, product), UniformWeight(), WIDTH, Numerics()).at_samples
    for sample, found in ((joint, at_p), (product, at_q)):
        pairs = zip(sample.points, sample.pairs.first, sample.pairs.second, strict=True)
        for k, (point, i, j) in enumerate(pairs):
            not_i, not_j = group != group[i], group != group[j]
            expected = log_density(point[:1], joint.points[not_i, :1]) + log_density(point[1:], joint.points[not_j, 1:])
            assert found.numerator[k] == pytest.approx(log_density(point, joint.points[not_i & not_j]))
            assert found.denominator[k] == pytest.approx(expected)


@pytest.mark.parametrize("side", [0, 1])
def test_at_some_rows_the_densities_are_those_at_all_rows(monkeypatch, side):
    monkeypatch.setattr(kernel_pair, "SOME_ROWS", 10)
    random = np.random.default_rng(1)
    both = tuple(Sample(random.normal(size=(n, 2)), np.ones(n), np.arange(n)) for n in (40, 25))
    pair = make_pair(both, UniformWeight(), WIDTH, Numerics())
    rows, found = pair.at_some(side)
    expected = pair.at_samples[side]
    assert len(rows) == 10
    assert (rows[0], rows[-1]) == (0, len(both[side]) - 1)
    np.testing.assert_allclose(found.numerator, expected.numerator[rows], rtol=1e-12)
    np.testing.assert_allclose(found.denominator, expected.denominator[rows], rtol=1e-12)


def test_all_rows_count_if_they_are_few_or_made_of_others(monkeypatch, samples):
    pair = make_pair(samples, UniformWeight(), WIDTH, Numerics())
    assert not pair.some_suffice
    monkeypatch.setattr(kernel_pair, "SOME_ROWS", 10)
    for side in (0, 1):
        rows, found = pair.at_some(side)
        np.testing.assert_array_equal(rows, np.arange(len(samples[side])))
        np.testing.assert_array_equal(found.log_ratio, pair.at_samples[side].log_ratio)
