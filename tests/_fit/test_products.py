from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtri

import vwkde
from vwkde._data.sample import make_unordered_sample
from vwkde._fit import products
from vwkde._fit.products import missed_products
from vwkde._fit.residuals import Residuals


def parity(columns, rows, among, seed, middle=0.0):
    """Return normal rows: of those of P, nine in ten are above the middle in an even number of some columns."""
    random = np.random.default_rng(seed)
    q, p = random.normal(size=(rows, among)), random.normal(size=(4 * rows, among))
    even = np.prod(p[:, columns] - middle, axis=1) > 0
    return p[random.random(len(p)) < np.where(even, 0.9, 0.1)][:rows], q


def scored(p, q):
    """Return two samples as normal scores."""
    both = np.concatenate([p, q])
    scores = ndtri((both.argsort(axis=0).argsort(axis=0) + 0.5) / len(both))
    return make_unordered_sample(scores[: len(p)]), make_unordered_sample(scores[len(p) :])


def of_nothing(samples):
    """Return the residuals if nothing is known: a log ratio of zero."""
    return Residuals.of((np.zeros(len(samples[0])), np.zeros(len(samples[1]))), samples)


def found_in(samples):
    return missed_products(samples, of_nothing(samples), of_nothing(samples))


@pytest.mark.parametrize("columns", [(1, 4), (0, 3, 5), (1, 2, 4, 6), (0, 1, 2, 4, 5, 6)])
def test_the_product_of_signs_is_found_and_nothing_else(columns):
    (found,) = found_in(scored(*parity(columns, 500, 7, seed=len(columns))))
    assert found.columns == columns


def test_edges_move_to_where_the_samples_differ():
    p, q = parity((0, 2, 3), 1_500, 5, seed=2, middle=0.3)
    both = np.concatenate([p, q])
    found = found_in(scored(p, q))[0]
    for factor in found.factors:
        score = ndtri(np.mean(both[:, factor.column] < 0.3))
        assert min(abs(np.array(factor.edges) - score)) < 0.03


def test_two_products_are_found_if_both_are_there():
    random = np.random.default_rng(3)
    q, p = random.normal(size=(1_000, 8)), random.normal(size=(12_000, 8))
    ratio = (1 + 0.8 * np.sign(p[:, :3].prod(axis=1))) * (1 + 0.8 * np.sign(p[:, 4:7].prod(axis=1)))
    found = found_in(scored(p[random.random(len(p)) * 3.3 < ratio][:1_000], q))
    assert {product.columns for product in found} >= {(0, 1, 2), (4, 5, 6)}


@pytest.mark.parametrize("seed", range(10))
def test_equal_samples_have_no_products(seed):
    random = np.random.default_rng(seed)
    draw = (random.standard_cauchy, random.normal, lambda size: random.integers(0, 2, size).astype(float))[seed % 3]
    columns = (2, 5, 9, 20)[seed % 4]
    p, q = draw(size=(300, columns)), draw(size=(200, columns))
    samples = make_unordered_sample(np.tanh(p)), make_unordered_sample(np.tanh(q))
    assert not found_in(samples)


def test_the_order_of_the_samples_does_not_matter():
    p, q = parity((0, 3, 5), 400, 7, seed=4)
    one, other = scored(p, q)
    assert found_in((one, other)) == found_in((other, one))


def test_what_the_best_model_knows_is_not_missed():
    p, q = parity((0, 3, 5), 600, 7, seed=5)
    samples = scored(p, q)
    known = [np.log1p(0.8 * np.sign(x[:, [0, 3, 5]].prod(axis=1))) for x in (p, q)]
    assert not missed_products(samples, of_nothing(samples), Residuals.of((known[0], known[1]), samples))
    assert not missed_products(samples, *[Residuals.of((known[0], known[1]), samples)] * 2)


def test_rows_that_repeat_each_other_in_groups_do_not_count_twice():
    """Groups of ten equal rows: forty of them show nothing, four hundred separate rows would."""
    p, q = parity((0, 1), 40, 4, seed=6)
    samples = scored(np.repeat(p, 10, axis=0), np.repeat(q, 10, axis=0))
    assert found_in(samples)
    grouped = [replace(sample, group=np.repeat(np.arange(40), 10)) for sample in samples]
    assert not found_in((grouped[0], grouped[1]))


def test_weights_count_as_rows_do():
    """A row of weight two is two rows, but for its standard error."""
    p, q = parity((0, 3, 5), 400, 7, seed=7)
    samples = scored(p, q)
    values = np.concatenate([sample.points[:, [0, 3, 5]] for sample in samples]).prod(axis=1)
    weight = np.random.default_rng(8).integers(1, 3, 400).astype(float)
    weighted = replace(samples[0], weight=weight / weight.mean()), samples[1]
    repeated = make_unordered_sample(np.repeat(samples[0].points, weight.astype(int), axis=0)), samples[1]
    sums = [of_nothing(each).left.sum() for each in (weighted, repeated)]
    np.testing.assert_allclose(sums, 0, atol=1e-12)
    one = of_nothing(weighted).left @ values
    other = of_nothing(repeated).left @ np.concatenate([each.points[:, [0, 3, 5]] for each in repeated]).prod(axis=1)
    np.testing.assert_allclose(one, other)


def test_the_sums_of_all_products_are_those_of_plain_loops():
    """The slow oracle: one product at a time."""
    random = np.random.default_rng(9)
    functions, weight = random.normal(size=(4, 2, 50)).astype(np.float32), random.normal(size=50).astype(np.float32)
    found = {
        tuple((f.column, f.number) for f in product.factors): excess
        for excess, product in products._largest(functions, weight, 3)
    }
    assert len(found) == 4 * 2**3
    for factors, excess in found.items():
        terms = weight * np.prod([functions[column, number] for column, number in factors], axis=0)
        assert excess == pytest.approx(abs(terms.sum()) / np.linalg.norm(terms), rel=1e-4)


@pytest.mark.parametrize(("rows", "columns", "together"), [(99, 5, 0), (100, 1, 0), (100, 4, 4), (100, 30, 3)])
def test_how_many_columns_are_compared_depends_on_their_number_and_on_the_rows(rows, columns, together):
    p, q = np.random.default_rng(0).normal(size=(2, rows, columns))
    assert products.most_columns_compared((make_unordered_sample(p), make_unordered_sample(q))) == together


def test_few_rows_are_not_searched():
    assert not found_in(scored(*parity((0, 1), 90, 3, seed=10)))


def test_the_default_sees_what_shows_in_three_columns_together_only():
    """KL is 0.37; no pair of columns differs between the samples."""
    p, q = parity((0, 2, 5), 600, 6, seed=11)
    ratio = vwkde.DensityRatio().fit(p, q)
    kl = ratio.divergence("kl")
    assert kl.interval[0] < 0.368 < kl.interval[1]
    assert kl.value == pytest.approx(0.368, abs=0.12)
    assert ratio.diagnostics_["coordinates"] == "products"
    assert ratio.diagnostics_["columns_together"] == 6
    new = np.random.default_rng(12).normal(size=(500, 6))
    truth = np.log1p(0.8 * np.sign(new[:, [0, 2, 5]].prod(axis=1)))
    assert np.mean((ratio.log_ratio(new) - truth) ** 2) < 0.25 * np.mean(truth**2)
