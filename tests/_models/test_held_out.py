import numpy as np
import pytest

from vwkde._data.sample import Sample
from vwkde._models import held_out
from vwkde._models.folds import known_folds
from vwkde._models.guides.cross_fit import FOLDS, cross_fit
from vwkde._models.held_out import moments_suffice, without_each_fold

ROWS = 600


def weighted(points, seed=0):
    weight = np.random.default_rng(seed).uniform(0.2, 2.0, len(points))
    return Sample(points, weight / weight.mean(), np.arange(len(points)))


def samples():
    random = np.random.default_rng(1)
    return weighted(random.standard_t(3, (ROWS, 3))), weighted(random.normal(0.5, 1.5, (ROWS + 7, 3)), 2)


@pytest.fixture
def small_blocks(monkeypatch):
    """Rows are many from a few on, and most blocks lack some fold."""
    monkeypatch.setattr(held_out, "_MANY_ROWS", 100)
    monkeypatch.setattr("vwkde._compute.parallel._NUMBERS", 12)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("guide", ["shared-gaussian", "gaussian", "shrunk-gaussian"])
@pytest.mark.parametrize("seed", [0, 3])
def test_guides_from_moments_are_those_from_copies_of_the_rows(guide, seed, monkeypatch):
    by_moments = cross_fit(guide, samples(), seed)
    monkeypatch.setattr(held_out, "_MANY_ROWS", 10**9)
    by_copies = cross_fit(guide, samples(), seed)
    for found, expected in zip(by_moments.at_samples, by_copies.at_samples, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.usefixtures("small_blocks")
def test_what_is_left_without_each_fold():
    sample = samples()[0]
    folds = known_folds(sample, FOLDS, 5)
    mean, root = np.array([0.1, -0.2, 0.3]), np.diag([1.0, 2.0, 0.5])
    for number, others in enumerate(without_each_fold(sample, FOLDS, 5)):
        copied = sample.subset(folds != number)
        assert len(others) == 0  # nobody can look at rows by mistake
        assert others.total == len(copied)
        assert others.effective_rows == pytest.approx(copied.effective_rows)
        assert others.fourth_moment(mean, root) == pytest.approx(copied.fourth_moment(mean, root))
        for found, expected in zip(others.mean_and_covariance(), copied.mean_and_covariance(), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.usefixtures("small_blocks")
def test_moments_are_computed_once_for_each_seed(monkeypatch):
    sample = samples()[0]
    first = without_each_fold(sample, FOLDS, 0)
    other_seed = without_each_fold(sample, FOLDS, 1)
    monkeypatch.setattr(held_out, "_about_each", None)
    again = without_each_fold(sample, FOLDS, 0)
    np.testing.assert_array_equal(again[2].weighted_moments.mean, first[2].weighted_moments.mean)
    assert (other_seed[2].weighted_moments.mean != first[2].weighted_moments.mean).any()


@pytest.mark.usefixtures("small_blocks")
def test_moments_do_not_suffice_for_few_or_dependent_rows():
    sample = samples()[0]
    one_row = Sample(sample.points, np.where(np.arange(ROWS) == 0, ROWS - 1.0, 1e-9), sample.rows)
    assert moments_suffice(sample)
    assert not moments_suffice(one_row)
    assert not moments_suffice(sample.in_groups(np.arange(ROWS) // 2))
    assert not moments_suffice(sample.subset(np.arange(50)))


@pytest.mark.usefixtures("small_blocks")
def test_the_fourth_moment_of_very_many_rows_comes_from_some(monkeypatch):
    random = np.random.default_rng(4)
    points = random.normal(size=(20_000, 3))
    sample = weighted(points[np.argsort(np.linalg.norm(points, axis=1))])
    mean, root = np.array([0.1, -0.2, 0.3]), np.diag([1.0, 2.0, 0.5])
    exact = [others.fourth_moment(mean, root) for others in without_each_fold(sample, FOLDS, 5)]
    monkeypatch.setattr(held_out, "_MOST_ROWS", 4_000)
    some = [others.fourth_moment(mean, root) for others in without_each_fold(sample, FOLDS, 5)]
    assert some != exact
    np.testing.assert_allclose(some, exact, rtol=0.15)  # noise of four thousand rows
