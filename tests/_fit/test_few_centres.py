"""Sums over some rows, at all rows: against the sums of those rows alone."""

from dataclasses import replace

import numpy as np
import pytest

from vwkde import DensityRatio
from vwkde._data.sample import Sample, make_unordered_sample
from vwkde._fit import few_centres
from vwkde._fit.few_centres import FewCentres, level_by_all_rows, most_centres, with_few_centres
from vwkde._fit.guided_ratio import GuidedRatio
from vwkde._fit.kernel_estimate import Numerics
from vwkde._fit.kernel_pair import make_pair
from vwkde._models.guides import GUIDES
from vwkde._models.guides.cross_fit import cross_fit, no_guide
from vwkde._models.log_loss import level_gap
from vwkde._models.weights.uniform import UniformWeight
from vwkde.datasets import mean_difference

ROWS = 120


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(few_centres, "_FEWEST_CENTRES", 50)
    monkeypatch.setattr(few_centres, "_MOST_PAIRS", 1.0)


def pair(samples, bandwidth=0.8):
    return make_pair(samples, UniformWeight(), bandwidth, Numerics(), cross_fit("gaussian", samples, 0))


def draw(columns=4):
    return tuple(make_unordered_sample(x) for x in mean_difference(columns, 1.0).sample(ROWS))


def test_every_row_gets_the_sum_over_the_chosen_rows_without_its_own():
    samples = draw()
    guide = cross_fit("gaussian", samples, 0)
    whole = make_pair(samples, UniformWeight(), 0.8, Numerics(), guide)
    few = with_few_centres(whole, seed=3)
    assert isinstance(few, FewCentres)
    assert [len(each) for each in few.chosen] == [50, 50]
    assert few.samples[0] is samples[0]
    estimates = whole.numerator, whole.denominator
    for side, (at, sample) in enumerate(zip(few.at_samples, samples, strict=True)):
        found = at.numerator, at.denominator
        for row in (few.chosen[side][0], few.chosen[side][-1], np.setdiff1d(np.arange(ROWS), few.chosen[side])[0]):
            own = few.chosen[side][few.chosen[side] != row]
            by_rows = estimates[side].from_rows(own).log_density(sample.points[[row]])
            assert found[side][row] == pytest.approx(by_rows[0], rel=1e-12)
            other = estimates[1 - side].from_rows(few.chosen[1 - side]).log_density(sample.points[[row]])
            assert found[1 - side][row] == pytest.approx(other[0], rel=1e-12)


def test_several_bandwidths_and_weights_keep_their_axes():
    samples = draw()
    one = pair(samples)
    several = [
        replace(each, bandwidth=np.array([0.5, 0.8]), weight=(each.weight, each.weight))
        for each in (one.numerator, one.denominator)
    ]
    grid = with_few_centres(type(one)(*several), 3)
    plain = with_few_centres(one, 3)
    for at_grid, at_plain in zip(grid.at_samples, plain.at_samples, strict=True):
        assert at_grid.numerator.shape == (2, ROWS, 2)
        np.testing.assert_allclose(at_grid.log_ratio[1, :, 0], at_plain.log_ratio, rtol=1e-12)


def test_rows_of_the_own_group_are_left_out():
    points = [sample.points for sample in draw()]
    group = np.arange(ROWS) // 3
    samples = tuple(Sample(x, np.ones(ROWS), np.arange(ROWS), group=group + 40 * side) for side, x in enumerate(points))
    whole = pair(samples)
    few = with_few_centres(whole, 3)
    (row, *_) = few.chosen[0]
    others = few.chosen[0][group[few.chosen[0]] != group[row]]
    expected = whole.numerator.from_rows(others).log_density(samples[0].points[[row]])
    assert few.at_samples[0].numerator[row] == pytest.approx(expected[0], rel=1e-10)


def test_all_rows_are_centres_if_they_are_few_or_have_few_columns(monkeypatch):
    two = draw(columns=2)
    assert most_centres(two) == np.inf
    assert not isinstance(with_few_centres(pair(two), 3), FewCentres)
    three = draw(columns=3)
    assert not isinstance(with_few_centres(pair(three), 3), FewCentres)
    monkeypatch.setattr(few_centres, "_MOST_IN_THREE_COLUMNS", ROWS - 1)
    assert most_centres(three) == ROWS - 1
    monkeypatch.setattr(few_centres, "_MOST_PAIRS", 1e8)
    whole = pair(draw())
    assert with_few_centres(whole, 3) is whole


def test_a_fit_with_few_centres_answers_at_new_points():
    p, q = mean_difference(4, 1.0).sample(400, random_state=1)
    fitted = DensityRatio(guide="gaussian", bandwidth=1.0).fit(p, q)
    assert isinstance(fitted._fitted.average.main.ratio.pair, FewCentres)
    assert fitted.diagnostics_["centres"] == [50, 50]
    assert "rows_learnt" not in fitted.diagnostics_
    truth = mean_difference(4, 1.0).log_ratio(q[:50])
    assert np.corrcoef(fitted.log_ratio(q[:50]), truth)[0, 1] > 0.9


def test_the_diagnostics_tell_how_many_rows_a_guide_learnt_from(monkeypatch):
    monkeypatch.setitem(GUIDES, "logistic", replace(GUIDES["logistic"], most_rows=100))
    p, q = mean_difference(4, 1.0).sample(400, random_state=1)
    diagnostics = DensityRatio(guide="logistic").fit(p, q[:120]).diagnostics_
    assert diagnostics["rows_learnt"] == [100, 96]


def equal_samples(seed, rows=4_000):
    return tuple(make_unordered_sample(x) for x in np.random.default_rng(seed).normal(size=(2, rows, 4)))


def smoothed(samples):
    """Return the ratio of wide kernels, which is nearly constant if the samples are equal."""
    pair = make_pair(samples, UniformWeight(), 3.0, Numerics())
    return GuidedRatio(no_guide(samples), with_few_centres(pair, seed=3))


def test_all_rows_know_the_level_better_than_few_centres():
    before, after = [], []
    for seed in range(10):
        ratio = smoothed(equal_samples(seed))
        before.append(ratio.at_samples[0].mean())
        after.append(level_by_all_rows(ratio).at_samples[0].mean())
    assert np.std(after) < 0.2 * np.std(before)


def test_the_level_is_that_of_the_log_ratio_everywhere():
    ratio = smoothed(equal_samples(0))
    corrected = level_by_all_rows(ratio)
    assert level_gap(corrected.at_samples, tuple(sample.weight for sample in ratio.samples)) == pytest.approx(
        0, abs=1e-9
    )
    x = np.random.default_rng(1).normal(size=(10, 4))
    np.testing.assert_allclose(corrected.log_ratio(x) - ratio.log_ratio(x), corrected.level)
    for one, other in zip(corrected.at_samples, replace(corrected, known=None).at_samples, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_sums_over_all_rows_keep_their_level(monkeypatch):
    monkeypatch.setattr(few_centres, "_FEWEST_CENTRES", 10**9)
    ratio = smoothed(equal_samples(0, rows=100))
    assert level_by_all_rows(ratio) is ratio
