"""Outliers are found by the gap before them; tails of honest data, however heavy, have no such gap."""

import numpy as np
import pytest

from vwkde import DegenerateDataWarning, DensityRatio, kl_divergence, mutual_information
from vwkde._data import outliers
from vwkde._data.outliers import find_reach

ROWS = 400
HONEST = {
    "normal": lambda random: random.normal(size=(ROWS, 2)),
    "Cauchy": lambda random: random.standard_cauchy((ROWS, 2)),
    "heavier than Cauchy": lambda random: random.standard_t(0.3, (ROWS, 2)),
    "log-normal": lambda random: np.exp(6 * random.normal(size=(ROWS, 2))),
    "Zipf": lambda random: np.minimum(random.zipf(1.3, (ROWS, 2)), 10**9) + 0.0,
    "rare flags": lambda random: (random.random((ROWS, 2)) < 0.01) * 1e8,
    "many zeros": lambda random: (random.random((ROWS, 2)) < 0.3) * np.exp(5 * random.normal(size=(ROWS, 2))),
    "two scales": lambda random: random.normal(size=(ROWS, 2)) * np.where(random.random((ROWS, 2)) < 0.1, 1e9, 1),
}


def pair(seed=3, rows=ROWS):
    random = np.random.default_rng(seed)
    return random.normal(size=(rows, 3)), random.normal([1.0, 0, 0], 1, (rows, 3))  # KL = 0.5


@pytest.mark.parametrize("name", HONEST)
def test_honest_tails_have_no_outliers(name):
    for seed in range(10):
        random = np.random.default_rng(seed)
        reach = find_reach((HONEST[name](random), HONEST[name](random)))
        assert not reach.outlying.any()


@pytest.mark.parametrize("sizes", [(1e4,), (1e300,), (1e10, -1e10), (1e5, 1e7, 1e9), (1e8,) * 10])
def test_outliers_lie_beyond_the_reach(sizes):
    x, other = pair()
    x[: len(sizes), 1] = sizes
    reach = find_reach((x, other))
    expected = np.zeros(x.shape, dtype=bool)
    expected[: len(sizes), 1] = True
    np.testing.assert_array_equal(reach.outliers(x), expected)
    assert not reach.outliers(other).any()


MANY = {
    "normal": lambda random, size: random.normal(size=size),
    "one far out": lambda random, size: np.where(np.arange(size) == 7, 1e4, random.normal(size=size)),
    "Cauchy": lambda random, size: random.standard_cauchy(size),
    "long tail": lambda random, size: np.exp(8 * random.normal(size=size)),
    "mostly zero": lambda random, size: (random.random(size) < 0.2) * random.normal(size=size),
    "sorted": lambda random, size: np.sort(random.normal(size=size)),
    "constant": lambda _, size: np.full(size, 3.0),
    "largest numbers": lambda random, size: 1e308 * random.uniform(-1, 1, size),
}


@pytest.mark.parametrize("name", MANY)
def test_some_rows_show_what_all_rows_do(name, monkeypatch):
    """The medians of all rows are not needed where the ends of a column cannot be far out."""
    random = np.random.default_rng(0)
    samples = [MANY[name](random, 30_000)[:, None] for _ in range(2)]
    quick = find_reach(samples)
    monkeypatch.setattr(outliers, "_has_no_far_value", lambda _: False)
    np.testing.assert_equal(quick, find_reach(samples))


def test_a_column_of_many_ordinary_rows_is_not_sorted(monkeypatch):
    samples = [np.random.default_rng(seed).normal(size=(30_000, 1)) for seed in range(2)]
    monkeypatch.delattr(outliers, "_within_reach")
    assert not find_reach(samples).outlying.any()


def test_values_that_the_other_sample_has_too_are_no_outliers():
    x, other = pair()
    x[0, 1], other[: ROWS // 2, 1] = 1e6, 2e6
    assert not find_reach((x, other)).outliers(x).any()


@pytest.mark.parametrize(
    ("where", "size"),
    [("numerator", 1e10), ("numerator", 1e300), ("denominator", 1e10), ("both", 1e7), ("whole row", 1e4)],
)
def test_one_outlier_does_no_harm(where, size):
    """The value was a lower limit without a guide, and the warning spoke of a sample without a density."""
    p, q = pair()
    if where != "denominator":
        p[7, slice(None) if where == "whole row" else 0] = size
    if where in ("denominator", "both"):
        q[11, 0] = -size
    name, row = ("denominator", 11) if where == "denominator" else ("numerator", 7)
    with pytest.warns(DegenerateDataWarning, match="far beyond all others") as caught:
        estimate = kl_divergence(p, q)
    assert f"Rows [{row}] of the {name}" in str(caught[0].message)
    assert estimate.value == pytest.approx(0.5, abs=0.1)
    assert estimate.interval[0] < 0.5 < estimate.interval[1] < 1


def test_several_outliers_in_many_columns():
    random = np.random.default_rng(5)
    p, q = random.normal(size=(2, ROWS, 12))
    q[:, 0] += 1
    p[[3, 50, 51], [1, 1, 7]] = 1e10, -1e8, 1e6
    with pytest.warns(DegenerateDataWarning, match=r"Rows \[3, 50, 51\] of the numerator .* columns \[1, 7\]"):
        low, high = kl_divergence(p, q).interval
    assert 0.2 < low < 0.5 < high < 1


def test_log_ratios_at_new_points_with_an_outlier():
    p, q = pair()
    p[7, 0] = 1e10
    at = np.random.default_rng(0).normal(size=(50, 3))
    with pytest.warns(DegenerateDataWarning, match="far beyond"):
        ratio = DensityRatio().fit(p, q)
    error = ratio.log_ratio(at) - (0.5 - at[:, 0])
    assert np.sqrt(np.mean(error**2)) < 0.25
    assert np.isfinite(ratio.log_ratio([[1e10, 0, 0], [-1e300, 0, 0]])).all()


def test_rows_of_weight_zero_count_in_the_numbers_of_rows():
    p, q = pair()
    p[7, 0] = 1e10
    weight = np.ones(ROWS)
    weight[:5] = 0
    with pytest.warns(DegenerateDataWarning, match=r"Rows \[7\] of the numerator"):
        DensityRatio(guide="gaussian").fit(p, q, numerator_weight=weight)


def test_information_with_an_outlier():
    random = np.random.default_rng(1)
    x = random.normal(size=ROWS)
    y = x + random.normal(size=ROWS)  # the information is 0.347
    x[5] = 1e10
    with pytest.warns(DegenerateDataWarning, match=r"Rows \[5\] of the data"):
        low, high = mutual_information(x, y).interval
    assert 0.2 < low < 0.347 < high < 0.6


def test_the_end_of_a_very_long_tail_is_moved_closer_without_a_warning(recwarn):
    random = np.random.default_rng(5)
    x, other = np.exp(12 * random.standard_normal((2, 2_000, 2)))
    reach = find_reach((x, other))
    assert (np.maximum(x, other).max(axis=0) > reach.high).all()
    assert not reach.outliers(x).any()
    estimate = kl_divergence(np.column_stack([x[:, 0], x[:, 1] * x[:, 0] ** 0.5]), other)
    assert "guide: none" not in str(estimate)
    assert not [w for w in recwarn if "does not vary" in str(w.message)]
