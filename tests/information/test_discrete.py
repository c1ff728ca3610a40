"""Mutual information of discrete columns: tables against their truth, classes against quadrature."""

import numpy as np
import pytest
from scipy import integrate, stats

import vwkde
from vwkde.exceptions import DegenerateDataWarning
from vwkde.information._tables import Table


def information_of_shifts(means, shares):
    """Return I(class; y) of normal classes, by quadrature."""

    def density(y):
        return sum(share * stats.norm.pdf(y, mean) for mean, share in zip(means, shares, strict=True))

    return integrate.quad(lambda y: -density(y) * np.log(density(y)), -12, 18)[0] - stats.norm.entropy()


def test_the_jackknife_removes_the_bias_of_a_table():
    joint = np.full((5, 5), 0.3 / 25) + np.eye(5) * 0.7 / 5
    truth = (joint * np.log(25 * joint)).sum()
    random = np.random.default_rng(0)
    plain, unbiased = [], []
    for _ in range(200):
        cell = random.choice(25, 150, p=joint.ravel())
        table = Table(cell // 5, cell % 5)
        plain.append(table.information)
        unbiased.append(table.jackknifed(None))
    error = np.std(unbiased) / np.sqrt(200)
    assert np.mean(plain) - truth > 5 * error
    assert np.mean(unbiased) == pytest.approx(truth, abs=3 * error)


def test_leaving_out_rows_is_leaving_out_groups_of_one():
    x, y = np.random.default_rng(0).integers(4, size=(2, 60))
    table = Table(x, y)
    assert table.jackknifed(np.arange(60)) == pytest.approx(table.jackknifed(None), rel=1e-9)
    assert table.log_ratio.mean() == pytest.approx(table.information, rel=1e-12)


def test_intervals_of_tables_cover():
    joint = np.full((3, 4), 0.6 / 12)
    joint[[0, 1, 2], [1, 3, 0]] += 0.4 / 3
    truth = (joint * np.log(joint / np.outer(joint.sum(1), joint.sum(0)))).sum()
    random = np.random.default_rng(1)
    covered = []
    for _ in range(100):
        cell = random.choice(12, 200, p=joint.ravel())
        low, high = vwkde.mutual_information(cell // 4, cell % 4).interval
        covered.append(low < truth < high)
    assert np.mean(covered) > 0.88


def test_independent_tables_have_none_and_rows_of_groups_do_not_count_as_many():
    random = np.random.default_rng(2)
    x, y = np.repeat(random.integers(4, size=(2, 60)), 10, axis=1)
    estimate = vwkde.mutual_information(x, y, groups=np.repeat(np.arange(60), 10))
    assert estimate.interval[0] <= 0 < estimate.interval[1]
    assert estimate.value == pytest.approx(0.0, abs=0.06)
    assert Table(x, y).information > 0.06


@pytest.mark.parametrize(
    ("means", "shares"), [((0, 1), (0.5, 0.5)), ((0, 2), (0.9, 0.1)), ((0, 4, 1), (0.4, 0.3, 0.3))]
)
def test_classes(means, shares):
    truth = information_of_shifts(means, shares)
    random = np.random.default_rng(3)
    label = random.choice(len(means), 500, p=shares)
    y = np.asarray(means)[label] + random.normal(size=500)
    estimate = vwkde.mutual_information(label, y)
    assert estimate.diagnostics["method"] == "classes"
    assert estimate.interval[0] < truth < estimate.interval[1]
    assert estimate.value == pytest.approx(truth, rel=0.35)
    assert vwkde.mutual_information(y, label).value == pytest.approx(estimate.value)


def test_a_value_that_tells_the_class_says_all_of_its_entropy():
    random = np.random.default_rng(0)
    label = np.repeat([0, 1], 60)
    estimate = vwkde.mutual_information(label, np.column_stack([label, random.normal(size=120)]))
    assert estimate.value == pytest.approx(np.log(2), abs=1e-9)


def test_rare_classes():
    """Nearest neighbours gave 0.21 for a label of entropy 0.001 and a constant (scikit-learn #30772)."""
    label = (np.arange(20_000) < 20).astype(int)
    with pytest.warns(DegenerateDataWarning, match="a constant says nothing"):
        assert vwkde.mutual_information(np.ones(20_000), label).value == 0
    random = np.random.default_rng(0)
    noise = vwkde.mutual_information(label, random.normal(size=20_000))
    assert noise.value == pytest.approx(0.0, abs=0.001)
    flag = (random.uniform(size=20_000) < 0.001).astype(int)
    assert vwkde.mutual_information(flag, label).value == pytest.approx(0.0, abs=0.0005)


def test_classes_of_which_some_are_rare():
    random = np.random.default_rng(0)
    label = np.concatenate([np.repeat([0, 1], 200), [2, 2, 3, 4, 4, 5] * 4])
    estimate = vwkde.mutual_information(label, (label == 1) + 0.5 * random.normal(size=len(label)))
    assert estimate.diagnostics["classes"] == 3  # those with fewer than twenty rows are one
    assert estimate.systematic_error > 0.05
    assert estimate.value == pytest.approx(0.35, abs=0.15)
