"""Entropy balancing: weighted means agree with the target, and weights change no more than they must."""

import numpy as np
import pytest

from vwkde._answers.reweighting.balancing import find_tilt, worth_balancing

RANDOM = np.random.default_rng(0)
TARGET = RANDOM.normal([0.5, -0.3], [1.0, 0.8], size=(4_000, 2))
ROWS = RANDOM.normal(size=(4_000, 2))


def weights(kind, log_weight=None):
    log_weight = np.zeros(len(ROWS)) if log_weight is None else log_weight
    tilt = find_tilt(kind, TARGET, np.ones(len(TARGET)), ROWS, log_weight, len(ROWS))
    return np.exp(log_weight + tilt(ROWS))


def test_means_agree_and_second_moments_if_asked_for():
    means, moments = weights("means"), weights("moments")
    for each in (means, moments):
        np.testing.assert_allclose(np.average(ROWS, axis=0, weights=each), TARGET.mean(axis=0), atol=0.005)
    spread = np.average((ROWS - TARGET.mean(axis=0)) ** 2, axis=0, weights=moments)
    np.testing.assert_allclose(spread, TARGET.var(axis=0), rtol=0.01)
    assert np.average(ROWS[:, 1] ** 2, weights=means) > 1.2 * (TARGET[:, 1] ** 2).mean()


def test_a_shift_is_found_exactly():
    """Between Gaussians of one covariance, balanced means are the density ratio."""
    shifted = ROWS + np.array([0.5, 0.0])
    tilt = find_tilt("means", shifted, np.ones(len(ROWS)), ROWS, np.zeros(len(ROWS)), len(ROWS))
    exact = 0.5 * (ROWS[:, 0] - ROWS[:, 0].mean())
    assert np.std(tilt(ROWS) - exact) < 0.05


def test_weights_that_are_right_hardly_change():
    exact = 0.5 * ROWS[:, 0] - 0.125
    shifted = RANDOM.normal([0.5, 0.0], 1.0, size=(4_000, 2))
    tilt = find_tilt("moments", shifted, np.ones(4_000), ROWS, exact, len(ROWS))
    assert np.std(tilt(ROWS)) < 0.1


def test_rows_beyond_the_range_count_as_its_ends():
    tilt = find_tilt("means", TARGET, np.ones(len(TARGET)), ROWS, np.zeros(len(ROWS)), len(ROWS))
    assert tilt(np.array([[1e6, 0.0]])) == pytest.approx(tilt(np.array([[ROWS[:, 0].max(), 0.0]])))


def test_few_rows_balance_means_only():
    assert worth_balancing("auto", 5, 1_000) == "moments"
    assert worth_balancing("auto", 5, 900) == "means"
    assert worth_balancing("moments", 5, 10) == "moments"


def test_a_column_that_is_constant_in_the_target_is_no_obstacle():
    target = np.column_stack([TARGET[:, 0], np.zeros(len(TARGET))])
    tilt = find_tilt("means", target, np.ones(len(target)), ROWS, np.zeros(len(ROWS)), len(ROWS))
    assert np.isfinite(tilt(ROWS)).all()
