import numpy as np
import pytest
from scipy.stats import norm

from vwkde._coordinates.normal_scores import WhitenedScores, fit_normal_scores
from vwkde._coordinates.whitening import fit_whitening

RANDOM = np.random.default_rng(0)
P, Q = np.exp(RANDOM.normal(size=(400, 2))), np.exp(RANDOM.normal(0.5, 1, size=(300, 2)))
ONES = np.ones(400), np.ones(300)


def test_scores_are_the_normal_quantiles_of_balanced_ranks():
    x, y = np.array([[0.0], [2.0]]), np.array([[1.0], [3.0], [4.0], [5.0]])
    scores = fit_normal_scores(x, y, (np.ones(2), np.ones(4)))
    np.testing.assert_allclose(scores(np.array([[0.0], [1.0], [2.0]]))[:, 0], norm.ppf([2 / 16, 5 / 16, 8 / 16]))


def test_both_samples_count_alike_whatever_their_sizes():
    twice = np.concatenate([Q, Q])
    one, other = fit_normal_scores(P, Q, ONES), fit_normal_scores(P, twice, (ONES[0], np.ones(600)))
    np.testing.assert_allclose(one(P), other(P), atol=1e-12)


def test_the_map_increases_inside_and_beyond_the_data():
    scores = fit_normal_scores(P, Q, ONES)
    line = np.linspace(-50, 200, 5_000)
    mapped = scores(np.column_stack([line, line]))
    assert (np.diff(mapped, axis=0) > 0).all()


def test_copies_by_any_increasing_map_get_the_same_scores():
    expected = fit_normal_scores(P, Q, ONES)(P)
    found = fit_normal_scores(np.log(P), np.log(Q), ONES)(np.log(P))
    np.testing.assert_allclose(found, expected)


def test_whitened_scores_have_unit_within_covariance():
    scores = fit_normal_scores(P, Q, ONES)
    coordinates = WhitenedScores(scores, fit_whitening(scores(P), scores(Q), ONES, None))
    p, q = coordinates(P), coordinates(Q)
    within = ((len(P) - 1) * np.cov(p.T) + (len(Q) - 1) * np.cov(q.T)) / (len(P) + len(Q) - 2)
    np.testing.assert_allclose(within, np.eye(2), atol=1e-9)


def test_equal_values_share_a_score_and_constant_columns_stay():
    x = np.array([[1.0, 7.0], [1.0, 7.0], [2.0, 7.0], [3.0, 7.0]])
    scores = fit_normal_scores(x, x, (np.ones(4), np.ones(4)))(x)
    assert scores[0, 0] == scores[1, 0] < scores[2, 0] < scores[3, 0]
    assert np.isfinite(scores).all()
    assert np.ptp(scores[:, 1]) == 0
    assert scores[0, 0] == pytest.approx(norm.ppf(0.25))
