"""Rows outside the other sample: ranges that end, gaps and far rows are seen; densities that fade out are not."""

import numpy as np
import pytest

from vwkde._answers.support import _expected, outside_fractions
from vwkde._data.sample import make_sample

LIMIT = 0.015


def disc(random, rows, inner=0.0):
    angle, radius = 2 * np.pi * random.random(rows), np.sqrt(inner**2 + (1 - inner**2) * random.random(rows))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def below_the_diagonal(x):
    return x[x.sum(axis=1) < 0.5]


def outside(x, width):
    return x[np.abs(x[:, 0]) > width]


def heaped(random, rows):
    x = random.normal(40, 15, (rows, 1))
    return np.where(random.random((rows, 1)) < 0.6, 5 * np.round(x / 5), np.round(x))


def fractions(p, q, weight=None):
    samples = make_sample(p, np.ones(len(p)) if weight is None else weight), make_sample(q, np.ones(len(q)))
    return outside_fractions((p, q), samples, seed=0)


HARMFUL = {
    "wider uniform": lambda r, n: (r.uniform(0, 1.3, (n, 1)), r.uniform(0, 1, (n, 1))),
    "normal, uniform": lambda r, n: (r.normal(size=(n, 1)), r.uniform(-1.8, 1.8, (n, 1))),
    "wider triangle": lambda r, n: (r.triangular(0, 0.5, 1.5, (n, 1)), r.triangular(0, 0.5, 1, (n, 1))),
    "a gap": lambda r, n: (r.uniform(-1, 1, (n, 1)), r.uniform(0.25, 1, (n, 1)) * r.choice([-1, 1], (n, 1))),
    "a hole": lambda r, n: (disc(r, n), disc(r, n, inner=0.6)),
    "a gap in long tails": lambda r, n: (r.standard_t(3, (n, 1)), outside(r.standard_t(3, (20 * n, 1)), 0.5)[:n]),
    "far rows": lambda r, n: (r.normal(size=(n, 3)) + 20 * (r.random((n, 1)) < 0.05), r.normal(size=(n, 3))),
    "heavy tail": lambda r, n: (r.standard_cauchy((n, 2)), r.normal(size=(n, 2))),
    "a diagonal end": lambda r, n: (r.normal(size=(n, 2)), below_the_diagonal(r.normal(size=(20 * n, 2)))[:n]),
    "more integers": lambda r, n: (r.integers(0, 9, (n, 1)), r.integers(0, 8, (n, 1))),
    "one column of eight": lambda r, n: (r.normal(size=(n, 8)), np.c_[r.uniform(-1.5, 1.5, n), r.normal(size=(n, 7))]),
}
HARMLESS = {
    "shift": lambda r, n: (r.normal(1.2, 1, (n, 1)), r.normal(size=(n, 1))),
    "shift of many": lambda r, n: (r.normal(0.4, 1, (n, 12)), r.normal(size=(n, 12))),
    "wider normal": lambda r, n: (r.normal(0, 1.4, (n, 2)), r.normal(size=(n, 2))),
    "logistic": lambda r, n: (r.logistic(1, 1, (n, 1)), r.logistic(0, 1, (n, 1))),
    "slower exponential": lambda r, n: (r.exponential(1.8, (n, 1)), r.exponential(1, (n, 1))),
    "heavy tails": lambda r, n: (r.standard_cauchy((n, 2)) + 1, r.standard_cauchy((n, 2))),
    "counts": lambda r, n: (r.poisson(6, (n, 2)), r.poisson(4.5, (n, 2))),
    "binary": lambda r, n: (r.integers(0, 2, (n, 4)), (r.random((n, 4)) < 0.35).astype(int)),
    "equal uniforms": lambda r, n: (r.random((n, 3)), r.random((n, 3))),
    "two modes": lambda r, n: tuple(s * r.normal(size=(n, 1)) + 8 * r.integers(0, 2, (n, 1)) for s in (1.5, 1.2)),
    "heaps": lambda r, n: (heaped(r, n), heaped(r, n)),
    "many zeros": lambda r, n: (
        r.gamma(2, 1, (n, 1)) * (r.random((n, 1)) < 0.5),
        r.gamma(2, 1, (n, 1)) * (r.random((n, 1)) < 0.6),
    ),
    "inside": lambda r, n: (disc(r, n, inner=0.6), disc(r, n)),
}


@pytest.mark.parametrize("pair", HARMFUL.values(), ids=HARMFUL)
def test_rows_outside_are_seen(pair):
    seen = [fractions(*map(float_rows, pair(np.random.default_rng(seed), 1_000)))[0] > LIMIT for seed in range(8)]
    assert sum(seen) >= 7


@pytest.mark.parametrize("pair", HARMLESS.values(), ids=HARMLESS)
@pytest.mark.parametrize("rows", [60, 600])
def test_densities_that_fade_out_have_nothing_outside(pair, rows):
    seen = [fractions(*map(float_rows, pair(np.random.default_rng(seed), rows)))[0] > LIMIT for seed in range(8)]
    assert sum(seen) <= 1


def float_rows(x):
    return x.astype(np.float64)


def test_the_share_is_that_of_the_weight():
    random = np.random.default_rng(0)
    q = random.uniform(0, 1, (500, 1))
    p = np.concatenate([random.uniform(0, 1, (450, 1)), random.uniform(1.5, 2, (50, 1))])
    weight = np.where(p[:, 0] > 1, 4.0, 1.0)
    assert fractions(p, q) == pytest.approx([0.1, 0])
    assert fractions(p, q, weight) == pytest.approx([200 / 650, 0])
    assert fractions(p, q, np.where(p[:, 0] > 1, 0.0, 1.0)) == [0, 0]
    assert fractions(q, p)[1] == pytest.approx(0.1)


def test_neither_units_nor_too_few_rows_matter():
    random = np.random.default_rng(1)
    p, q = random.uniform(0, 1.3, (400, 1)), random.uniform(0, 1, (400, 1))
    assert fractions(1e6 * p - 5, 1e6 * q - 5) == pytest.approx(fractions(p, q))
    assert fractions(p[:8], q[:8]) == [0, 0]
    assert fractions(p[:2], q[:2]) == [0, 0]


def test_an_exponential_tail_goes_on_as_it_should():
    """At log(n) + x the expected number of rows beyond is exp(−x), or more: the tail is not known exactly."""
    own = -np.log((np.arange(2_000) + 0.5) / 2_000)
    one, three = np.log(_expected(own, np.log(2_000) + np.array([1.0, 3.0])))
    assert -1 < one < -0.6
    assert -3 < three < -1.8


def test_a_sharp_end_expects_nothing_beyond():
    assert _expected(np.linspace(0, 1, 1_000), np.array([1.05]))[0] < 1e-6


def test_tidy_values_divide_by_no_zero():
    """With excesses like these one of the tails of the grid is exactly exponential."""
    for rows in range(30, 120):
        assert np.isfinite(_expected(np.arange(rows) / 2, np.array([rows / 1.5]))).all()
