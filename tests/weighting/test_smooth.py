"""The smooth model of many rows: it finds what depends on two columns at once, and its terms are limited."""

import numpy as np
import pytest

from vwkde._data.sample import make_sample
from vwkde.weighting._basis import Basis, make_basis
from vwkde.weighting._smooth import fit_smooth


def draw(rows, random, shifted):
    x = random.normal(size=(rows, 3))
    if shifted:
        x[:, 1] += 0.6 * np.sin(3 * x[:, 0])
    x[:, 2] = random.integers(3, size=rows)
    return x


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    p, q = (draw(4_000, random, shifted) for shifted in (True, False))
    return fit_smooth(make_sample(p, np.ones(4_000)), make_sample(q, np.ones(4_000)))


def test_a_wave_in_one_column_times_another_is_found(fitted):
    x = draw(2_000, np.random.default_rng(1), False)
    shift = 0.6 * np.sin(3 * x[:, 0])
    truth = x[:, 1] * shift - shift**2 / 2
    assert truth.std() > 0.35
    assert np.std(fitted(x) - truth) < 0.28  # 0.39 without the wave


def test_a_column_of_three_values_has_two_functions(fitted):
    assert fitted.basis.orders == (12, 12, 2)


def test_weights_are_as_good_as_copies():
    random = np.random.default_rng(2)
    p, q = random.normal(0.3, 1, (300, 2)), random.normal(size=(300, 2))
    twice = np.where(q[:, 0] > 0, 2, 1)
    weighted = fit_smooth(make_sample(p, np.ones(300)), make_sample(q, twice / twice.mean()))
    repeated = np.repeat(q, twice, axis=0)
    copied = fit_smooth(make_sample(p, np.full(300, 1.0)), make_sample(repeated, np.ones(len(repeated))))
    copies = np.corrcoef(weighted(q), copied(q))[0, 1]
    assert copies > 0.99
    assert np.mean(weighted(q)) == pytest.approx(np.mean(copied(q)), abs=0.05)


@pytest.mark.parametrize(("columns", "terms"), [(1, 12), (5, 410), (30, 735), (100, 300)])
def test_many_columns_have_terms_of_low_order(columns, terms):
    basis = make_basis(np.random.default_rng(0).normal(size=(300, columns)))
    assert isinstance(basis, Basis)
    assert len(basis.terms) == terms


def test_samples_far_apart_do_not_overflow():
    random = np.random.default_rng(3)
    p, q = (make_sample(random.normal(mean, 0.1, (200, 2)), np.ones(200)) for mean in (0.0, 5.0))
    values = fit_smooth(p, q)(np.concatenate([p.points, q.points]))
    assert np.isfinite(values).all()
    assert values[:200].mean() > 2 > -2 > values[200:].mean()
