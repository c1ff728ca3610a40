"""Elliptical copulas: closed forms against simulation and quadrature, and the values on samples with a known truth."""

import numpy as np
import pytest
from scipy import integrate, stats

from vwkde._models.elliptical import Elliptical, Rows, by_copula, tail_information, uniform_ranks
from vwkde.information._pairing import make_pairs


def ranked(x, y):
    paired = make_pairs(x, y, np.arange(len(x)), 0)
    ranks = np.concatenate([uniform_ranks(x), uniform_ranks(y)], axis=1)
    return Rows(ranks, uniform_ranks(x).shape[1], paired.fold, (paired.first, paired.second), len(x))


def student(rows, columns, freedom, seed):
    random = np.random.default_rng(seed)
    z = random.normal(size=(rows, 2 * columns)) / np.sqrt(random.chisquare(freedom, size=(rows, 1)) / freedom)
    return z[:, :columns], z[:, columns:]


def test_information_of_uncorrelated_t_variables_by_quadrature():
    joint = stats.multivariate_t([0, 0], np.eye(2), df=3)
    at = stats.t(3)

    def term(y, x):
        density = joint.pdf([x, y])
        return density * (np.log(density) - at.logpdf(x) - at.logpdf(y))

    expected = 4 * integrate.dblquad(term, 0, 60, 0, 60, epsabs=1e-5)[0]
    assert tail_information(3.0, 1, 1) == pytest.approx(expected, abs=2e-3)
    assert tail_information(np.inf, 1, 1) == 0


def test_the_information_of_a_sample_covariance_has_no_bias():
    scatter = np.eye(12)
    scatter[[0, 6], [6, 0]] = 0.7
    root, random = np.linalg.cholesky(scatter), np.random.default_rng(0)
    found = []
    for _ in range(400):
        z = random.normal(size=(60, 12)) @ root.T
        found.append(Elliptical(z.T @ z / 60, 6, np.inf).information(60))
    assert np.mean(found) == pytest.approx(-0.5 * np.log(1 - 0.49), abs=3 * np.std(found) / 20)
    none = [Elliptical(z.T @ z / 60, 6, np.inf) for z in random.normal(size=(400, 60, 12))]
    variance = np.var([model.information(60) for model in none])
    assert none[0].variance_without_dependence(60) == pytest.approx(variance, rel=0.25)


def test_values_do_not_depend_on_the_shapes_of_the_columns():
    random = np.random.default_rng(1)
    x = random.normal(size=(400, 2))
    y = x + random.normal(size=(400, 2))
    found = [by_copula(ranked(*each), random).value for each in ((x, y), (np.exp(x), -(y**3)))]
    assert found[0] == pytest.approx(found[1], abs=1e-9)
    assert found[0] == pytest.approx(np.log(2), abs=0.1)


@pytest.mark.parametrize(("columns", "freedom"), [(1, 1.0), (4, 2.0)])
def test_heavy_tails_are_told_from_independence(columns, freedom):
    samples = [student(800, columns, freedom, seed) for seed in range(20, 26)]
    found = [by_copula(ranked(*sample), np.random.default_rng(0)) for sample in samples]
    truth = tail_information(freedom, columns, columns)
    assert np.mean([each.value for each in found]) == pytest.approx(truth, abs=0.04)
    assert all(each.freedom < 4 for each in found)
    x, y = student(800, columns, freedom, 5)[0], student(800, columns, freedom, 6)[0]  # tails that do not come together
    apart = by_copula(ranked(x, y), np.random.default_rng(0))
    assert np.isinf(apart.freedom)
    assert apart.value == pytest.approx(0.0, abs=0.03)


def test_many_columns():
    columns, off = 50, 0.5
    root = np.linalg.cholesky(np.eye(2 * columns) * (1 - off) + off)
    z = np.random.default_rng(0).normal(size=(1_000, 2 * columns)) @ root.T
    found = by_copula(ranked(z[:, :columns], z[:, columns:]), np.random.default_rng(0))
    assert found.value == pytest.approx(1.6245, abs=0.15)  # its standard deviation is 0.05


def test_few_rows_and_thin_relations_have_no_copula():
    x = np.random.default_rng(0).normal(size=(200, 1))
    assert by_copula(ranked(x, x**3), np.random.default_rng(0)) is None
    few = np.random.default_rng(0).normal(size=(60, 60))
    assert by_copula(ranked(few[:, :30], few[:, 30:]), np.random.default_rng(0)) is None


def test_columns_without_variation_and_copies_of_columns_are_left_out():
    x = np.random.default_rng(0).normal(size=(20, 2))
    columns = np.column_stack([x[:, 0], np.exp(x[:, 0]), np.ones(20), x[:, 1], -x[:, 0]])
    np.testing.assert_array_equal(uniform_ranks(columns), uniform_ranks(x))
