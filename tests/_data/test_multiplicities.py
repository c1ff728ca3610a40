"""Copies among ties show in the multiplicities; honest discrete data of any shape do not look like them."""

import numpy as np
import pytest

from vwkde import kl_divergence
from vwkde._data.copies import find_distinct, merge_repeats
from vwkde._data.multiplicities import find_copying

HONEST = {
    "rounded, one column": lambda random, n: random.normal(size=(n, 1)).round(1),
    "rounded, two columns": lambda random, n: random.normal(size=(n, 2)).round(1),
    "whole numbers": lambda random, n: (1.5 * random.normal(size=(n, 3))).round(),
    "counts": lambda random, n: random.poisson(3, (n, 2)).astype(float),
    "counts with many zeros": lambda random, n: random.poisson(4, (n, 2)) * (random.random((n, 2)) < 0.5) + 0.0,
    "Zipf": lambda random, n: np.minimum(random.zipf(1.5, (n, 1)), 10**6) + 0.0,
    "flags": lambda random, n: (random.random((n, 8)) < 0.3) + 0.0,
    "heaps at five": lambda random, n: np.where(random.random((n, 1)) < 0.5, 1, 5) * random.poisson(8, (n, 1)) + 0.0,
}


def counts_of(x):
    return find_distinct(x).counts


@pytest.mark.parametrize("name", HONEST)
def test_honest_ties_are_no_copies(name):
    found = [find_copying(counts_of(HONEST[name](np.random.default_rng(seed), 200))) for seed in range(12)]
    assert found == [None] * 12


@pytest.mark.parametrize("times", [2, 3, 5])
@pytest.mark.parametrize("name", HONEST)
def test_rows_that_all_come_several_times_are_found_among_ties(name, times):
    x = HONEST[name](np.random.default_rng(100), 200)
    copying = find_copying(counts_of(np.repeat(x, times, axis=0)))
    assert copying.times == times
    np.testing.assert_array_equal(copying.originals_behind(times * counts_of(x)), counts_of(x))


def test_a_part_that_was_copied_is_found_if_ties_are_few():
    found = []
    for seed in range(10):
        x = HONEST["rounded, two columns"](np.random.default_rng(seed), 420)
        counts = counts_of(np.concatenate([x, x[:180]]))
        copying = find_copying(counts)
        found.append(copying is not None)
        if copying is not None:
            assert copying.originals_behind(counts).sum() == pytest.approx(420, abs=60)
    assert sum(found) >= 7


def test_a_balanced_design_is_no_copying():
    assert find_copying(np.full(10, 20)) is None
    assert find_copying(np.full(30, 2)).times == 2


@pytest.mark.parametrize("lost", [0, 1, 3])
@pytest.mark.parametrize("times", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("levels", [(2, 2, 2, 2), (5, 5), (4, 4, 4)])
def test_a_factorial_design_that_lacks_some_rows_is_no_copying(levels, times, lost):
    design = np.repeat(np.indices(levels).reshape(len(levels), -1).T.astype(float), times, axis=0)
    lost = np.random.default_rng(0).choice(len(design), min(lost, len(design) // 20), replace=False)
    assert merge_repeats(find_distinct(np.delete(design, lost, axis=0)), find_distinct(design)) is None


def test_one_row_too_few_or_too_many_does_not_make_a_balanced_design_copies():
    for change in (-1, 1):
        counts = np.full(64, 4)
        counts[0] += change
        assert find_copying(counts) is None


def test_a_bootstrap_among_ties_is_like_a_rougher_density():
    random = np.random.default_rng(0)
    x = random.normal(size=(600, 1)).round(1)
    assert find_copying(counts_of(x[random.integers(600, size=600)])) is None


def test_the_weights_add_up_to_the_rows_that_were_given():
    random = np.random.default_rng(1)
    p, q = random.normal(size=(2, 400, 2)).round(1)
    given = np.concatenate([p, p[:170]])
    merging = merge_repeats(find_distinct(given), find_distinct(q))
    weight = np.bincount(merging.target)
    assert weight.sum() == len(given)
    assert len(merging.kept) == pytest.approx(400, abs=60)
    np.testing.assert_array_equal(given[merging.kept][merging.target], given)


@pytest.mark.parametrize("rows", [300, 600])
def test_copies_among_ties_do_not_raise_the_divergence(rows):
    """It was 0.5 for equal densities, with a small error and no warning."""
    random = np.random.default_rng(4)
    p, q = random.normal(size=(rows // 2, 2)).round(1), random.normal(size=(rows, 2)).round(1)
    once, twice = (kl_divergence(np.repeat(p, times, axis=0), q, guide=None) for times in (1, 2))
    assert twice.diagnostics["distinct_rows"][0] == pytest.approx(rows // 2, abs=5)
    assert twice.value == pytest.approx(once.value, abs=0.02)
    assert kl_divergence(np.repeat(p, 2, axis=0), q).interval[0] < 0.02
