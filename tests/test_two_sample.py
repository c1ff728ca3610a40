import numpy as np
import pytest
from scipy.spatial.distance import cdist

import vwkde
from vwkde._answers import contrasts
from vwkde._answers.contrasts import _forms, contrast_statistics, pooled_rows
from vwkde._answers.permutation import p_values
from vwkde._answers.reassignments import Permuted


def test_the_level_is_held():
    """Of 200 tests on equal densities about a tenth may say p ≤ 0.1: 20 ± 4."""
    count = 0
    for seed in range(200):
        random = np.random.default_rng(seed)
        p, q = random.standard_t(3, size=(25, 3)), random.standard_t(3, size=(40, 3))
        count += vwkde.two_sample_test(p, q, n_permutations=99, random_state=seed).p_value <= 0.1
    assert 8 <= count <= 33


@pytest.mark.parametrize(
    ("most", "columns", "some_rows"),
    [(2, 1, False), (4, 1, False), (4, 2, False), (2, 1, True), (2, 2, True)],
)
def test_the_level_is_held_on_discrete_data(most, columns, some_rows, monkeypatch):
    """Ties only make the test conservative. Of 400 tests a share α may say p ≤ α, and three standard errors more."""
    if some_rows:
        monkeypatch.setattr(contrasts, "_MOST_ROWS", 12)
        monkeypatch.setattr(contrasts, "_MOST_PRODUCTS", 0)
    p_values = []
    for seed in range(1_000, 1_400):
        p, q = np.random.default_rng(seed).integers(0, most, size=(2, 15, columns)).astype(float)
        p_values.append(vwkde.two_sample_test(p, q, n_permutations=39, random_state=seed).p_value)
    for level in (0.05, 0.1, 0.2):
        assert np.mean(np.array(p_values) <= level + 1e-12) <= level + 3 * np.sqrt(level * (1 - level) / 400)


def grouped(sizes, effect, random):
    """Rows of groups that share a shift, and the group of each."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    return random.normal(size=(len(sizes), 2))[group] * effect + random.normal(size=(len(group), 2)), group


def grouped_p_values(sizes, other_sizes, effect, shift, repetitions=200):
    found = []
    for seed in range(repetitions):
        random = np.random.default_rng(seed)
        (p, group), (q, other) = (grouped(each, effect, random) for each in (sizes, other_sizes))
        groups = group, None if len(other) == len(other_sizes) else other + len(sizes)
        result = vwkde.two_sample_test(p, q + np.array([shift, 0]), groups=groups, n_permutations=99, random_state=seed)
        found.append(result.p_value)
    return np.array(found) + 1e-12


LARGE_AND_SINGLE, LARGE_AND_SMALL = ([10] * 30, [1] * 150), ([20] * 20, [4] * 10)


@pytest.mark.parametrize("effect", [0.3, 1.0])
@pytest.mark.parametrize("sizes", [LARGE_AND_SINGLE, LARGE_AND_SMALL], ids=["rows of their own", "small groups"])
def test_the_level_is_held_if_groups_of_one_sample_are_larger(sizes, effect):
    """If groups of different sizes change places, three tenths of the tests say p ≤ 0.05 for large and small ones."""
    p_value = grouped_p_values(*sizes, effect, 0.0)
    for level in (0.05, 0.1, 0.2):
        assert np.mean(p_value <= level) <= level + 3 * np.sqrt(level * (1 - level) / 200)


def test_groups_beside_independent_rows_show_a_shift():
    """If groups of ten change places with single rows, not one test in ten says p ≤ 0.05."""
    assert np.mean(grouped_p_values(*LARGE_AND_SINGLE, 0.3, 0.4, repetitions=40) <= 0.05) > 0.7


def test_few_large_groups_are_told():
    p, group = grouped([20] * 5, 0.3, np.random.default_rng(0))
    q = np.random.default_rng(1).normal(size=(200, 2))
    with pytest.warns(vwkde.DegenerateDataWarning, match=r"numerator are worth only 5\.0 groups of equal size"):
        vwkde.two_sample_test(p, q, groups=(group, None), n_permutations=19)


def test_heavy_tails_beside_large_groups_are_no_difference():
    p_values = []
    for seed in range(100):
        random = np.random.default_rng(seed)
        p, group = grouped([10] * 60, 1.0, random)
        q = grouped([1] * 30, 1.0, random)[0]
        result = vwkde.two_sample_test(np.sinh(p), np.sinh(q), groups=(group, None), n_permutations=59)
        p_values.append(result.p_value)
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.0475 / 100)


def test_values_that_differ_by_rounding_are_tied():
    statistic = np.array([0.3, 0.1 + 0.2, 0.7, 1e-17, 0.0])
    np.testing.assert_allclose(p_values(statistic), (np.array([3, 3, 1, 5, 5]) - 0.5) / 5)


@pytest.mark.parametrize(
    ("statistic", "change"),
    [
        ("means", lambda x: x + np.array([0.5, 0, 0])),
        ("energy", lambda x: x + np.array([0.5, 0, 0])),
        ("covariances", lambda x: x * [1.6, 1, 1]),
        ("kernels", lambda x: np.sign(x) * 0.9 + 0.4 * x / (1 + np.abs(x))),
    ],
)
def test_each_statistic_sees_its_own_difference(statistic, change):
    random = np.random.default_rng(0)
    p, q = random.normal(size=(200, 3)), change(random.normal(size=(250, 3)))
    result = vwkde.two_sample_test(p, q)
    assert result.p_values[statistic] <= 0.01
    assert result.p_value <= 0.05


def test_power_on_a_shift_is_that_of_the_energy_test():
    wins = np.zeros(2)
    for seed in range(40):
        random = np.random.default_rng(seed)
        p, q = random.normal(size=(100, 20)), random.normal(size=(100, 20))
        q[:, 0] += 0.7
        result = vwkde.two_sample_test(p, q, n_permutations=99, random_state=seed)
        wins += result.p_value <= 0.05, result.p_values["energy"] <= 0.05
    assert wins[0] >= wins[1] - 2 > 20


def test_quadratic_forms_agree_with_their_definitions():
    random = np.random.default_rng(0)
    z, order = pooled_rows(random.normal(size=(30, 2)), random.normal(1, 1, size=(20, 2)), random)
    first = order < 30
    samples = Permuted(np.column_stack([first, random.permutation(first)]))
    c = samples.contrast()
    np.testing.assert_allclose(c.sum(axis=0), 0, atol=1e-12)
    d = cdist(z, z)
    np.testing.assert_allclose(_forms(z, samples, lambda x: -x), [-c[:, k] @ d @ c[:, k] for k in range(2)])
    means = contrast_statistics(z, samples, random)["means"][0]
    assert means == pytest.approx(np.sum((z[first].mean(axis=0) - z[~first].mean(axis=0)) ** 2))


def test_copies_of_the_data_give_the_same_answer():
    random = np.random.default_rng(1)
    p, q = random.normal(size=(60, 3)), random.normal(0.3, 1, size=(50, 3))
    expected = vwkde.two_sample_test(p, q)
    scale = np.array([1, 1e4, 1e-4])
    copy = vwkde.two_sample_test(random.permutation(p) * scale + 7, random.permutation(q) * scale + 7)
    assert copy.p_value == expected.p_value
    assert expected.p_value == vwkde.two_sample_test(p, q).p_value


def test_the_report_is_readable():
    p, q = np.arange(20.0), np.arange(20.0) + 30
    lines = str(vwkde.two_sample_test(p, q, n_permutations=199)).splitlines()
    assert lines[0] == "two-sample test: p = 0.005 (20 and 20 rows, 199 permutations)"
    assert "means 0.005" in lines[1]


def test_bad_input_is_told():
    with pytest.raises(ValueError, match="int of at least 19"):
        vwkde.two_sample_test([1.0, 2.0], [3.0, 4.0], n_permutations=5)
    with pytest.raises(ValueError, match="all rows of both samples are equal"):
        vwkde.two_sample_test(np.ones((5, 2)), np.ones((5, 2)))


def test_odd_data_give_a_p_value():
    random = np.random.default_rng(0)
    for p, q in [
        (np.ones((5, 2)), np.ones((5, 2)) + np.arange(5)[:, None]),
        (random.normal(size=(4, 30)), random.normal(size=(3, 30))),
        (random.integers(0, 2, size=(50, 3)), random.integers(0, 2, size=(40, 3))),
        (random.standard_cauchy(size=(40, 2)) * 1e200, random.normal(size=(30, 2))),
    ]:
        assert 0 < vwkde.two_sample_test(p, q, n_permutations=99).p_value <= 1
