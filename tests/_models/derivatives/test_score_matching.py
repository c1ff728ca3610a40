import numpy as np
import pytest

from support.known import score_matching_loss
from vwkde._models.gaussian import GaussianModel

GAUSSIAN = GaussianModel(np.zeros(3), np.eye(3))


def test_the_loss_of_the_truth_is_minus_half_its_fisher_information():
    x = np.random.default_rng(0).normal(size=(20_000, 3))
    assert score_matching_loss(GAUSSIAN, x).mean() == pytest.approx(-1.5, abs=4 * np.sqrt(1.5 / 20_000))


def test_losses_differ_by_half_the_squared_distance_of_the_scores():
    x = np.random.default_rng(0).normal(size=(20_000, 3))
    shifted = GaussianModel(np.array([0.5, 0, 0]), 1.2 * np.eye(3))
    gap = score_matching_loss(shifted, x).mean() - score_matching_loss(GAUSSIAN, x).mean()
    assert gap == pytest.approx(0.5 * ((shifted.score(x) + x) ** 2).sum(axis=1).mean(), abs=0.03)
    assert gap > 0.2
