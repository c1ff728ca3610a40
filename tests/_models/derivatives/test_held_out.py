import numpy as np
import pytest

from vwkde._models.derivatives.gaussian import GaussianDerivatives, fit_gaussian
from vwkde._models.derivatives.held_out import draw_rows, is_gain, make_folds, score_matching_loss

GAUSSIAN = GaussianDerivatives(np.zeros(3), np.eye(3))


def test_the_loss_of_the_truth_is_minus_half_its_fisher_information():
    x = np.random.default_rng(0).normal(size=(20_000, 3))
    assert score_matching_loss(GAUSSIAN, x, np.ones(20_000)) == pytest.approx(-1.5, abs=4 * np.sqrt(1.5 / 20_000))


def test_losses_differ_by_half_the_squared_distance_of_the_scores():
    x = np.random.default_rng(0).normal(size=(20_000, 3))
    shifted = GaussianDerivatives(np.array([0.5, 0, 0]), 1.2 * np.eye(3))
    gap = score_matching_loss(shifted, x, np.ones(20_000)) - score_matching_loss(GAUSSIAN, x, np.ones(20_000))
    assert gap == pytest.approx(0.5 * ((shifted.score(x) + x) ** 2).sum(axis=1).mean(), abs=0.03)
    assert gap > 0.2


def test_weights_count_like_copies():
    x = np.random.default_rng(0).normal(size=(50, 3))
    model = fit_gaussian(x + 1, np.ones(50))
    weight = np.where(x[:, 0] > 0, 2.0, 1.0)
    copies = np.concatenate([x, x[x[:, 0] > 0]])
    expected = score_matching_loss(model, copies, np.ones(len(copies)))
    assert score_matching_loss(model, x, weight) == pytest.approx(expected, rel=1e-12)


def test_a_gain_exceeds_its_standard_error():
    noise = np.random.default_rng(0).normal(size=400)
    noise = (noise - noise.mean()) / noise.std()  # the standard error of the mean is 0.05
    zeros, ones = np.zeros(400), np.ones(400)
    assert is_gain(noise + 0.051, zeros, ones)
    assert not is_gain(noise + 0.049, zeros, ones)
    assert not is_gain(zeros, zeros, ones)
    # half the rows at weight zero: the error is that of 200 rows
    noise[:200] = noise[200:]
    half = np.repeat([2.0, 0.0], 200)
    error = noise[:200].std() / np.sqrt(200)
    assert is_gain(noise - noise.mean() + 1.01 * error, zeros, half)
    assert not is_gain(noise - noise.mean() + 0.99 * error, zeros, half)


def test_folds_share_the_rows_and_keep_copies_together():
    x = np.repeat(np.random.default_rng(0).normal(size=(60, 2)), 3, axis=0)
    folds = make_folds(x, np.ones(180), 3, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sum(folds, axis=0), 1)
    assert [fold.sum() for fold in folds] == [60, 60, 60]
    assert all((fold.reshape(60, 3).sum(axis=1) % 3 == 0).all() for fold in folds)


def test_too_few_rows_weights_or_values_give_no_folds():
    random = np.random.default_rng(0)
    x = random.normal(size=(100, 2))
    assert make_folds(x, np.ones(100), 3, random)
    assert not make_folds(x[:29], np.ones(29), 3, random)
    assert not make_folds(np.repeat(x[:10], 10, axis=0), np.ones(100), 3, random)
    assert not make_folds(x, np.repeat([4.0, 0.0], [25, 75]), 3, random)


def test_rows_are_drawn_in_order_and_once():
    rows = np.arange(100) * 3
    drawn = draw_rows(rows, 40, np.random.default_rng(0))
    assert len(drawn) == len(set(drawn)) == 40
    assert set(drawn) <= set(rows)
    assert (np.diff(drawn) > 0).all()
    np.testing.assert_array_equal(draw_rows(rows, 100, np.random.default_rng(0)), rows)
