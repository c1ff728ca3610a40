from dataclasses import replace

import numpy as np
import pytest
from scipy.special import i0, i1
from scipy.stats import special_ortho_group

import vwkde
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides import wave_search, waves
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.wave_search import by_chance, find_wave, highest_wave
from vwkde._models.guides.waves import fit_wave, have_waves, wave_forms
from vwkde._models.log_loss import log_loss

STRENGTH = 1.2
KL = STRENGTH * i1(STRENGTH) / i0(STRENGTH) - np.log(i0(STRENGTH))
"""KL of the tilt by `STRENGTH` · sin(w·x): for w as long as these, the angle w·x of a normal x is uniform."""


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def frequency(columns, length=4.0):
    return length * np.ones(columns) / np.sqrt(columns)


def log_ratio(x):
    return STRENGTH * np.sin(x @ frequency(x.shape[1])) - np.log(i0(STRENGTH))


def wavy(columns, rows, seed=0):
    """Normal rows accepted with chance ∝ the wave, and normal rows."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(8 * rows, columns))
    accepted = x[np.log(random.uniform(size=len(x))) < log_ratio(x) - STRENGTH + np.log(i0(STRENGTH))]
    assert len(accepted) > rows
    return accepted[:rows], random.normal(size=(rows, columns))


def test_a_search_finds_the_frequency():
    p, q = wavy(5, 800)
    found, height = find_wave((p, q), (np.ones(len(p)), -np.ones(len(q))))
    assert min(np.linalg.norm(found - frequency(5)), np.linalg.norm(found + frequency(5))) < 0.25
    assert height > 5 * by_chance(5)


def test_a_search_leaves_a_lower_peak_near_a_higher_one(monkeypatch):
    random = np.random.default_rng(7)
    high, low = np.array([3.0, 1.5, 0.0, 0.0]), np.array([3.0, -1.5, 0.0, 0.0])
    x = random.normal(size=(20_000, 4))
    tilt = np.sin(x @ high) + 0.6 * np.sin(x @ low)
    p = x[np.log(random.uniform(size=len(x))) < tilt - 1.6][:1_000]
    q = random.normal(size=(1_000, 4))
    sides = np.ones(len(p)), -np.ones(len(q))
    near_the_lower = low[:, None] + 0.1 * random.normal(size=(4, 100))
    monkeypatch.setattr(wave_search, "_between", lambda *_points: near_the_lower.astype(np.float32))
    found, _ = find_wave((p, q), sides)
    assert min(np.linalg.norm(found - high), np.linalg.norm(found + high)) < 0.3
    monkeypatch.setattr(wave_search, "_HOPS", 0)
    stuck, _ = find_wave((p, q), sides)
    assert min(np.linalg.norm(stuck - low), np.linalg.norm(stuck + low)) < 0.3


@pytest.mark.parametrize("rows", [300, wave_search._MANY_ROWS])
def test_the_search_sees_the_sums_of_all_rows(rows):
    """In NumPy for few rows, in compiled loops for many; against double precision."""
    random = np.random.default_rng(3)
    points, residuals, w = random.normal(size=(rows, 3)), random.normal(size=rows), 4 * random.normal(size=(3, 70))
    wave = np.exp(1j * points @ w)
    total, weighted = residuals @ wave, (residuals[:, None] * points).T @ wave
    difference = wave_search._Difference(points.astype(np.float32), residuals.astype(np.float32))
    w = w.astype(np.float32)
    np.testing.assert_allclose(difference.value(w), np.abs(total) ** 2, rtol=1e-3, atol=1e-5 * rows)
    expected = total.imag * weighted.real - total.real * weighted.imag
    np.testing.assert_allclose(difference.slope(w), expected, atol=1e-4 * np.abs(expected).max())


def test_compiled_steps_are_those_of_numpy(monkeypatch):
    random = np.random.default_rng(4)
    points, residuals = random.normal(size=(400, 3)).astype(np.float32), random.normal(size=400).astype(np.float32)
    difference, start = wave_search._Difference(points, residuals), 3 * random.normal(size=(3, 37)).astype(np.float32)
    slow = difference._moved(start, range(30, 33))
    monkeypatch.setattr(wave_search, "_MANY_ROWS", 1)
    compiled = difference._moved(start, range(30, 33))
    assert np.abs(slow - start).max() > 0.01
    np.testing.assert_allclose(compiled, slow, atol=1e-4)


def test_more_rows_decide_among_waves_that_were_found():
    p, q = wavy(5, 800)
    sides = np.ones(len(p)), -np.ones(len(q))
    wrong = np.array([2.0, -1.0, 0.0, 0.0, 1.0])
    np.testing.assert_array_equal(highest_wave([wrong, frequency(5)], (p, q), sides), frequency(5))


def test_parts_in_which_the_search_fails_do_not_count(monkeypatch):
    """Of the three searches in parts of the rows one finds the wave."""
    p, q = map(sample, wavy(5, 1_500))
    right = np.linalg.solve(fit_wave(p, q).whitening, frequency(5))
    found = iter([(0.2 * right, 50.0), (right, 40.0), (-0.3 * right, 60.0)])
    monkeypatch.setattr(waves, "find_wave", lambda *_: next(found))
    guide = fit_wave(p, q)
    assert np.corrcoef(guide(q.points), log_ratio(q.points))[0, 1] > 0.95


@pytest.mark.parametrize("columns", [2, 5, 10, 20])
def test_what_is_found_by_chance_is_known(columns):
    random = np.random.default_rng(1)
    sides = np.ones(400), -np.ones(400)
    heights = [
        find_wave((random.normal(size=(400, columns)), random.normal(size=(400, columns))), sides)[1] for _ in range(6)
    ]
    assert 0.75 * by_chance(columns) < np.mean(heights) < 1.25 * by_chance(columns)


def test_the_guide_is_the_log_ratio_where_that_is_a_wave():
    p, q = map(sample, wavy(5, 1_000))
    x = np.random.default_rng(2).normal(size=(2_000, 5))
    waves, quadratic = (cross_fit(name, (p, q), 0) for name in ("waves", "logistic"))
    assert np.mean((waves(x) - log_ratio(x)) ** 2) < 0.15 * np.mean(log_ratio(x) ** 2)
    assert np.mean((quadratic(x) - log_ratio(x)) ** 2) > 0.9 * np.mean(log_ratio(x) ** 2)
    assert log_loss(waves.at_samples, (p, q)) < log_loss(quadratic.at_samples, (p, q)) - 0.05
    np.testing.assert_allclose(np.mean(waves.at_samples[0]), KL, rtol=0.2)


def test_more_rows_than_find_a_wave_make_its_frequency_exact():
    """The search takes 1,000 rows, and its peak is not quite where the likelihood is largest."""
    guide = fit_wave(*map(sample, wavy(5, 8_000)))
    found = (guide.whitening @ guide.frequencies)[:, 0]
    assert min(np.linalg.norm(found - frequency(5)), np.linalg.norm(found + frequency(5))) < 0.06
    x = np.random.default_rng(2).normal(size=(2_000, 5))
    assert np.mean((guide(x) - log_ratio(x)) ** 2) < 0.01


def test_a_second_wave_is_that_of_the_residuals():
    random = np.random.default_rng(3)
    x = random.normal(size=(20_000, 3))
    t = np.sin(4 * x[:, 0]) + np.sin(3 * x[:, 1] + 1)
    p = sample(x[np.log(random.uniform(size=len(x))) < t - 2][:1_500])
    q = sample(random.normal(size=(1_500, 3)))
    guide = wave_forms(p, q)[1](p, q)
    found = np.abs(guide.whitening @ guide.frequencies)
    np.testing.assert_allclose(found[:, np.argsort(-found[0])], [[4, 0], [0, 3], [0, 0]], atol=0.3)


def test_the_guide_does_not_see_the_axes():
    p, q = wavy(4, 500)
    turn = special_ortho_group.rvs(4, random_state=0)
    one = fit_wave(sample(p), sample(q))
    other = fit_wave(sample(p @ turn), sample(q @ turn))
    assert np.corrcoef(one(p), other(p @ turn))[0, 1] > 0.99


def test_it_is_tried_where_there_is_a_wave_and_not_where_a_quadratic_function_shows_everything():
    random = np.random.default_rng(4)
    p, q = map(sample, wavy(6, 500))
    assert have_waves(p, q)
    assert have_waves(q, p)
    assert not have_waves(sample(random.normal(size=(500, 6))), q)
    assert not have_waves(sample(0.7 + 1.5 * random.normal(size=(500, 6))), q)
    assert not have_waves(sample(p.points[:, :1]), sample(q.points[:, :1]))  # kernel sums see it
    assert not have_waves(sample(p.points[:10]), sample(q.points[:10]))  # no residuals are left


def test_it_is_tried_where_a_quadratic_function_knows_a_part_of_the_wave():
    """A slow wave: beyond squares and products hardly anything is left, but the wave is the better model."""
    random = np.random.default_rng(6)
    for _ in range(3):
        x = random.normal(size=(20_000, 12))
        slow = 2 * np.cos(x @ frequency(12, 1.4))
        p = sample(x[np.log(random.uniform(size=len(x))) < slow - 2][:800])
        q = sample(random.normal(size=(800, 12)))
        assert have_waves(p, q)
    wider = random.normal(size=(800, 12)) * np.append(np.full(3, 1.4), np.ones(9))
    assert not have_waves(sample(wider), q)


def test_it_is_not_tried_where_a_wave_nearly_separates_the_samples():
    """The log loss of clusters that interlace is near zero for any large ratio: a wave made KL two nats too small."""
    random = np.random.default_rng(5)

    def clusters(centres, width):
        x = random.normal(size=(500, 2))
        return sample(np.column_stack([random.choice(centres, 500) + width * x[:, 0], x[:, 1]]))

    assert have_waves(clusters([-3, 0, 3], 0.8), clusters([-1.5, 1.5, 4.5], 0.8))
    assert not have_waves(clusters([-3, 0, 3], 0.3), clusters([-1.5, 1.5, 4.5], 0.3))


def test_pairs_of_x_and_y_are_left_out():
    p, q = map(sample, wavy(6, 500))
    rows = np.arange(500)
    p, q = (replace(s, pairs=Pairs(3, rows, second)) for s, second in ((p, rows), (q, np.roll(rows, 1))))
    assert not have_waves(p, q)


def test_rows_that_are_all_equal_have_no_waves():
    same = sample(np.ones((120, 2)))
    assert not have_waves(same, same)
    np.testing.assert_array_equal(fit_wave(same, same)(same.points), np.zeros(120))


def test_the_default_sees_a_wave_through_several_columns():
    p, q = wavy(5, 700)
    estimate = vwkde.kl_divergence(p, q)
    low, high = estimate.interval
    assert estimate.value > 0.75 * KL
    assert low < KL < high < 2 * KL
