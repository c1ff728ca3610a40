"""Bounds on ratios: what they do, and that the chosen one is the best by the error it stands for."""

import numpy as np
import pytest

from vwkde._answers.reweighting.shrinkage import Shrinkage, choose_shrinkage, error_of_means

RANDOM = np.random.default_rng(0)


def log_ratio(x, shift):
    """Of N(shift, 1) to N(0, 1)."""
    return shift * x - shift**2 / 2


def test_a_limit_cuts_and_a_relative_ratio_is_that_to_the_mixture():
    u = np.array([-1.0, 0.0, 3.0])
    np.testing.assert_allclose(np.exp(Shrinkage(2.0)(u)), np.minimum(np.exp(u), 2.0))
    r = np.exp(u)
    np.testing.assert_allclose(np.exp(Shrinkage(relative=0.2)(u)), r / (0.2 * r + 0.8))
    np.testing.assert_array_equal(Shrinkage()(u), u)


def test_the_error_is_that_of_repeated_draws():
    """Without a bound there is no bias, and the variance of a mean of variance one is E_q[r²·f²]/n."""
    x = RANDOM.normal(0.5, 1, 200_000)
    error = error_of_means(Shrinkage(), log_ratio(x, 0.5), np.ones(len(x)), 100)
    assert error == pytest.approx(np.exp(0.25) / 100, rel=0.02)


def test_means_over_heavy_weights_gain_by_the_chosen_limit():
    """Ratios of N(2, 1) to N(0, 1) at 400 rows: a handful of rows decides, unless they are bounded."""
    p, n = RANDOM.normal(2, 1, 2_000), 400
    chosen = choose_shrinkage("auto", 0.0, log_ratio(p, 2.0), np.ones(len(p)), n)
    assert 1 < chosen.limit <= np.sqrt(n)
    errors = {}
    for bound in (Shrinkage(), chosen):
        squares = []
        for _ in range(400):
            q = RANDOM.normal(size=n)
            weight = np.exp(bound(log_ratio(q, 2.0)))
            squares.append((np.average(q, weights=weight) - 2.0) ** 2)
        errors[bound] = np.mean(squares)
    assert errors[chosen] < errors[Shrinkage()]


def test_nothing_is_bounded_where_the_samples_are_alike():
    p = RANDOM.normal(0.1, 1, 1_000)
    chosen = choose_shrinkage("auto", 0.0, log_ratio(p, 0.1), np.ones(len(p)), 1_000)
    assert chosen.limit > np.exp(log_ratio(p, 0.1)).max()
    assert choose_shrinkage("auto", "auto", log_ratio(p, 0.1), np.ones(len(p)), 1_000).relative < 0.1
