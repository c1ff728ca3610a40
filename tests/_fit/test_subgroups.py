import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import norm

import vwkde
from vwkde._data.sample import make_unordered_sample
from vwkde._fit.residuals import Residuals
from vwkde._fit.subgroups import missed_subgroups


def scored(p, q):
    """Return two samples as normal scores; equal values have equal ones."""
    both = np.concatenate([p, q])
    upper, lower = ((both[:, None] >= both[None]).mean(axis=1), (both[:, None] > both[None]).mean(axis=1))
    scores = ndtri(np.clip((upper + lower) / 2, 1e-4, 1 - 1e-4))
    return make_unordered_sample(scores[: len(p)]), make_unordered_sample(scores[len(p) :])


def of_ratio(samples, log_ratio):
    return Residuals.of(log_ratio, samples)


def of_nothing(samples):
    """Return the residuals if nothing is known: a log ratio of zero."""
    return of_ratio(samples, (np.zeros(len(samples[0])), np.zeros(len(samples[1]))))


def found_in(samples):
    return missed_subgroups(samples, of_nothing(samples), of_nothing(samples))


def rows(random, count, columns=4):
    """Return a category of four levels, one of two, and normal columns."""
    return np.column_stack(
        [
            random.integers(0, 4, count),
            random.integers(0, 2, count),
            random.normal(size=(count, columns)),
        ]
    )


def shifted(x, there, column, shift):
    """Return rows with a column shifted where a condition holds."""
    return np.column_stack([np.where(there(x), x[:, at] + (shift if at == column else 0), x[:, at]) for at in range(6)])


def in_the_group(x):
    return (x[:, 0] == 2) & (x[:, 1] == 1)


def test_a_part_of_two_categories_is_found_with_its_column():
    random = np.random.default_rng(0)
    samples = scored(shifted(rows(random, 1_500), in_the_group, 4, 1.5), rows(random, 1_500))
    found = found_in(samples)[0]
    assert {limits.column for limits in found.limits} == {0, 1}
    assert found.columns == (4,)


def test_two_columns_that_go_together_in_one_level_are_found():
    random = np.random.default_rng(1)
    p, q = rows(random, 1_000), rows(random, 1_000)
    there = p[:, 0] == 3
    p[there, 5] = 0.7 * p[there, 2] + 0.7 * p[there, 5]
    found = found_in(scored(p, q))[0]
    assert [limits.column for limits in found.limits] == [0]
    assert sorted(found.columns) == [2, 5]


def test_a_range_is_moved_to_where_the_samples_differ():
    random = np.random.default_rng(2)

    def there(x):
        return (x[:, 0] == 1) & (x[:, 2] > 0.4)

    found = found_in(scored(shifted(rows(random, 2_000), there, 5, 1.5), rows(random, 2_000)))[0]
    level, over = sorted(found.limits, key=lambda limits: limits.column)
    assert (level.column, over.column, found.columns) == (0, 2, (5,))
    assert over.low == pytest.approx(0.4, abs=0.15)
    assert over.high > 1.5


def test_equal_samples_have_no_such_part():
    random = np.random.default_rng(3)
    found = [found_in(scored(rows(random, 300), rows(random, count))) for count in (300, 1_200) * 10]
    assert sum(map(bool, found)) <= 1


def test_narrowing_finds_nothing_by_chance_among_many_columns():
    random = np.random.default_rng(16)  # rows in which narrowing exceeded a threshold that counted too few comparisons
    samples = tuple(make_unordered_sample(random.normal(size=(500, 50))) for _ in range(2))
    assert not found_in(samples)


def test_what_the_best_model_knows_is_not_sought():
    random = np.random.default_rng(4)
    p, q = shifted(rows(random, 1_500), in_the_group, 4, 1.5), rows(random, 1_500)
    samples = scored(p, q)
    known = [np.where(in_the_group(x), norm.logpdf(x[:, 4], 1.5) - norm.logpdf(x[:, 4]), 0) for x in (p, q)]
    assert missed_subgroups(samples, of_nothing(samples), of_nothing(samples))
    assert not missed_subgroups(samples, of_nothing(samples), of_ratio(samples, known))


@pytest.mark.parametrize(("rows_of_each", "columns"), [(99, 6), (500, 1)])
def test_few_rows_and_single_columns_have_no_parts(rows_of_each, columns):
    random = np.random.default_rng(5)
    p = random.normal(1, size=(rows_of_each, columns))
    assert not found_in(scored(p, random.normal(size=(rows_of_each, columns))))


def test_the_default_knows_the_outcome_of_a_subgroup():
    """A twentieth of the rows carries the whole difference: KL 0.09."""
    random = np.random.default_rng(0)
    p, q = rows(random, 2_000), rows(random, 2_000)

    def there(x):
        return in_the_group(x) & (x[:, 2] > 0.2)

    estimate = vwkde.kl_divergence(shifted(p, there, 4, 1.9), q)
    truth = 1.9**2 / 2 / 8 * norm.sf(0.2)
    assert estimate.interval[0] < truth < estimate.interval[1]
    assert estimate.value == pytest.approx(truth, rel=0.4)
