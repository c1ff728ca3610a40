from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import special_ortho_group

from vwkde import kl_divergence
from vwkde._data.pairs import Pairs
from vwkde._data.sample import Sample
from vwkde._models.guides import worth_trying
from vwkde._models.guides.cross_fit import cross_fit
from vwkde._models.guides.radial import distance, fit_radial, have_shells
from vwkde._models.log_loss import log_loss

COLUMNS, STEEPNESS = 8, 3.0
MIDDLE = np.sqrt(COLUMNS - 0.5)
"""About the median distance of normal rows, so that neither the mean nor the covariance shows the shell."""


def sample(x):
    return Sample(x, np.ones(len(x)), np.arange(len(x)))


def tilt(x):
    return -STEEPNESS * np.abs(np.linalg.norm(x, axis=1) - MIDDLE)


def shells(rows, seed=0):
    """Normal rows of which those in a shell are more likely to be accepted, and normal rows."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(8 * rows, COLUMNS))
    accepted = x[random.uniform(size=len(x)) < np.exp(tilt(x))]
    assert len(accepted) > rows
    return accepted[:rows], random.normal(size=(rows, COLUMNS))


def log_ratio(x):
    known = np.random.default_rng(9).normal(size=(200_000, COLUMNS))
    return tilt(x) - np.log(np.mean(np.exp(tilt(known))))


def test_the_guide_finds_a_shell_that_no_quadratic_function_shows():
    p, q = map(sample, shells(2_000))
    radial, quadratic = (cross_fit(name, (p, q), 0) for name in ("radial", "logistic"))
    truth = log_ratio(p.points).mean()
    assert np.mean(radial.at_samples[0]) == pytest.approx(truth, rel=0.15)
    assert abs(np.mean(quadratic.at_samples[0])) < 0.2 * truth
    assert log_loss(radial.at_samples, (p, q)) < log_loss(quadratic.at_samples, (p, q)) - 0.03


def test_more_rows_resolve_the_edge_of_the_shell():
    few, many = (fit_radial(*map(sample, shells(rows))) for rows in (1_000, 8_000))
    x = np.random.default_rng(5).normal(size=(2_000, COLUMNS))
    errors = [np.mean((guide(x) - log_ratio(x)) ** 2) for guide in (few, many)]
    assert many.splines.knots > few.splines.knots
    assert errors[1] < 0.6 * errors[0]


def test_shells_are_seen_and_shifts_and_scales_are_none():
    p, q = shells(1_000)
    assert have_shells(sample(p), sample(q))
    assert have_shells(sample(q), sample(p))
    assert not have_shells(sample(q + 0.3), sample(q[::-1] * 1.1))
    assert not have_shells(sample(np.random.default_rng(3).normal(size=(1_000, COLUMNS))), sample(q))
    assert not have_shells(sample(p[:, :1]), sample(q[:, :1]))  # kernel sums see it


def test_pairs_are_left_out():
    p, q = map(sample, shells(500))
    assert not have_shells(p, replace(q, pairs=Pairs(4, np.arange(500), np.arange(500))))


def test_the_guide_does_not_depend_on_the_axes():
    p, q = shells(1_000)
    turn = special_ortho_group.rvs(COLUMNS, random_state=0)
    one, other = fit_radial(sample(p), sample(q)), fit_radial(sample(p @ turn), sample(q @ turn))
    np.testing.assert_allclose(other(p @ turn), one(p), atol=1e-3)
    assert distance(p).shape == (1_000, 1)


def test_rows_that_are_all_equal_have_no_shells():
    same = sample(np.ones((120, 3)))
    assert not have_shells(same, same)
    np.testing.assert_array_equal(fit_radial(same, same)(same.points), np.zeros(120))


@pytest.mark.parametrize("rows", [300, 1_000])
def test_the_default_sees_shells_that_kernel_sums_do_not(rows):
    p, q = shells(rows)
    truth = log_ratio(shells(20_000, 5)[0]).mean()
    estimate = kl_divergence(p, q)
    assert estimate.value > 0.6 * truth
    assert estimate.interval[0] < truth < estimate.interval[1]


def test_guides_for_many_rows_are_not_tried_with_fewer():
    few, many = (worth_trying(None, rows) for rows in (3_000, 3_001))
    assert "paired-mixture" not in few
    assert "mixture" in few
    assert "paired-mixture" in many
    assert "mixture" not in many
    assert worth_trying(["mixture"], 10_000) == ("mixture",)
