"""The statistics behind the joint test, compared with their definitions."""

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from vwkde.monitoring._columns import Column, bins_of, features_of
from vwkde.monitoring._marginal import _anderson_darling, _chi_squared, _shares, column_scores
from vwkde.monitoring._pairs import _squared_changes, pair_scores
from vwkde.monitoring._scores import adjusted_p_values, largest_of, own_p_values, scores_of

RANDOM = np.random.default_rng(0)


def labels_of(rows: int, first: int, count: int = 199) -> np.ndarray:
    given = np.arange(rows) < first
    return np.column_stack([given, *(RANDOM.permutation(given) for _ in range(count))])


def test_the_shares_of_categories_are_compared_as_chi_squared_does():
    codes = RANDOM.integers(0, 4, size=90)
    labels = labels_of(90, 50, 1)
    statistic = _chi_squared(*_shares(codes, labels.astype(np.float32)))[1]
    first = labels[:, 1]
    table = [np.bincount(codes[rows], minlength=4) for rows in (first, ~first)]
    assert statistic * 50 * 40 / 90 == pytest.approx(chi2_contingency(table)[0])


def test_the_order_of_numbers_is_compared_as_anderson_and_darling_do():
    values = RANDOM.normal(size=30)
    labels = labels_of(30, 12, 1)
    codes = np.argsort(np.argsort(values))
    statistic = _anderson_darling(*_shares(codes, labels.astype(np.float32)))[0]
    expected = 0.0
    for place in range(1, 30):
        below = codes < place
        gap = labels[below, 0].sum() / 12 - (~labels[below, 0]).sum() / 18
        expected += gap**2 / (place / 30 * (1 - place / 30)) / 30
    assert statistic == pytest.approx(expected)


def test_changes_of_dependence_are_differences_of_fishers_z():
    x = RANDOM.normal(size=(80, 3)).astype(np.float32)
    labels = labels_of(80, 30, 2)
    found = _squared_changes(x, np.array([0, 1]), np.array([2, 2]), labels)
    for column in range(3):
        first = labels[:, column]
        z = [np.arctanh(np.corrcoef(x[rows].T)[[0, 1], 2]) for rows in (first, ~first)]
        np.testing.assert_allclose(found[:, column], (z[0] - z[1]) ** 2, rtol=1e-3, atol=1e-6)


def test_scores_put_statistics_of_many_kinds_on_one_scale():
    """At the tails that many columns together need, where a cube root of one degree of freedom is 0.3 to 0.7 off."""
    statistics = np.stack([RANDOM.chisquare(1, 20_000), 50 * RANDOM.chisquare(9, 20_000)])
    scores = scores_of(statistics)
    for share in (0.05, 0.005):
        np.testing.assert_allclose(np.quantile(scores, 1 - share, axis=1), -np.log(share), rtol=0.05)
    assert scores_of(np.ones((1, 5))).max() <= scores.min()


def test_a_value_far_out_does_not_hide_itself():
    statistics = RANDOM.chisquare(3, (1, 500))
    statistics[0, 0] = 1_000
    scores = scores_of(statistics)
    assert scores[0, 0] > 100 > 15 > scores[0, 1:].max()


def test_the_larger_of_two_scores_pays_for_the_choice_and_not_for_a_copy():
    one, other = scores_of(RANDOM.chisquare(3, (2, 20_000)))
    np.testing.assert_allclose(largest_of([one, one]), one, atol=0.05)
    for scores in (largest_of([one, other]), largest_of([one, one])):
        np.testing.assert_allclose(np.quantile(scores, 0.99), -np.log(0.01), rtol=0.05)
    assert np.quantile(np.maximum(one, other), 0.99) > 1.1 * -np.log(0.01)


def test_a_column_among_many_loses_no_more_than_holm_would():
    """The shares of a category change, eight other columns stay: adjusted p-values are at most eight times the own."""
    hits = np.zeros(2)
    for seed in range(40):
        random = np.random.default_rng(seed)
        levels = [random.choice(4, 300, p=shares) for shares in ([0.5, 0.25, 0.15, 0.1], [0.4, 0.22, 0.16, 0.22])]
        columns = [Column(str(k), *random.normal(size=(2, 300))) for k in range(8)]
        columns.append(Column("line", *(each.astype(float) for each in levels), tuple("ABCD")))
        scores = column_scores([bins_of(column) for column in columns], labels_of(600, 300, 399))
        table = [np.bincount(each, minlength=4) for each in levels]
        hits += adjusted_p_values(scores)[-1] <= 0.05, chi2_contingency(table).pvalue <= 0.05 / 9
    assert hits[1] > 20
    assert hits[0] >= hits[1] - 2


def test_adjusted_p_values_follow_the_definition_and_copies_cost_nothing():
    scores = RANDOM.normal(size=(4, 500))
    scores[1, 0], scores[2, 0] = 2.6, 3.2
    adjusted = adjusted_p_values(scores)
    assert adjusted[2] == pytest.approx(np.mean(scores.max(axis=0) >= 3.2))
    assert adjusted[1] == pytest.approx(max(adjusted[2], np.mean(scores[[0, 1, 3]].max(axis=0) >= 2.6)))
    assert (own_p_values(scores) <= adjusted + 1e-12).all()
    np.testing.assert_allclose(adjusted_p_values(np.concatenate([scores, scores]))[:4], adjusted)


def test_missing_values_are_a_bin_and_rare_categories_share_one():
    numbers = Column("x", np.array([1.0, np.nan, 3.0]), np.array([2.0, np.nan]))
    np.testing.assert_array_equal(bins_of(numbers).codes, [0, 3, 2, 1, 3])
    many = Column("c", np.arange(60.0), np.zeros(3), tuple(map(str, range(60))))
    assert len(np.unique(bins_of(many).codes)) == 30
    assert features_of(Column("constant", np.ones(5), np.ones(4))).shape == (9, 0)


@pytest.mark.parametrize("folded", [False, True])
def test_each_kind_of_dependence_is_seen(folded):
    x, y = RANDOM.normal(size=(2, 400, 2))
    other = np.exp(0.8 * np.abs(y[:, 0])) * y[:, 1] if folded else 0.5 * y[:, 0] + y[:, 1]
    columns = [Column("a", x[:, 0], y[:, 0]), Column("b", x[:, 1], other / other.std())]
    scores = pair_scores(columns, labels_of(800, 400), np.random.default_rng(0))
    assert own_p_values(np.stack(list(scores.values())))[0] == pytest.approx(1 / 200)


def test_a_change_of_one_column_has_the_level_of_its_test():
    """Of 300 tests of equal columns a tenth may say p ≤ 0.1: 30 ± 5.2."""
    hits = 0
    for seed in range(300):
        values = np.random.default_rng(seed).poisson(2, size=60).astype(float)
        scores = column_scores([bins_of(Column("x", values[:20], values[20:]))], labels_of(60, 20, 39))
        hits += own_p_values(scores)[0] <= 0.1
    assert 8 <= hits <= 46
