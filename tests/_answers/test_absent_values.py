import numpy as np
import pytest

import vwkde
from vwkde._answers.absent_values import at_absent_values


def random_of(seed):
    return np.random.default_rng(seed)


def test_a_value_between_frequent_ones_is_absent():
    own = np.repeat([1.0, 3.0], 60)
    other = np.repeat([1.0, 2.0, 3.0, 4.0], [40, 30, 30, 20])
    np.testing.assert_array_equal(at_absent_values(own, other), other == 2)


def test_rows_between_two_heaps_are_where_nothing_is():
    random = random_of(0)
    own, other = random.integers(-3, 4, 700).astype(float), random.normal(size=400)
    inside = (abs(other) < 3) & (other != np.round(other))
    marked = at_absent_values(own, other)
    assert not marked[~inside].any()
    assert marked[abs(other) < 1].all()


@pytest.mark.parametrize("rows", [150, 1_500])
def test_zeros_are_absent_where_all_values_differ(rows):
    random = random_of(1)
    other = np.maximum(random.normal(size=rows), 0.0)
    np.testing.assert_array_equal(at_absent_values(random.normal(size=rows), other), other == 0)


def test_few_rows_may_be_absent_by_chance():
    own = np.repeat([1.0, 3.0], 60)
    assert not at_absent_values(own, np.repeat([1.0, 2.0], [900, 100])).any()  # 12 of 120 would be expected
    assert at_absent_values(own, np.repeat([1.0, 2.0], [700, 300])).any()


DRAWN = {
    "normal": lambda random, rows: random.normal(size=rows),
    "counts": lambda random, rows: random.poisson(3, rows).astype(float),
    "rare and frequent values": lambda random, rows: np.where(
        random.random(rows) < 0.1, random.integers(0, 50, rows), 10 * random.integers(0, 5, rows)
    ).astype(float),
    "rounded": lambda random, rows: random.normal(size=rows).round(2),
    "often zero": lambda random, rows: random.lognormal(size=rows) * (random.random(rows) < 0.6),
    "zero in a tenth": lambda random, rows: random.normal(size=rows) * (random.random(rows) < 0.9),
}


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("sizes", [(200, 200), (2_000, 100), (100, 2_000)])
def test_samples_of_one_distribution_lack_nothing(name, sizes):
    for seed in range(20):
        random = random_of([2, seed])
        own, other = (DRAWN[name](random, rows) for rows in sizes)
        assert at_absent_values(own, other).mean() < 0.01


def test_counts_with_another_mean_are_a_tail_not_an_absence():
    random = random_of(3)
    own, other = random.poisson(4, 500).astype(float), random.poisson(8, 500).astype(float)
    assert not at_absent_values(own, other).any()


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("values", [([1.0, 2.0], [1.0, 3.0]), (None, None)])
def test_a_divergence_that_is_infinite_is_at_least(columns, values):
    """Codes that one sample lacks, and zeros where the other one is continuous: intervals had an upper end."""
    random = random_of(4)
    if values[0]:
        p, q = (random.choice(own, 300) for own in values)
    else:
        p, q = np.maximum(random.normal(size=300), 0), random.normal(size=300)
    p, q = (np.column_stack([x, random.normal(size=(300, columns - 1))]) for x in (p, q))
    with pytest.warns(vwkde.OverlapWarning, match="at least"):
        estimate = vwkde.kl_divergence(p, q)
    assert estimate.interval[1] == np.inf


def test_rows_that_belong_together_show_no_absence():
    """Each patient has one age, and ten rows of it: the other sample has other patients."""
    random = random_of(5)
    ages = np.repeat(random.normal(50, 10, 40), 10)
    p = np.column_stack([ages, random.normal(size=400)])
    q = np.column_stack([random.normal(50, 10, 400), random.normal(size=400)])
    groups = np.repeat(np.arange(40), 10), None
    ratio = vwkde.DensityRatio().fit(p, q, groups=groups)
    assert ratio.diagnostics_["outside_fraction"][0] < 0.015
